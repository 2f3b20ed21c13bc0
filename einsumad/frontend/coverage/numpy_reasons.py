"""Why functions of ``numpy`` are not traced, or have nothing to trace.

Owns this data. Imports NumPy's names only as text. Invariant: each public function or ufunc of ``numpy`` either has a
handler or stands here; what is *refused* raises with its reason, what is *constant* has no derivative to lose.
"""

from __future__ import annotations

from collections.abc import Mapping

from einsumad.frontend.coverage.verdicts import Verdict, each

_BITS = "it works on the bits of integers, which have no derivative: apply it to plain integers"
_INTEGERS = "it is a function of integers, which have no derivative: apply it to plain integers"
_NEIGHBOUR = (
    "it is a matter of how numbers are stored, no function of real numbers: apply it to x.numpy(), the plain value"
)
_DATES = "dates are not differentiated: apply it to plain arrays"
_FILE = "what is written carries no derivative: write the plain value, x.numpy()"
_MEMORY = "a traced value has no memory of its own: ask it of plain arrays"
_ARRAY = "NumPy makes a plain array of its argument: einsumad.numpy.array makes a traced one"
_COPY = "NumPy makes a plain array of its argument: a traced value is used as it is"
_MATRIX = "matrices of NumPy's old matrix class are not traced: use two-dimensional arrays"
_TEXT = "text carries no derivative: format the plain value, x.numpy(), or use an f-string"
_WINDOW = "its entries are constants: only the number of them is an argument"
_SHAPE = "its entries are constants: only sizes and places are arguments"
_READS = "it reads plain arrays: what they are multiplied with may be traced"
_TYPES = "it is about dtypes, shapes or Python objects"
_SETTINGS = "it is about the settings of NumPy and its installation"


REASONS: Mapping[str, Verdict] = {
    **each("bitwise_count bitwise_left_shift bitwise_right_shift left_shift right_shift", "refused", _BITS),
    **each("packbits unpackbits", "refused", _BITS),
    **each("gcd lcm", "refused", _INTEGERS),
    **each("nextafter spacing", "refused", _NEIGHBOUR),
    **each("isnat busday_count busday_offset is_busday datetime_as_string datetime_data", "refused", _DATES),
    **each("save savetxt savez savez_compressed", "refused", _FILE),
    **each("may_share_memory shares_memory from_dlpack", "refused", _MEMORY),
    **each("array asarray asanyarray fromiter", "refused", _ARRAY),
    **each("asarray_chkfinite ascontiguousarray asfortranarray require", "refused", _COPY),
    **each("asmatrix bmat", "refused", _MATRIX),
    **each("base_repr binary_repr format_float_positional format_float_scientific", "refused", _TEXT),
    "frexp": Verdict(
        "refused", "its exponent is a whole number that depends on the value: scale by np.ldexp with a known exponent"
    ),
    "intersect1d": Verdict(
        "refused",
        "an entry belongs to it only for as long as it equals one of the other array, so it has no derivative: "
        "use np.isin and a boolean index",
    ),
    "histogram2d": Verdict("refused", "counts have no derivative: use np.digitize and np.bincount with weights"),
    "histogramdd": Verdict("refused", "counts have no derivative: use np.digitize and np.bincount with weights"),
    "roots": Verdict("refused", "the roots of a polynomial can be complex, and complex numbers are not traced"),
    "sort_complex": Verdict("refused", "its result is complex: use np.sort"),
    "full": Verdict("refused", "a traced value cannot be written into a plain array: use einsumad.numpy.full"),
    "arange": Verdict("refused", "NumPy makes a plain array of numbers: use einsumad.numpy.arange, or np.linspace"),
    "frompyfunc": Verdict("refused", "its ufuncs call Python for each entry: call the function on traced arrays"),
    "kaiser": Verdict("refused", "NumPy makes a plain array of its arguments: use einsumad.numpy.kaiser"),
    **each("bartlett blackman hamming hanning", "constant", _WINDOW),
    **each("eye identity tri indices diag_indices mask_indices", "constant", _SHAPE),
    **each("tril_indices triu_indices broadcast_shapes", "constant", _SHAPE),
    **each("frombuffer fromfile fromregex fromstring genfromtxt load loadtxt nested_iters", "constant", _READS),
    **each("isdtype isfortran isscalar issubdtype iterable mintypecode promote_types typename", "constant", _TYPES),
    **each("get_include get_printoptions getbufsize geterr geterrcall info printoptions", "constant", _SETTINGS),
    **each("set_printoptions setbufsize seterr seterrcall show_config show_runtime test", "constant", _SETTINGS),
}
"""For each name without a handler: whether it is constant or refused, and the reason."""

COMPOSED: Mapping[str, str] = {
    "fromfunction": "the function that it calls is traced",
    "row_stack": "it calls numpy.vstack",
}
"""Names that have no handler and need none, as they only call others, and which."""

CONSTANT: Mapping[str, str] = {
    name: reason
    for reason, names in {
        "places in an array have no derivative": "argmax argmin argpartition argsort argwhere digitize flatnonzero "
        "lexsort nanargmax nanargmin nonzero ravel_multi_index searchsorted unravel_index ix_",
        "a truth value has no derivative": "all allclose any array_equal array_equiv can_cast equal greater "
        "greater_equal isclose iscomplex iscomplexobj isfinite isin isinf isnan isneginf isposinf isreal isrealobj "
        "less less_equal logical_and logical_not logical_or logical_xor not_equal signbit",
        "it is constant but for jumps, so its derivative is 0": "angle around ceil count_nonzero fix floor "
        "floor_divide rint round sign trunc",
        "truth values have no derivative": "bitwise_and bitwise_invert bitwise_not bitwise_or bitwise_xor invert",
        "text has no derivative": "array2string array_repr array_str",
        "it depends on shapes and dtypes only": "common_type diag_indices_from einsum_path min_scalar_type ndim "
        "ones_like result_type shape size tril_indices_from triu_indices_from zeros_like",
        "real numbers have no imaginary part": "imag",
        _SHAPE: "empty ones zeros",
    }.items()
    for name in names.split()
}
"""Names that have a handler and whose results have no derivative, or one of zero, and the reason."""
