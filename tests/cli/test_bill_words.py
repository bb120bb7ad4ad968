"""Bills and findings in words: the right sentence, and numbers that can be computed by hand."""

import types
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from costboost.cli.bill import (
    MODEL,
    Answers,
    Bill,
    Line,
    classes_text,
    column_facts,
    findings,
    show_bill,
    show_findings,
    verdict,
)
from costboost.cli.columns import Choice, Feature
from costboost.cli.output import Screen
from costboost.cli.recipe import TableRows
from costboost.costs import Costs
from costboost.metrics.policies import NOTHING, PERFECT

EUR = "EUR"


def test_the_rarest_class_comes_first():
    y = np.repeat(["no", "yes", "perhaps"], [990, 1009, 1])
    assert classes_text(y) == "perhaps: 1 (0.05 %), no: 990 (50 %), yes: 1,009 (50 %)"
    assert classes_text(np.array([True, False, False])) == "true: 1 (33 %), false: 2 (67 %)"


def test_columns_are_listed_by_what_they_are_taken_for():
    frame = pl.DataFrame({"a": [1, 2, 2], "c": ["x", None, "x"], "t": [1, 2, 3], "": [0, 0, 0]})
    features = (Feature("a", "number"), Feature("c", "category"), Feature("t", "date"))
    choice = Choice(features, {"y": "the target", "": "constant"})
    assert column_facts(choice, frame) == [
        ("numbers", "a, t"),
        ("categories", "c (1)"),  # what is missing is none
        ("left out", "y: the target"),
        ("", "(no name): constant"),
    ]
    assert column_facts(Choice((), {}), frame) == []


# --- the bill


def bill_of(saved, low, high, cost=1000.0, against=NOTHING):
    return Bill(
        (
            Line(against, cost, cost - 50, cost + 50, 0.0, 0.0, 0.0, 0.0, 0),
            Line(MODEL, cost - saved, cost - high, cost - low, saved, low, high, 0.4, 12),
            Line(PERFECT, 0.0, 0.0, 0.0, cost, cost, cost, 1.0, None),
        ),
        200,
        against,
        (against,),
    )


@pytest.mark.parametrize(
    ("bill", "says"),
    [
        (
            bill_of(400.0, 150.0, 600.0),
            "The model saves EUR 400 (95 % interval 150 to 600), EUR 2 a row, against doing "
            "nothing, the cheapest constant policy.",
        ),
        (
            bill_of(-400.0, -600.0, -1.0),
            "The model costs EUR 400 more than doing nothing, the cheapest constant policy "
            "(saved: 95 % interval -600 to -1). Do not use it as it is.",
        ),
        (
            bill_of(400.0, 0.0, 600.0, against="always review"),
            "The model does not save significantly against always deciding review, the cheapest "
            "constant policy: EUR 400, 95 % interval 0 to 600.",
        ),
    ],
)
def test_the_verdict_says_no_more_than_the_interval_allows(bill, says):
    assert verdict(bill, EUR) == says


@pytest.mark.parametrize(
    ("ends", "says"),
    [
        ((90.0, 20.0, 150.0), "it saves EUR 90 (95 % interval 20 to 150)."),
        ((-90.0, -150.0, -20.0), "it costs EUR 90 more (saved: 95 % interval -150 to -20). "),
        ((10.0, -5.0, 30.0), "there is no significant difference: EUR 10, 95 % interval -5 to 30."),
    ],
)
def test_todays_decisions_stand_beside_the_cheapest_answer(ends, says):
    names = ("saved_today", "saved_today_low", "saved_today_high")
    made = bill_of(400.0, 150.0, 600.0)
    by_today = dict(zip(names, ends, strict=True))
    lines = tuple(replace(line, **by_today) for line in made.lines)
    first, second = verdict(replace(made, lines=lines), EUR).split(" Against today's decisions ")
    assert first.endswith("against doing nothing, the cheapest constant policy.")
    assert second.startswith(says)


def printed(capsys, monkeypatch, show, *parts):
    monkeypatch.setenv("COLUMNS", "200")
    show(Screen(False), *parts)
    return [line.split("  ") for line in capsys.readouterr().out.splitlines() if line]


def test_a_bill_as_a_table(capsys, monkeypatch):
    lines = printed(capsys, monkeypatch, show_bill, bill_of(400.0, 150.0, 600.0), EUR)
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert cells[:4] == [
        ["cost, EUR", "95 % interval", "saved", "acted on"],
        ["do nothing", "1,000", "950 to 1,050", "0"],
        ["the model", "600", "400 to 850", "40 %", "12"],
        ["knowing the truth", "0", "exact", "100 %"],
    ]
    assert len(cells) == 5  # the verdict


