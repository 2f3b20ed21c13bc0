"""Why a derivative is wrong, and how little it takes to show it.

Owns the names that the checks use. Imports the parts of this folder.
"""

from einsumad.testing.diagnosis.causes import HYPOTHESES, Cause, Evidence, likely_causes
from einsumad.testing.diagnosis.minimal import smaller_arguments
from einsumad.testing.diagnosis.snippet import as_code

__all__ = ["HYPOTHESES", "Cause", "Evidence", "as_code", "likely_causes", "smaller_arguments"]
