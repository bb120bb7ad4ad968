"""What the page promises, what parity costs, who changes: the figures of the functions behind."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.tree import DecisionTreeClassifier

from costboost import CostBoostClassifier, Costs, MetaCostClassifier, make_report
from costboost.costs import as_costs, uncertain
from costboost.decisions import Parity, parity_frontier
from costboost.guarantee import cost_bound, rounded_up
from costboost.metrics import compare_decisions
from costboost.report.questions import Questions, questions_html, questions_links
from report_cases import FRAUD, constant, fraud_model, fraud_rows, text_of

X, Y = fraud_rows(900)
MODEL = fraud_model()
PRICES = as_costs(FRAUD, [0, 1], len(Y), X)
RULE = (np.asarray(X["amount"]) > 150).astype(int)


def part(report, key):
    return report.html.split(f'<section id="{key}-section"')[1].split("</section>")[0]


def test_pages_have_only_the_parts_that_were_asked_for():
    assert questions_html(Questions(), None, None) == questions_links(Questions()) == ""
    html = constant().html
    for key in ("promise", "parity", "swap"):
        assert f"{key}-section" not in html
    report = make_report(MODEL, X, Y, costs=FRAUD, promise=0.95, cap=3000)
    assert "promise-section" in report.html
    assert "parity-section" not in report.html
    assert len(report.html) < 2e6


def test_the_promise_is_that_of_the_guarantee():
    report = make_report(
        MODEL, X, Y, costs=FRAUD, currency="EUR", promise=0.8, cap=3000, groups=["merchant"]
    )
    decided = MODEL.predict(X, costs=PRICES)
    shown = part(report, "promise")
    for confidence in (0.8, 0.9, 0.95, 0.99):
        bound = cost_bound(Y, decided, costs=PRICES, cap=3000, confidence=confidence)
        assert f"<td>EUR {rounded_up(bound.upper):.2f}</td>" in shown
    assert cost_bound(Y, decided, costs=PRICES, cap=3000, confidence=0.8).sentence("EUR") in shown
    assert f"it was EUR {bound.mean:,.2f}" in shown
    assert "a row can cost EUR 0.00 to EUR 3,000.00" in shown


@pytest.mark.parametrize("of", ["rate", "blocked", "missed"])
def test_the_frontier_is_that_of_the_function(of):
    given = Parity("channel", of=of, within=0.013)
    report = make_report(MODEL, X, Y, costs=FRAUD, currency="EUR", parity=given)
    proba = MODEL.predict_proba(X)
    found = parity_frontier(
        PRICES.expected(proba),
        None,
        Parity(X["channel"], of=of),
        actions=[0, 1],
        cheapest=PRICES.decide(proba, encoded=True),
        proba=proba,
        classes=[0, 1],
        positive=1,
        within=[0.013],
    )
    shown = part(report, "parity")
    at = found.within.tolist().index(0.013)
    assert "At most 1.3 points apart" in shown
    assert f"expected to cost EUR {found.cost[-1] - found.cost[0]:,.2f} more" in shown
    for g, group in enumerate(found.groups.tolist()):
        more = found.group_costs[at, g] - found.group_costs[0, g]
        sign = "-" if more <= -0.005 else ""
        assert f">{group}</th><td>{found.sizes[g]}</td>" in shown
        assert f"<td>{sign}EUR {abs(more):,.2f}</td>" in shown
    assert found.cost == pytest.approx(found.group_costs.sum(axis=1))
    with pytest.raises(ValueError, match="give differences of shares"):
        parity_frontier([[0, 1]] * 4, None, Parity([1, 1, 2, 2], action=0), within=[-1])


def test_groups_that_are_treated_alike_and_names_that_are_markup():
    groups = np.array(["<b>", "a"] * 450)
    never = {"fp": 1e6, "fn": 1e-6}
    report = make_report(MODEL, X, Y, costs=never, parity=Parity(groups), swap={"<i>": RULE})
    assert "the same already" in part(report, "parity")
    assert "<i>" not in report.html
    some = make_report(MODEL, X, Y, costs=FRAUD, parity=Parity(np.repeat(["<b>", "a"], [30, 870])))
    assert "Fewer than 50 rows" in part(some, "parity")
    assert "&lt;b&gt;" in part(some, "parity")
    assert "<b>" not in part(some, "parity")


@pytest.mark.parametrize("weighted", [False, True])
def test_swaps_are_those_of_the_function(weighted):
    w = np.random.RandomState(0).choice([1.0, 2.5], len(Y)) if weighted else None
    old = CostBoostClassifier("adamec", n_estimators=2, random_state=0).fit(*fraud_rows(400, 3))
    others = {"a model": old, "a rule": RULE, "prices": Costs(fp=30, tp=30, fn="amount")}
    given = {"costs": FRAUD, "sample_weight": w}
    report = make_report(
        MODEL, X, Y, **given, currency="EUR", names={1: "stop", 0: "go"}, groups=["channel"],
        rows=True, swap=others,
    )  # fmt: skip
    shown = part(report, "swap")
    for name, other in others.items():
        by = {"old_costs": other} if name == "prices" else {}
        old_one = MODEL if name == "prices" else other
        found = compare_decisions(old_one, MODEL, X, Y, groups=X["channel"], **given, **by)
        assert f"Against {name}" in shown
        words = {0: "go", 1: "stop"}
        for line in [*found.exchanges, found.total]:
            for sums in (line.expected, line.realised):
                sign = "-" if sums.total < 0 else ""
                assert f"<td>{sign}EUR {abs(sums.total):,.2f}</td>" in shown
        for line in found.exchanges:
            text = f"{words[line.old]} to {words[line.new]}</th><td>{line.n_rows}</td>"
            assert text in shown
        for line in found.by_group:
            assert f">{line.group}</th><td>{line.n_rows} of {line.n_of}</td>" in shown
        for row in found.largest:
            assert f"Row {row}: from" in shown
    plain = make_report(MODEL, X, Y, **given, swap={"a rule": RULE})
    assert "largest" not in part(plain, "swap")  # rows stay where they are


def test_nothing_changes_against_itself():
    report = make_report(MODEL, X, Y, costs=FRAUD, swap={"itself": MODEL})
    assert "0 of 900 rows" in text_of(report)
    assert "<table" not in part(report, "swap")


def test_columns_of_decisions_in_polars_and_text_labels():
    names = np.where(Y == 1, "bad", "good")
    frame = pl.from_pandas(X).with_columns(pl.Series("today", np.where(RULE == 1, "bad", "good")))
    costs = Costs(fp=8, fn="amount", positive="bad")
    model = CostBoostClassifier("adamec", n_estimators=5, random_state=0)
    model.fit(frame.drop("today"), names)
    own, today = frame.drop("today"), frame["today"]
    parity = Parity(frame["channel"], of="missed")
    report = make_report(
        model, own, names, costs=costs, parity=parity, swap={"today": today}, promise=0.9, cap=5000
    )
    found = compare_decisions(today, model, own, names, costs=costs)
    assert f"{found.total.n_rows} of 900" in text_of(report)
    assert "bad to good" in part(report, "swap")


WRONG = {
    "cap alone": ({"cap": 3}, "for promise=: give that, too"),
    "no cap": ({"promise": 0.9}, "Name the most that a row can cost, cap="),
    "confidence": ({"promise": 2, "cap": 9e3}, "confidence=2: give a probability"),
    "low cap": ({"promise": 0.9, "cap": 1}, "above cap=1"),
    "weights": ({"promise": 0.9, "cap": 9e3, "sample_weight": np.ones(900)}, "leave sample_weight"),
    "weighted groups": (
        {"parity": Parity("channel"), "sample_weight": np.ones(900)},
        "parity= is about rows that count alike",
    ),
    "no parity": ({"parity": "channel"}, "give costboost.decisions.Parity, such as"),
    "no column": ({"parity": Parity("chanel")}, "groups='chanel' is no column of the rows"),
    "lone": ({"parity": Parity("amount")}, "Groups of one row have no rate"),
    "no names": ({"swap": MODEL}, "swap= has what to compare with by name"),
    "nothing": ({"swap": {}}, "swap= has what to compare with by name"),
    "prices": ({"swap": {"fp": 1, "fn": 2}}, "swap= has what to compare with by name"),
    "decisions": ({"swap": {"a": RULE[:9]}}, r"swap='a' has shape \(9,\)"),
    "other actions": ({"swap": {"a": np.full(900, "x")}}, "x"),
    "column": ({"swap": {"a": "todey"}}, "swap='a'='todey' is no column of X"),
}


@pytest.mark.parametrize("case", WRONG)
def test_refused(case):
    given, message = WRONG[case]
    with pytest.raises(ValueError, match=message):
        make_report(MODEL, X, Y, costs=FRAUD, **given)


def test_refused_of_uncertain_prices_and_of_fixed_decisions():
    open_prices = Costs(fp=8, fn=uncertain(50, low=0.5, high=2))
    with pytest.raises(ValueError, match="a promise would be one at their means only"):
        make_report(MODEL, X, Y, costs=open_prices, promise=0.9)
    numbers = pd.DataFrame({"amount": X["amount"], "hour": X["hour"]})
    fixed = MetaCostClassifier(DecisionTreeClassifier(max_depth=2), random_state=0).fit(
        numbers, Y, costs={"fp": 1, "fn": 9}
    )
    with pytest.raises(ValueError, match="parity= changes decisions by expected costs alone"):
        make_report(fixed, numbers, Y, parity=Parity(X["channel"]))
    with pytest.raises(ValueError, match="holds prices, which change no decision"):
        make_report(fixed, numbers, Y, swap={"now": Costs(fp=1, fn=2)})
    report = make_report(fixed, numbers, Y, swap={"a rule": RULE}, promise=0.9)
    found = compare_decisions(RULE, fixed.predict(numbers), numbers, Y, costs={"fp": 1, "fn": 9})
    assert f"{found.total.n_rows} of 900 rows" in text_of(report)
