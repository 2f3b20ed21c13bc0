"""``python -m einsumad``: the command line.

Owns nothing. Imports the command line.
"""

import sys

from einsumad.cli import main

if __name__ == "__main__":
    sys.exit(main())
