"""Prices in C are those of Python, bit for bit, and fail where Python raises."""

import numpy as np
import pytest

import costboost as cb
from compiled_c import COMPILER, Compiled
from costboost.costs import expression
from costboost.datasets import make_card_fraud
from costboost.deploy import to_c
from deploy_prices import (
    Priced,
    drawn_prices,
    in_python,
    odd_prices,
    plain_prices,
    trained,
    with_prices,
)

pytestmark = [
    pytest.mark.skipif(COMPILER is None, reason="there is no C compiler"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def agree(model, X, scorer):
    """Check costs, expected costs and decisions of the rows that Python can price."""
    costs = scorer.costs(X)
    rows = scorer.rows(X)
    assert scorer.expected(rows, costs).tobytes() == np.asarray(model.expected_cost(X)).tobytes()
    actions = model.costs_.actions
    assert np.array_equal(actions[scorer.decisions(rows, costs)], model.predict(X))


def test_random_expressions_agree_bit_for_bit(tmp_path):
    model, rng, seen = trained(), np.random.default_rng(0), 0
    for i in range(10):
        with_prices(model, drawn_prices(rng))
        scorer = Priced(model, tmp_path, f"model_{i}")
        table = odd_prices(60, rng)
        expected = in_python(model.costs_, table)
        assert scorer.costs(table).tobytes() == expected.tobytes()
        seen += int(np.isfinite(expected[:, 0, 0]).sum())
    assert seen > 50


def test_the_model_of_the_readme(tmp_path):
    payments = make_card_fraud(6000)
    X, y, X_new = payments.X[:3000], payments.y[:3000], payments.X[3000:].copy()
    costs = cb.Costs(fp=8, tp=8, fn="amount")
    model = cb.CostBoostClassifier("adamec", 20, costs=costs, random_state=0).fit(X, y)
    X_new["amount"] *= 10.0 ** np.random.default_rng(0).uniform(-8, 8, len(X_new))
    scorer = Priced(model, tmp_path)
    agree(model, X_new, scorer)
    assert len(np.unique(model.predict(X_new))) == 2
    X_new.loc[X_new.index[::100], "amount"] = np.nan
    doc = scorer.costs(X_new)
    assert np.array_equal(np.isnan(doc[:, 0, 0]), X_new["amount"].isna())
    decided = scorer.decisions(scorer.rows(X_new), doc)
    assert np.array_equal(decided == -1, X_new["amount"].isna())


@pytest.mark.parametrize("positive", ["bad", "good"])
def test_the_positive_class_may_be_either(positive, tmp_path):
    costs = cb.Costs(fp=expression("abs(a) + 1"), fn=7, tp=0.5, positive=positive)
    X = plain_prices(300, 1)
    model = with_prices(trained(), costs * 1.1 + 0.3)
    agree(model, X, Priced(model, tmp_path))


def test_three_classes_more_actions_and_rows_priced_alike(tmp_path):
    rng = np.random.default_rng(0)
    X = plain_prices(400, 0)[["a", "t"]]
    y = np.digitize(X["a"] + rng.normal(size=400), [-1, 1])
    X["a"] = np.abs(X["a"])
    model = cb.CostBoostClassifier("adamec", 3, cv=2, random_state=0).fit(X, y)
    matrix = cb.Costs.from_matrix([[0, 1, 2], [3, 0, 4], [5, 6, 0]], classes=[0, 1, 2])
    for i, costs in enumerate(
        (
            matrix.with_defer(expression("min(a, 1)")),
            cb.Costs.of_rows("a"),
            cb.Costs.of_rows("a").bind([0, 1, 2]).with_defer("a", action="wait"),
        )
    ):
        agree(with_prices(model, costs), X, Priced(model, tmp_path, f"model_{i}"))


def test_functions_are_for_the_caller_to_compute(tmp_path):
    model = with_prices(trained(), cb.Costs(fp=lambda X: X["a"], fn="a", positive="bad"))
    text = to_c(model)
    assert "_prices" not in text
    assert "the function <lambda>" in text
    X = plain_prices(50, 2)
    scorer = Compiled(model, tmp_path)
    rows = scorer.rows(X)
    assert set(scorer.decisions(rows)) == {-1}  # there are no prices of fit
    prices = np.tile([0.0, 1.0, 5.0, 0.0], (len(rows), 1))
    known = model.predict(X, costs=cb.Costs(fp=5, fn=1, positive="bad"))
    assert np.array_equal(model.classes_[scorer.decisions(rows, prices)], known)


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_costs_that_are_no_numbers_decide_nothing(odd, tmp_path):
    X = plain_prices(5, 2)
    scorer = Compiled(trained(), tmp_path)
    prices = np.tile([0.0, 1.0, 5.0, 0.0], (len(X), 1))
    assert -1 not in scorer.decisions(scorer.rows(X), prices)
    for cell in range(4):
        prices[:] = [0.0, 1.0, 5.0, 0.0]
        prices[:, cell] = odd
        assert set(scorer.decisions(scorer.rows(X), prices)) == {-1}


def test_expressions_that_read_nothing_are_numbers(tmp_path):
    costs = cb.Costs(fp=expression("3 * 2"), fn=expression("1 / 3"), positive="bad") * 2.0
    model = with_prices(trained(), costs)
    X = plain_prices(50, 2)
    scorer = Compiled(model, tmp_path)
    assert "_prices" not in to_c(model)
    assert np.array_equal(model.classes_[scorer.decisions(scorer.rows(X))], model.predict(X))


def test_the_head_says_which_price_is_which():
    model = with_prices(trained(), cb.Costs(fp=8, fn=expression("a * 2 "), positive="bad") * 3.0)
    head = to_c(model, name="loan").split("#include")[0]
    assert '0 "bad", 1 "good"' in head
    assert "costs[2 * true class + action]" in head
    assert "costs[1]: \"the expression 'a * 2' * 3\"" in head  # calling bad good: fn
    assert "costs[2]: 24" in head
    assert "loan_read_prices" in head
