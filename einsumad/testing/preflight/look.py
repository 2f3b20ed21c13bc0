"""The preflight itself.

Owns the public function. Imports its parts. Invariant: the function gets copies of the arrays only, so the
caller's keep their bits; the arrays that the function keeps and the global random state are put back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from einsumad.testing.preflight.arguments import about_arguments, about_memory
from einsumad.testing.preflight.call import Call
from einsumad.testing.preflight.calls import about_calls, about_kept
from einsumad.testing.preflight.keeping import unchanged
from einsumad.testing.preflight.state import kept
from einsumad.testing.preflight.trouble import Trouble


def preflight(
    f: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    argnums: Sequence[int] = (0,),
    names: Sequence[str] = (),
) -> tuple[Trouble, ...]:
    """Look at a function and its arguments before any derivative is tested.

    The arguments at the positions `argnums` are those to be differentiated; `names` are those of the positional
    arguments. The function is called four to six times with copies; an exception that it raises comes through, except
    where its arguments were moved. Fatal is what leaves no derivative to be tested: "nondeterministic" and "stateful"
    functions, "integers" to be differentiated, values or differentiated arguments that are "not finite", "no number" as
    a value, and "mutation" of an argument that matters. The rest are notes: "overlapping memory", "empty",
    "low precision", "subnormal", "global random state", "complex output", "integer output".

    >>> import numpy as np
    >>> def f(x):
    ...     x *= 2
    ...     return np.sum(x)
    >>> [(trouble.kind, trouble.fatal) for trouble in preflight(f, (np.ones(2),))]
    [('mutation', True)]
    """
    known = [*names, *[f"x{k}" for k in range(len(names), len(args))]][: len(args)]
    call = Call(f, tuple(args), dict(kwargs or {}), tuple([k % len(args) for k in argnums]), tuple(known))
    leaves = call.leaves()
    troubles = [*about_arguments(leaves), *about_memory(leaves)]
    with kept(), unchanged(f) as arrays:
        troubles += [*about_calls(call), *about_kept(call, arrays)]
    return tuple(troubles)
