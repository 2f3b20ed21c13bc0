"""Records join in any order and survive the way to another process; each is taken once."""

from __future__ import annotations

from itertools import permutations

import pytest

from einsumad.testing.plugin.records import VERDICTS, Record, from_text, joined, note, taken, to_text

RIGHT = Record("loss", "model", "gradient", "right", 1, ("as given",), ("complex step",), 0, 3, 1)
WRONG = Record("loss", "model", "gradient", "wrong", 0, ("as given",), ("differences",), 2, 4, 0, 5, "off")
OTHER = Record("loss", "model", "hessian", "undecided", entries=7)


def test_joined_records_add_up_and_the_weightier_verdict_wins():
    for records in permutations([RIGHT, WRONG, OTHER]):
        found = {record.check: record for record in joined(records)}
        assert found["hessian"] == OTHER
        gradient = found["gradient"]
        assert (gradient.verdict, gradient.reason, gradient.order) == ("wrong", "off", 1)
        assert (gradient.entries, gradient.undecided, gradient.runs, gradient.laws) == (7, 1, 6, 2)
        assert set(gradient.against) == {"complex step", "differences"}
        assert gradient.modes == ("as given",)


@pytest.mark.parametrize("weightier", range(len(VERDICTS) - 1))
def test_every_verdict_outweighs_those_behind_it(weightier):
    first = Record("f", "m", "c", VERDICTS[weightier])
    for lighter in VERDICTS[weightier:]:
        second = Record("f", "m", "c", lighter)
        assert first.joined(second).verdict == second.joined(first).verdict == VERDICTS[weightier]


def test_text_gives_the_records_back():
    records = [RIGHT, WRONG, OTHER, Record("über", "m", "order 1", "skipped", reason='"quoted"\nand long')]
    assert from_text(to_text(records)) == records
    assert from_text(to_text([])) == []


@pytest.fixture
def nothing_noted():
    before = taken()
    yield
    taken()
    for record in before:
        note(record)


@pytest.mark.usefixtures("nothing_noted")
def test_what_is_noted_is_joined_and_taken_once():
    for record in (RIGHT, OTHER, WRONG):
        note(record)
    assert taken() == joined([RIGHT, OTHER, WRONG])
    assert taken() == []
    note(OTHER)
    assert taken() == [OTHER]