# --- what else is found


P = np.array([0.9, 0.2, 0.5, 0.0])


def asked(size=1.0):
    """Return a model's answers about four rows, at prices that are `size` times as high."""
    fn = np.array([10.0, 20.0, 30.0, 40.0])
    frame = pl.DataFrame({"a": fn, "b": fn})
    costs = (Costs(fp=8, tp=1, fn=fn) * size).bind([0, 1])
    truth = np.array([1, 0, 0, 1])
    rows = TableRows(frame=frame, X=frame, costs=costs, positive=1, y=truth)
    proba = np.column_stack([1 - P, P])
    answers = Answers(costs.decide(proba), proba, costs.expected(proba))
    return rows, answers


def found_of(rows, answers, **more):
    model = types.SimpleNamespace(classes_=np.array([0, 1]), n_iter_=7, **more)
    return findings(model, rows, answers, bill_of(400.0, 150.0, 600.0))


def test_findings_are_what_the_probabilities_say():
    rows, answers = asked()
    found = found_of(rows, answers, feature_importances_=np.array([0.25, 0.75]))
    assert found["rounds"] == 7
    assert found["positives"]["expected"] == pytest.approx(1.6)
    assert found["positives"]["happened"] == 2
    z = (2 - 1.6) / np.sqrt(0.9 * 0.1 + 0.2 * 0.8 + 0.25)
    assert found["positives"]["z"] == pytest.approx(z)
    assert found["brier"] == pytest.approx(np.mean([0.1**2, 0.2**2, 0.5**2, 1]))
    assert list(found["importances"].items()) == [("b", 0.75), ("a", 0.25)]
    assert answers.decided.tolist() == [1, 0, 1, 0]
    if_one, if_zero = np.array([1, 20, 1, 40]), np.array([8, 0, 8, 0])
    expected = np.sum(P * if_one + (1 - P) * if_zero)
    assert found["cost"]["expected"] == pytest.approx(expected)
    variance = np.sum(P * (1 - P) * (if_one - if_zero) ** 2)
    assert found["cost"]["deviation"] == pytest.approx(np.sqrt(variance))
    assert found["cost"]["paid"] == 600.0


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e298])
def test_the_deviation_of_the_cost_follows_the_unit_of_money(size):
    plain, scaled = found_of(*asked())["cost"], found_of(*asked(size))["cost"]
    assert scaled["deviation"] == pytest.approx(size * plain["deviation"], rel=1e-12, abs=0)
    assert scaled["expected"] == pytest.approx(size * plain["expected"], rel=1e-12, abs=0)


def test_sure_answers_have_no_deviation():
    rows, answers = asked()
    sure = np.array([[0.0, 1], [1, 0], [1, 0], [0, 1]])
    found = found_of(rows, answers._replace(proba=sure))
    assert found["cost"]["deviation"] == 0
    assert found["positives"]["z"] == 0


def test_a_price_that_is_the_same_whatever_is_true_has_no_deviation():
    rows, answers = asked()
    same = TableRows(**{**vars(rows), "costs": Costs(fp=0.1, tp=0.1, fn=0.3, tn=0.3).bind([0, 1])})
    assert found_of(same, answers)["cost"]["deviation"] == 0


def test_without_a_positive_class_or_prices_less_is_found():
    rows, answers = asked()
    nobody = TableRows(**{**vars(rows), "positive": None})
    assert set(found_of(nobody, answers._replace(expected=None))) == {"rounds"}


def test_findings_in_words(capsys, monkeypatch):
    matters = {f"c{i}": 0.1 for i in range(10)} | {"never": 0.0}
    found = {
        "rounds": 1234,
        "positives": {"expected": 10.26, "happened": 12, "z": 0.5},
        "cost": {"expected": 1500.0, "deviation": 20.0, "paid": 1600.0},
        "importances": matters,
    }
    lines = printed(capsys, monkeypatch, show_findings, found, EUR, True)
    assert [[cell.strip() for cell in line if cell] for line in lines] == [
        ["rounds", "1,234"],
        [
            "calibration",
            "true: 10.3 expected, 12 came; cost: EUR 1,500 +- 20 expected, EUR 1,600 paid",
        ],
        ["what matters", ", ".join(f"c{i} 10 %" for i in range(8)) + ", 2 others"],
    ]
