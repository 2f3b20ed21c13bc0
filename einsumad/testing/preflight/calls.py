"""What calls of the function show: mutation, random numbers, kept state, and the value.

Owns these findings. Imports the calls and the random state. Invariant: every call gets fresh copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from einsumad.frontend.trees import flatten, leaf_names
from einsumad.testing.bits import same_bits, shares_memory
from einsumad.testing.point import subscript
from einsumad.testing.preflight.arguments import first_bad
from einsumad.testing.preflight.call import Call, is_number
from einsumad.testing.preflight.keeping import Kept
from einsumad.testing.preflight.state import LIBRARIES, equal_states, random_state, restore
from einsumad.testing.preflight.trouble import Trouble

Array = np.ndarray[Any, Any]

_ROUNDING = 1024.0


def about_calls(call: Call) -> Iterator[Trouble]:
    """What calls of the function show."""
    before = random_state()
    first = call.copied()
    value = first.run()
    drawn = [
        library
        for library, one, other in zip(LIBRARIES, before, random_state(), strict=True)
        if not equal_states(one, other)
    ]
    if drawn:
        yield Trouble(
            "global random state",
            f"{call.name} draws from the global random state of {' and '.join(drawn)}: pass a generator instead",
            fatal=False,
        )
    output, trouble = _as_number(value, call.name)
    if output is not None:
        output, views = output.copy(), _views(output, first)
        yield from _about_mutation(call, first, output)
        yield from views
        yield from _about_output(output, call)
        yield from _about_repetition(call, output, before)
    elif trouble is not None:
        yield from _about_mutation(call, first, None)
        yield trouble


def _as_number(value: Any, name: str) -> tuple[Array | None, Trouble | None]:
    """The value as an array, or why it is none."""
    if value is None:
        return None, Trouble("no number", f"{name} returned None: return the value, an array or a number", fatal=True)
    what = type(value).__name__
    if isinstance(value, (list, tuple)):
        return None, Trouble(
            "no number",
            f"{name} returned a {what} of {len(value)} items: return one array, such as np.stack(...), "
            f"or test one item, as in lambda *args: f(*args)[0]",
            fatal=True,
        )
    try:
        array = np.asarray(value)
    except Exception as error:  # noqa: BLE001 - whatever an object of another library does, it is no number
        return None, Trouble("no number", f"{name} returned {what}, which is no array ({error})", fatal=True)
    if array.dtype.kind not in "fciub":
        return None, Trouble("no number", f"{name} returned {what}: return one array or number", fatal=True)
    return array, None


def _views(output: Array, call: Call) -> list[Trouble]:
    return [
        Trouble(
            "overlapping memory",
            f"the value of {call.name} shares memory with argument {leaf.name!r}: "
            "writing to one changes the other; return a copy",
            fatal=False,
        )
        for leaf in call.leaves()
        if isinstance(leaf.value, np.ndarray) and shares_memory(output, leaf.value)
    ]


def _about_mutation(call: Call, called: Call, output: Array | None) -> Iterator[Trouble]:
    """Arguments that are not what they were before the call."""
    changed = _changed(call, called)
    if not changed:
        return
    scratch = False
    if output is not None and not any(differentiated for _, differentiated in changed):
        again, _ = _as_number(called.copied().run(), call.name)
        scratch = again is not None and same_bits(again, output)
    names = " and ".join([repr(name) for name, _ in changed])
    advice = (
        "its value does not depend on what is written there, so it can be tested"
        if scratch
        else "work on a copy inside, or every later use of the argument sees another value"
    )
    yield Trouble("mutation", f"{call.name} changes its argument {names} in place: {advice}", fatal=not scratch)


def _changed(call: Call, called: Call) -> list[tuple[str, bool]]:
    """The names of changed arguments, and whether they are differentiated; a changed container counts as a whole."""
    changed = []
    pairs = [*zip(call.names, call.args, called.args, strict=True)]
    pairs += [(name, value, called.kwargs.get(name)) for name, value in call.kwargs.items()]
    for k, (name, before, after) in enumerate(pairs):
        differentiated = k in call.argnums
        (old, spec), (new, spec_now) = flatten(before), flatten(after)
        if spec != spec_now:
            changed.append((name, differentiated))
            continue
        labels = leaf_names(before, name)
        changed += [(label, differentiated) for label, a, b in zip(labels, old, new, strict=True) if not _equal(a, b)]
    return changed


def _equal(one: Any, other: Any) -> bool:
    if is_number(one) and is_number(other):
        return same_bits(np.asarray(one), np.asarray(other))
    return one is other


def _about_output(output: Array, call: Call) -> Iterator[Trouble]:
    """Shape, dtype and values of what the function returns."""
    arrays = [leaf.array for leaf in call.leaves() if leaf.differentiated]
    floats = [array.dtype for array in arrays if array.dtype.kind in "fc"]
    if output.size == 0:
        yield Trouble(
            "empty", f"{call.name} returned the shape {output.shape}, no entry: only shapes are tested", False
        )
    if not np.all(np.isfinite(output)):
        yield Trouble(
            "not finite", f"the value of {call.name} is {first_bad(output)}: choose another point", fatal=True
        )
    if output.dtype.kind in "iub":
        yield Trouble(
            "integer output",
            f"{call.name} returned dtype {output.dtype}: its derivative is zero wherever there is one",
            fatal=False,
        )
        return
    if output.dtype.kind == "c" and not any(dtype.kind == "c" for dtype in floats):
        yield Trouble("complex output", f"{call.name} returned complex numbers for real arguments", fatal=False)
    unit = float(np.finfo(output.dtype).eps)
    if unit > min([float(np.finfo(dtype).eps) for dtype in floats], default=unit):
        yield Trouble(
            "low precision",
            f"{call.name} returned dtype {output.dtype}, less precise than its arguments: "
            f"{np.finfo(output.dtype).precision} digits are left to be tested",
            fatal=False,
        )


def _about_repetition(call: Call, output: Array, before: tuple[Any, Any]) -> Iterator[Trouble]:
    """Whether equal arguments give equal values: at once, and after a call with other arguments."""
    again, _ = _as_number(call.copied().run(), call.name)
    if again is None or not same_bits(again, output):
        restore(before)
        replayed, _ = _as_number(call.copied().run(), call.name)
        reason = "it draws from the global random state" if _same(replayed, output) else "random numbers, or kept state"
        yield _differing("nondeterministic", call.name, output, again, f"two calls with equal arguments ({reason})")
        return
    with suppress(Exception):  # outside of its domain a function may raise what it likes
        call.moved().run()
    later, _ = _as_number(call.copied().run(), call.name)
    if not _same(later, output):
        yield _differing("stateful", call.name, output, later, "calls before and after one with other arguments")


def about_kept(call: Call, arrays: Sequence[Kept]) -> Iterator[Trouble]:
    """Arrays that the function keeps and writes to, such as running means; they are put back."""
    names = [each.name for each in arrays if each.changed]
    if names:
        yield Trouble(
            "stateful",
            f"{call.name} writes to {' and '.join(map(repr, names))}, which it keeps between calls: "
            "every call of a test does so too, and they are put back afterwards",
            fatal=False,
        )


def _same(one: Array | None, other: Array) -> bool:
    return one is not None and same_bits(one, other)


def _differing(kind: str, name: str, output: Array, other: Array | None, when: str) -> Trouble:
    """Two values of one call; what differs by rounding alone is no obstacle."""
    if other is None or other.shape != output.shape or other.dtype != output.dtype:
        found = "no number" if other is None else f"{other.dtype}{other.shape}"
        returned = f"{output.dtype}{output.shape}"
        return Trouble(kind, f"{name} returned {returned} and then {found} in {when}", fatal=True)
    with np.errstate(all="ignore"):
        apart = np.abs(output.astype(np.result_type(output, np.float64)) - other)
        apart = np.where(np.isfinite(output) & np.isfinite(other), apart, np.inf)
        apart = np.where((output == other) | (np.isnan(output) & np.isnan(other)), 0.0, apart)
    worst = int(np.argmax(apart))
    unit = float(np.finfo(output.dtype).eps) if output.dtype.kind in "fc" else 0.0
    size = float(np.max(np.abs(output), initial=0.0, where=np.isfinite(output)))
    fatal = bool(apart.reshape(-1)[worst] > _ROUNDING * unit * size)
    place = subscript(output.shape, worst)
    values = f"{output.reshape(-1)[worst]:.17g} and {other.reshape(-1)[worst]:.17g}{f' at {place}' if place else ''}"
    advice = "fix all random numbers and state before it is differentiated" if fatal else "a difference of rounding"
    return Trouble(kind, f"{name} returned {values} in {when}: {advice}", fatal=fatal)
