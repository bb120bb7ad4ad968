"""Whatever order costs name their classes in, everything that reads them answers the same."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from costboost import (
    CostBoostClassifier,
    CostingClassifier,
    Costs,
    MetaCostClassifier,
    MinimumCostClassifier,
    RateClassifier,
    plots,
)
from costboost import metrics as m
from costboost.decisions import allocate
from costboost.report import make_report
from costboost.report.rows import compute_figures


def problem(k):
    """Return rows, text labels and a matrix of prices in the order of the sorted labels."""
    rng = np.random.default_rng(k)
    n = 60 * k
    y = np.repeat(np.array(["ash", "birch", "cedar", "dogwood", "elm"][:k]), 60)
    X = rng.normal(size=(n, 3)) + np.repeat(rng.normal(size=(k, 3)), 60, axis=0)
    C = rng.uniform(2, 50, (k, k))
    np.fill_diagonal(C, rng.uniform(0, 1, k))
    return X, y, C


def costs_in(C, classes, order, **positive):
    """Return the same prices, the classes named in another order."""
    return Costs.from_matrix(C[order][:, order], classes=classes[order], **positive)


def measured(costs, X, y, k):
    """Return everything that may be asked about a model at these costs, as plain numbers."""
    plain = LogisticRegression().fit(X, y)
    models = [
        MinimumCostClassifier(plain, costs=costs, cv=3, random_state=0).fit(X, y),
        MetaCostClassifier(plain, costs=costs, n_estimators=3, random_state=0).fit(X, y),
        RateClassifier(plain, {y[0]: 0.2}, costs=costs, cv=3, random_state=0).fit(X, y),
        CostingClassifier(plain, costs=costs, n_estimators=3, random_state=0).fit(X, y),
        CostBoostClassifier("adac2", 5, max_depth=2, costs=costs).fit(X, y),
    ]
    model, proba = models[0], models[0].predict_proba(X)
    decided = model.predict(X)
    found = {f"predict {type(other).__name__}": other.predict(X) for other in models}
    array = model.expected_cost(X, costs=costs)
    frame = pd.DataFrame(array, columns=np.unique(y))
    found["expected"] = array
    found["probabilities by label"] = costs.decide(pd.DataFrame(proba, columns=np.unique(y)))
    found["score"] = model.score(X, y, costs=costs)
    names = ["total_cost", "mean_cost", "normalized_cost", "savings_score", "mean_regret"]
    for name in names:
        found[name] = getattr(m, name)(y, decided, costs=costs)
    matrix = m.cost_confusion_matrix(y, decided, costs=costs, labels=np.unique(y))
    found["cost_confusion_matrix"] = matrix
    found["coverage"] = np.array(m.coverage_curve(y, array, costs=costs)[:2])
    found["capacity"] = np.array(m.capacity_curve(y, array, action=y[-1], costs=costs))
    found["plan"] = model.decide(X, costs=costs, capacity={y[0]: 5}).decisions
    found["allocate"] = allocate(frame, {y[0]: 5}, actions=costs.actions).decisions
    drawn = plots.CoverageDisplay.from_estimator(plain, X, y, costs=costs)
    found["coverage drawn"] = drawn.decided
    found["capacity drawn"] = plots.CapacityDisplay.from_estimator(
        model, X, y, action=y[-1], costs=costs
    ).realised
    found["policies drawn"] = plots.PolicyDisplay.from_decisions(
        y, {"model": decided}, costs=costs
    ).costs
    scorer = m.make_cost_scorer(costs, decide="proba")
    found["scorer"] = scorer(plain, X, y)
    folds = StratifiedKFold(3)
    validated = m.cross_validate_cost(plain, X, y, costs=costs, cv=folds, return_predictions=True)
    for name in ("test_cost", "test_savings", "decisions", "probabilities"):
        found[name] = validated[name]
    found["resampled"] = m.bootstrap_interval(
        m.mean_cost, y, decided, costs=costs, random_state=0, n_resamples=20
    ).high
    page = make_report(model, X, y, costs=costs).page_rows
    found["report"] = np.array(compute_figures(page).bill)
    if k == 2:
        score = proba[:, np.unique(y).tolist().index(costs.positive)]
        for name in ("cost_by_threshold", "gain_curve", "savings_curve"):
            found[name] = np.array(getattr(m, name)(y, score, costs=costs))
        for name in ("ThresholdCostDisplay", "SavingsCurveDisplay", "CostCurveDisplay"):
            drawn = getattr(plots, name).from_estimator(model, X, y, costs=costs)
            lines = drawn.ax_.get_lines()
            found[name] = np.concatenate([np.ravel(line.get_ydata()) for line in lines])
    plt.close("all")
    return found


@pytest.mark.parametrize("k", [2, 3, 5])
def test_answers_do_not_depend_on_the_order_of_classes(k):
    X, y, C = problem(k)
    classes = np.unique(y)
    for last in classes[[0, -1]] if k == 2 else [None]:
        sign = {"positive": last} if k == 2 else {}
        at = np.arange(k)
        wanted = measured(costs_in(C, classes, at, **sign), X, y, k)
        for order in [at[::-1], np.roll(at, 1)][: 1 if k == 2 else 2]:
            got = measured(costs_in(C, classes, order, **sign), X, y, k)
            for name, value in wanted.items():
                if np.asarray(value).dtype.kind == "f":
                    np.testing.assert_allclose(got[name], value, rtol=1e-9, err_msg=name)
                else:
                    np.testing.assert_array_equal(got[name], value, err_msg=name)
