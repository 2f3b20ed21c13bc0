"""Records against the data classes of the same options."""

import copy
import dataclasses
import gc
import inspect
import pickle
import weakref
from dataclasses import FrozenInstanceError, dataclass, field

import pytest

from einsumad.records import named, record, replace, values

OPTIONS = [
    {},
    {"eq": True},
    {"repr": True},
    {"eq": True, "repr": True},
    {"frozen": False},
    {"frozen": False, "eq": True, "repr": True},
    {"weakref_slot": True},
]


def both(options, body):
    """A record and a data class of one body, in this order."""
    stated = {"frozen": True, "eq": False, "repr": False, **options}
    return record(**options)(body()), dataclass(slots=True, **stated)(body())


def point():
    class Point:
        """A point."""

        x: int
        y: object = 2
        seen: list = field(default_factory=list, compare=False, repr=False)

        def norm(self):
            return self.x + self.y

    return Point


def outcome(call):
    """What a call returns, or the error it raises, as text."""
    try:
        return call()
    except (TypeError, AttributeError, FrozenInstanceError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("options", OPTIONS)
def test_as_the_data_class(options):
    ours, theirs = both(options, point)
    assert inspect.signature(ours).parameters.keys() == inspect.signature(theirs).parameters.keys()
    for name in ("__name__", "__qualname__", "__module__", "__doc__", "__slots__", "__match_args__"):
        assert getattr(ours, name) == getattr(theirs, name)
    for arguments, keywords in [((1,), {}), ((1, 3), {}), ((), {"y": 4, "x": 3}), ((1, 2, [5]), {})]:
        first, second = ours(*arguments, **keywords), theirs(*arguments, **keywords)
        assert values(first) == (second.x, second.y, second.seen)
        assert first.norm() == second.norm()
        assert (first == ours(*arguments, **keywords)) is (second == theirs(*arguments, **keywords))
        assert first == copy.copy(first) or not options.get("eq")
        assert values(copy.deepcopy(first)) == values(first)
        assert first != second
        if options.get("repr"):
            assert repr(first) == repr(second)
        if options.get("eq"):
            assert outcome(lambda: hash(first)) == outcome(lambda: hash(second))  # noqa: B023
        else:
            assert hash(first) == object.__hash__(first)
        for change in (lambda it: setattr(it, "x", 5), lambda it: delattr(it, "x"), lambda it: it.x):
            assert outcome(lambda: change(first)) == outcome(lambda: change(second))  # noqa: B023
        assert not hasattr(first, "__dict__")
        assert hasattr(first, "__weakref__") is hasattr(second, "__weakref__")


@pytest.mark.parametrize(("arguments", "named"), [((), {}), ((1, 2, 3, 4), {}), ((1,), {"x": 2}), ((1,), {"z": 2})])
def test_wrong_arguments_are_told_as_by_the_data_class(arguments, named):
    ours, theirs = both({}, point)
    told = outcome(lambda: ours(*arguments, **named))
    assert told == outcome(lambda: theirs(*arguments, **named))
    assert told[0] is TypeError


@pytest.mark.parametrize("frozen", [True, False])
def test_unhashable_where_it_can_change(frozen):
    ours, theirs = both({"eq": True, "frozen": frozen}, point)
    assert (ours.__hash__ is None) is (theirs.__hash__ is None) is not frozen


def test_each_default_is_made_anew():
    made = record(point())
    first, second = made(1), made(1)
    assert first.seen is not second.seen
    assert first.seen == second.seen == []


def test_what_is_not_compared_and_what_is_not_shown():
    made = record(eq=True, repr=True)(point())
    assert made(1, 2, [3]) == made(1, 2, [4])
    assert hash(made(1, 2, [3])) == hash((1, 2))
    assert repr(made(1, 2, [3])).endswith("Point(x=1, y=2)")


def single():
    class Single:
        """One field."""

        x: int

    return Single


def none():
    class Nothing:
        """No field."""

    return Nothing


@pytest.mark.parametrize(("body", "arguments"), [(single, (4,)), (none, ())])
def test_few_fields(body, arguments):
    ours, theirs = both({"eq": True, "repr": True}, body)
    assert hash(ours(*arguments)) == hash(theirs(*arguments))
    assert repr(ours(*arguments)) == repr(theirs(*arguments))
    assert ours(*arguments) == ours(*arguments)


def test_what_the_class_says_itself_holds():
    @record(eq=True, repr=True)
    class Own:
        x: int

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 7

        def __repr__(self):
            return "own"

    assert Own(1) == Own(2)
    assert (hash(Own(1)), repr(Own(1))) == (7, "own")


@record(weakref_slot=True)
class Base:
    x: int
    y: int


@record(repr=True)
class Derived(Base):
    z: int = 3


def test_inherited_fields_come_first():
    made = Derived(1, 2)
    assert Derived.__match_args__ == ("x", "y", "z")
    assert Derived.__slots__ == ("z",)
    assert values(made) == (1, 2, 3)
    assert repr(made) == "Derived(x=1, y=2, z=3)"
    match made:
        case Base(x, y):
            assert (x, y) == (1, 2)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        made.x = 2
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'other'"):
        made.other = 2


def test_copies_and_pickles():
    made = Derived(1, [2], 3)
    for again in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):  # noqa: S301
        assert again is not made
        assert values(again) == values(made)


def test_the_kin_of_data_classes_take_it_for_one():
    made = Derived(1, [2])
    assert dataclasses.is_dataclass(Derived)
    assert [each.name for each in dataclasses.fields(made)] == ["x", "y", "z"]
    assert dataclasses.asdict(made) == named(made) == {"x": 1, "y": [2], "z": 3}
    assert dataclasses.astuple(made) == values(made)
    again = dataclasses.replace(made, x=5)
    assert type(again) is Derived
    assert values(again) == (5, [2], 3)
    seen = record()(point())
    assert dataclasses.asdict(seen(1, 2, [3])) == {"x": 1, "y": 2, "seen": [3]}


def test_replace():
    assert values(replace(Derived(1, 2), y=5)) == (1, 5, 3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'w'"):
        replace(Derived(1, 2), w=5)


def test_a_record_in_itself_is_shown():
    @record(frozen=False, repr=True)
    class Chain:
        next: object = None

    chain = Chain()
    chain.next = chain
    assert repr(chain).endswith("Chain(next=...)")


def test_weak_references():
    made = Derived(1, 2)
    kept = weakref.ref(made)
    assert kept() is made
    del made
    gc.collect()
    assert kept() is None


def test_defaults_come_last():
    class Wrong:
        x: int = 1
        y: int

    with pytest.raises(TypeError, match="Wrong: a field without a default follows one that has a default"):
        record(Wrong)
