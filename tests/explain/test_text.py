"""Explanations as text."""

import numpy as np
import pandas as pd
import pytest

from costboost.explain.changes import Change
from costboost.explain.decision import Explanation, Part
from costboost.explain.text import change_sentences, number, plain, turning_sentences
from costboost.explain.turning import Interval, TurningPrice
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
        "  euros            1 before anything is known, 3.5 here",
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
    # An action that is no class is told with the chance of the last class.
    changes = (
        Change("a", "at most 1", 1.0, "no", (0.75, 0.25), 0.1),
        Change("b", "x", None, "ask", (0.5, 0.5), 1.0),
    )
    seen = seen_as(decision="yes", probabilities={"no": 0.2, "yes": 0.8}, changes=changes)
    assert change_sentences(seen) == [
        "a at most 1 (now 2): no, P(no) = 0.75",
        "b x (now missing): ask, P(yes) = 0.5",
    ]
