"""Explanations as text."""

import numpy as np
import pandas as pd
import pytest

from costboost.explain.changes import Change
from costboost.explain.decision import (
    Explanation,
    Part,
    change_sentences,
    plain,
    turning_sentences,
)
from costboost.explain.turning import Interval, TurningPrice
from costboost.text import number
from explained_decisions import fitted


def test_missing_values_are_called_missing():
    model, X, _ = fitted()
    at = int(np.flatnonzero(X["<b>shop</b>"].isna())[0])
    assert "<b>shop</b> = missing" in str(model.explain(X.iloc[[at]]))


def seen_as(**changed):
    """An explanation of a regressor, but for what is changed."""
    whole = {
        "model": "Model",
        "decision": None,
        "probabilities": {},
        "expected_cost": {},
        "stays_within": None,
        "turning_prices": (),
        "output": None,
        "unit": "euros",
        "base": 1.0,
        "total": 3.5,
        "parts": (Part("a", 2.0, 2.5), Part("b", None, 0.0)),
        "changes": (),
    }
    return Explanation(**whole | changed)


def test_a_prediction_by_hand():
    assert str(seen_as()).splitlines() == [
        "Model predicts 3.5",
        "  euros            baseline 1, 3.5 here",
        "                   a = 2   +2.5000 ++++++++++++++++++++",
    ]


def test_columns_beyond_the_largest_are_one_line_that_adds_up():
    parts = tuple(Part(f"column {j}", j, (-1.0) ** j / (j + 1)) for j in range(20))
    lines = str(seen_as(parts=parts)).splitlines()
    assert len(lines) == 2 + 8 + 1
    rest = sum(part.added for part in parts[8:])
    assert lines[-1].split()[:4] == ["12", "other", "columns", f"{rest:+.4f}"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.5, "-0.5"),
        (1.0, "1"),
        (999.96, "1,000"),
        (0.99996, "1"),
        (99.994, "99.99"),
        (0.0001, "0.0001"),
        (0.000099994, "9.999e-05"),
        (9e14, "900,000,000,000,000"),
        (1e15, "1e+15"),
        (-12345.6, "-12,346"),
        (1e-300, "1e-300"),
        (1.5e300, "1.5e+300"),
        (0.00001234567, "1.235e-05"),
        (float("inf"), "inf"),
    ],
)
def test_numbers_have_about_four_digits(value, text):
    assert number(value) == text


def test_values_are_said_as_people_do():
    said = [plain(value) for value in (float("nan"), None, pd.NA, pd.NaT, 2.0, 1 / 3, "nan", 7)]
    assert said == ["missing"] * 4 + ["2", "0.333333", "nan", "7"]


def test_a_decision_that_nothing_turns_says_so():
    nothing = Interval("yes", 0.0, 1.0)
    one = {"decision": "no", "probabilities": {"no": 1.0, "yes": 0.0}, "stays_within": nothing}
    text = str(seen_as(**one))
    assert text.startswith("Model decides: no")
    assert "at no probability: these prices allow no other decision" in text
    assert "no change of a single column would turn it" in text


def test_turning_points_by_hand():
    within = Interval("yes", 0.1, 0.9, "no", "ask")
    prices = (TurningPrice("no", "yes", 100.0, 45.0, "no"),)
    assert turning_sentences(seen_as(stays_within=within, turning_prices=prices)) == [
        "if P(yes) were below 0.1: no",
        "if P(yes) were above 0.9: ask",
        "if deciding no where yes is true cost 45 (now 100): no",
    ]


def test_changes_name_the_chance_of_what_is_then_decided():
    # An action that is no class is told with the chance of the class that is explained.
    changes = (
        Change("a", "at most 1", 1.0, "no", (0.75, 0.25), 0.1),
        Change("b", "x", None, "ask", (0.5, 0.5), 1.0),
    )
    for output in ("no", "yes"):
        seen = seen_as(
            decision="yes",
            probabilities={"no": 0.2, "yes": 0.8},
            output=output,
            changes=changes,
        )
        assert change_sentences(seen) == [
            "a at most 1 (now 2): no, P(no) = 0.75",
            f"b x (now missing): ask, P({output}) = 0.5",
        ]


def test_bars_are_in_proportion_and_none_is_empty():
    added = (8.0, -4.0, 2.0, 0.01, 0.0)
    parts = tuple(Part(f"c{j}", j, x) for j, x in enumerate(added))
    bars = [line.split()[-1] for line in str(seen_as(parts=parts)).splitlines()[2:]]
    assert bars == ["+" * 20, "-" * 10, "+" * 5, "+"]


@pytest.mark.parametrize("n", [8, 9])
def test_eight_columns_are_shown_and_the_others_are_one_line(n):
    parts = (*(Part(f"c{j}", j, 10.0 - j) for j in range(n)), Part("none", 0, 0.0))
    lines = str(seen_as(parts=parts)).splitlines()[2:]
    assert len(lines) == n
    assert [line.split()[0] for line in lines[:8]] == [f"c{j}" for j in range(8)]
    assert [" ".join(line.split()[:4]) for line in lines[8:]] == ["1 other columns +2.0000"][
        : n - 8
    ]


@pytest.mark.parametrize("letters", [40, 41])  # and " = 1": 44 letters are shown, 45 are cut
def test_long_names_are_cut_and_amounts_stand_below_each_other(letters):
    parts = (Part("n" * letters, 1, 1.0), Part("b", 2, -0.5))
    first, second = (line[19:] for line in str(seen_as(parts=parts)).splitlines()[2:])
    shown = "n" * 40 + " = 1" if letters == 40 else "n" * 41 + "..."
    assert first == f"{shown}   +1.0000 {'+' * 20}"
    assert second == f"{'b = 2':<44}   -0.5000 {'-' * 10}"


def test_four_prices_and_four_changes_are_told():
    prices = tuple(TurningPrice("no", "yes", 100.0, 40.0 + j, "no") for j in range(6))
    changes = tuple(Change("a", f"at most {j}", 1.0, "no", (0.75, 0.25), j) for j in range(6))
    chances = {"no": 0.2, "yes": 0.8}
    seen = seen_as(decision="yes", probabilities=chances, turning_prices=prices, changes=changes)
    assert [line.split()[8] for line in turning_sentences(seen)] == ["40", "41", "42", "43"]
    assert [line.split()[3] for line in change_sentences(seen)] == ["0", "1", "2", "3"]


def test_prices_of_the_row_s_own_stay_and_it_is_said():
    line = "prices given for this row stay as they are"
    seen = {"decision": "yes", "probabilities": {"no": 0.2, "yes": 0.8}}
    assert change_sentences(seen_as(**seen, prices_stay=True))[-1] == line
    assert line not in change_sentences(seen_as(**seen))
    assert change_sentences(seen_as(**seen | {"changes": None}, prices_stay=True)) == []


def test_titles_stand_once_and_blocks_in_their_order():
    seen = seen_as(
        decision="yes",
        probabilities={"no": 0.25, "yes": 0.75},
        expected_cost={"no": 3.0, "yes": 1.5},
        stays_within=Interval("yes", 0.5, 0.9, "no", "ask"),
        output="yes",
    )
    assert str(seen).splitlines() == [
        "Model decides: yes",
        "  probability      no: 0.25   yes: 0.75",
        "  expected cost    no: 3   yes: 1.5",
        "  would turn       if P(yes) were below 0.5: no",
        "                   if P(yes) were above 0.9: ask",
        "  euros            of yes: baseline 1, 3.5 here",
        "                   a = 2   +2.5000 ++++++++++++++++++++",
        "  one change       no change of a single column would turn it",
    ]
