"""Arrays of prices whose classes nobody named: the alphabet does not name them."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from costboost import CostBoostClassifier, Costs, MinimumCostClassifier
from costboost.metrics import bootstrap_interval, cost_confusion_matrix, make_cost_scorer, mean_cost
from costboost.plots import CapacityDisplay

SEVERITY = ["low", "mid", "severe", "at once", "beyond"]


def matrix(k):
    """Return prices in the order of `SEVERITY`, no two of them the same."""
    C = np.arange(1.0, k * k + 1).reshape(k, k)
    np.fill_diagonal(C, 0.0)
    return C


def table(labels, n=60):
    rng = np.random.default_rng(0)
    y = np.resize(np.array(labels), n)
    return rng.normal(size=(n, 2)) + np.unique(y, return_inverse=True)[1][:, None], y


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("form", ["array", "list", "frame without labels", "from_matrix", "by row"])
def test_text_labels_are_not_read_by_the_alphabet(k, form):
    X, y = table(SEVERITY[:k])
    C = matrix(k)
    given = {
        "array": C,
        "list": C.tolist(),
        "frame without labels": pd.DataFrame(C),
        "from_matrix": Costs.from_matrix(C),
        "by row": Costs.from_matrix(np.repeat(C[None], len(y), axis=0)),
    }[form]
    model = CostBoostClassifier("csb1", 3, calibration=None)
    plain = GaussianNB().fit(X, y)
    asked = [
        lambda: model.fit(X, y, costs=given),
        lambda: MinimumCostClassifier(model, costs=given).fit(X, y),
        lambda: mean_cost(y, y, costs=given),
        lambda: make_cost_scorer(given)(plain, X, y),
        lambda: bootstrap_interval(mean_cost, y, y, costs=given, n_resamples=3),
        lambda: CapacityDisplay.from_estimator(plain, X, y, action="low", costs=given),
        lambda: Costs.check(given).bind(np.unique(y)),
    ]
    for ask in asked if form != "by row" else asked[2:3] + asked[-1:]:
        with pytest.raises(ValueError, match="the alphabet would be a guess") as refused:
            ask()
        told = str(refused.value)
        for order in (sorted(SEVERITY[:k]), sorted(SEVERITY[:k])[::-1]):  # both, with the numbers
            assert f"classes={order}: " in told
            last = f"calling a {order[-1]!r} row {order[0]!r} costs, is "
            assert f"C[{k - 1}, 0], what {last}" in told
        if form != "by row":
            assert told.count(f"costs, is {C[0, k - 1]:g}") == 2
        assert "Costs.from_matrix(C, classes=[...])" in told


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_ways_to_say_it_agree(k):
    X, y = table(SEVERITY[:k])
    C, names = matrix(k), SEVERITY[:k]
    decided = np.roll(y, 1)
    by_hand = np.mean([C[names.index(t), names.index(d)] for t, d in zip(y, decided, strict=True)])
    shuffled = pd.DataFrame(C, names, names).sample(frac=1, random_state=1)
    for costs in (Costs.from_matrix(C, classes=names), pd.DataFrame(C, names, names), shuffled):
        assert mean_cost(y, decided, costs=costs) == pytest.approx(by_hand)
        CostBoostClassifier("csb1", 2, calibration=None).fit(X, y, costs=costs)
    assert mean_cost(y, decided, costs=C, labels=names) == pytest.approx(by_hand)
    found = bootstrap_interval(mean_cost, y, decided, costs=C, labels=names, n_resamples=3)
    assert found.estimate == pytest.approx(by_hand)


@pytest.mark.parametrize("labels", [[0, 1, 2], [1, 2, 3], [-1, 0, 1], [0.0, 1.0, 2.0], [10, 2, 30]])
def test_numbers_have_an_order(labels):
    C = matrix(3)
    y = np.resize(np.array(labels), 30)
    bound = Costs.from_matrix(C).bind(np.unique(y))
    assert bound == Costs.from_matrix(C, classes=sorted(labels))
    CostBoostClassifier("csb1", 2, calibration=None).fit(np.zeros((30, 1)) + y[:, None], y, costs=C)


def test_what_means_the_same_in_any_order_is_no_guess():
    same = np.full((3, 3), 7.0)
    np.fill_diagonal(same, 1.0)
    bound = Costs.from_matrix(same).bind(["a", "b", "c"])
    for order in itertools.permutations(["a", "b", "c"]):
        assert Costs.from_matrix(same, classes=list(order)).bind(["a", "b", "c"]) == bound
    nearly = same.copy()
    nearly[2, 0] = 7.5
    with pytest.raises(ValueError, match="guess"):
        Costs.from_matrix(nearly).bind(["a", "b", "c"])
    nearly = same.copy()
    nearly[1, 1] = 0.5
    with pytest.raises(ValueError, match="guess"):
        Costs.from_matrix(nearly).bind(["a", "b", "c"])


def test_the_price_of_each_answer_and_actions_need_names_too():
    c = np.arange(1.0, 13).reshape(4, 3)
    with pytest.raises(ValueError, match=r"Costs.of_rows\(c, classes="):
        Costs.of_rows(c).bind(["a", "b", "c"])
    assert Costs.of_rows(c).bind([0, 1, 2]).of_labels([0, 1, 2, 0]).tolist() == c.tolist()
    per_row = np.arange(1.0, 25).reshape(4, 2, 3)
    deeds = Costs.from_matrix(per_row, actions=["go", "stop", "ask"])
    with pytest.raises(ValueError, match=r"classes=\[...\], actions=\[...\]\)") as refused:
        deeds.bind(["bad", "good"])
    assert "what calling a 'good' row 'go' costs" in str(refused.value)


def test_cost_confusion_matrices_with_labels():
    names = SEVERITY[:3]
    C = Costs.from_matrix(matrix(3), classes=names)
    y, decided = np.array(["low", "severe", "mid", "low"]), np.array(["mid", "low", "mid", "mid"])
    frame = cost_confusion_matrix(y, decided, costs=C, as_frame=True)
    assert frame.loc["low", "mid"] == 2 * C.to_frame().loc["low", "mid"]
    assert frame.loc["severe", "low"] == C.to_frame().loc["severe", "low"]
    assert frame.to_numpy().sum() == mean_cost(y, decided, costs=C) * 4
    again = cost_confusion_matrix(y, decided, costs=C, labels=sorted(names), as_frame=True)
    pd.testing.assert_frame_equal(again.loc[names, names], frame)


@pytest.mark.parametrize("names", [("bad", "good"), ("worse", "fine")])
def test_an_array_of_costs_has_one_order(names):
    bad, good = names
    table = pd.DataFrame({"amount": [10.0, 20.0, 30.0]})
    costs = Costs(fp=1, fn="amount", positive=bad).bind_table(table)
    with pytest.raises(ValueError, match=r"np.asarray\(costs.bind\(model.classes_\)\)"):
        np.asarray(costs)
    classes = sorted(names)
    array = np.asarray(costs.bind(classes))
    assert array[:, classes.index(bad), classes.index(good)].tolist() == [10.0, 20.0, 30.0]
    assert array[:, classes.index(good), classes.index(bad)].tolist() == [1.0, 1.0, 1.0]
