"""All specs: importing the modules that enter them."""

from __future__ import annotations

from tests.surface import (  # noqa: F401 - importing them enters their specs
    specs_calculus,
    specs_choosing,
    specs_contractions,
    specs_elementwise,
    specs_facts,
    specs_linear_algebra,
    specs_methods,
    specs_nan,
    specs_options,
    specs_reductions,
    specs_scipy_factorisations,
    specs_scipy_linalg,
    specs_special,
    specs_special_functions,
    specs_special_orders,
    specs_special_shapes,
    specs_statistics,
    specs_structure,
    specs_vectors,
)
from tests.surface.specs import SPECS, Spec, function_of

__all__ = ["SPECS", "Spec", "function_of"]
