"""The text of the section "derivatives checked"."""

from __future__ import annotations

from einsumad.testing.plugin.records import Record
from einsumad.testing.plugin.summary import summary

LOSS = Record("loss", "model", "gradient", "right", 1, ("as given",), ("complex step", "differences"), 0, 30, 2, 10)
SECOND = Record("loss", "model", "hessian", "right", 2, ("as given",), ("differences",), 1, 90, 0, 10)
SYSTEM = Record("solve", "model", "derivatives", "right", 3, ("auto", "reverse"), ("differences",), 27, 500, 0, 1)
LAWS = [Record("solve", "model", name, "right", 1, laws=1, entries=4) for name in ("symmetry", "purity")]
BAD = Record("norm", "model", "vjp", "wrong", 0, ("as given",), ("differences",), 0, 6, 0, 3)
FAILED = Record("norm", "model", "jvp", "error", reason="TypeError: no")
SKIPPED = Record("norm", "model", "float32", "skipped", reason="half of the digits are gone")


def texts(records, style="short"):
    return [line.text for line in summary(records, style)]


def test_nothing_checked_means_no_section():
    assert texts([]) == []
    assert texts([LOSS], "none") == []


def test_one_line_a_subject():
    assert texts([LOSS, SYSTEM, SECOND, BAD]) == [
        "subject  verdict  order  entries  undecided  runs  checks",
        "loss     right        2      120          2    20  gradient, hessian (complex step, differences; 1 law)",
        "solve    right        3      500          0     1  derivatives (auto, reverse; differences; 27 laws)",
        "norm     wrong        -        6          0     3  vjp (differences)",
        "3 subjects, 4 checks, 626 entries compared, 2 undecided: 1 wrong, 2 right",
    ]


def test_laws_that_are_checks_of_their_own_are_counted():
    order = Record("solve", "model", "order 1", "right", 1, ("auto",), ("differences",), 0, 5)
    assert texts([order, *LAWS])[1].endswith("order 1 (auto; differences; 2 laws)")
    assert texts(LAWS)[1].endswith("2 laws")


def test_skips_are_told_with_their_reasons_and_count_as_no_check():
    lines = texts([SKIPPED, BAD])
    assert "skipped: norm, float32: half of the digits are gone" in lines
    assert lines[-1] == "1 subject, 1 check, 6 entries compared, 0 undecided, 1 check skipped: 1 wrong"
    assert texts([SKIPPED])[1].split()[:2] == ["norm", "skipped"]


def test_the_long_form_has_a_line_a_check():
    lines = texts([LOSS, SECOND, FAILED, SKIPPED], "long")
    assert lines[2].startswith("    gradient: right, order 1; modes as given; against complex step, differences; ")
    assert lines[2].endswith("; 30 entries (2 undecided) in 10 runs")
    assert lines[3].startswith("    hessian: right, order 2; modes as given; against differences; 1 law; 90 entries")
    assert lines[5] == "    jvp: error; 0 entries in 1 run; TypeError: no"
    assert lines[6] == "    float32: skipped"


def test_totals_alone():
    assert texts([LOSS, SKIPPED], "totals") == [
        "skipped: norm, float32: half of the digits are gone",
        "2 subjects, 1 check, 30 entries compared, 2 undecided, 1 check skipped: 1 right, 1 skipped",
    ]


def test_equal_names_of_different_modules_are_told_apart():
    other = Record("loss", "other", "gradient", "wrong", 0, entries=1)
    lines = texts([LOSS, other])
    assert [line.split()[0] for line in lines[1:3]] == ["model.loss", "other.loss"]


def test_what_is_wrong_is_marked():
    lines = summary([LOSS, BAD, FAILED], "long")
    assert [line.bad for line in lines] == [False, False, False, True, True, True, True]
    assert not any(line.bad for line in summary([LOSS], "short"))
