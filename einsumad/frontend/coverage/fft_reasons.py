"""Why functions of ``numpy.fft`` are not traced.

Owns this data. Imports the record. Invariant: each public function of ``numpy.fft`` either has a handler or stands
here.
"""

from __future__ import annotations

from collections.abc import Mapping

from einsumad.frontend.coverage.verdicts import Verdict, each

_COMPLEX = (
    "complex numbers are not supported yet: write its parts with real matrices, as np.cos(w) @ x and -np.sin(w) @ x, "
    "where w = 2 * np.pi * np.outer(np.arange(n), np.arange(n)) / n"
)
_MOVES = "it only moves entries: use np.roll"

REASONS: Mapping[str, Verdict] = {
    **each("fft fft2 fftn ifft ifft2 ifftn", "refused", _COMPLEX),
    **each("rfft rfft2 rfftn irfft irfft2 irfftn hfft ihfft", "refused", _COMPLEX),
    **each("fftshift ifftshift", "refused", _MOVES),
}
"""For each name without a handler: that it is refused, and the reason."""

COMPOSED: Mapping[str, str] = dict.fromkeys(("fftfreq", "rfftfreq"), "it divides by the spacing, which may be traced")
"""Names that need no handler, as they are plain arithmetic."""
