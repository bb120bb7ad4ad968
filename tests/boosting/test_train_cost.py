"""`train_cost_` is what the own decisions of a model cost on its training rows."""

import warnings

import numpy as np
import pytest

from costboost import (
    CostBoostClassifier,
    Costs,
    GradientBoostClassifier,
    PNormBoostClassifier,
)
from costboost.boosting.train_cost import make_pricing
from costboost.metrics import total_cost
from costboost.model import mix
from costboost.shards.grid import to_floats
from told_costs import costs_of

# Prices at random: some of them are dearer for right answers than for wrong ones.
pytestmark = pytest.mark.filterwarnings("ignore:In these costs the right answer")
N = 200
MODELS = {
    "adaboost": CostBoostClassifier("adaboost", 6, max_depth=2, random_state=0),
    "adamec": CostBoostClassifier("adamec", 6, max_depth=2, calibration=None, random_state=0),
    "cgada": CostBoostClassifier("cgada", 6, calibration=None, random_state=0),
    "csb2": CostBoostClassifier("csb2", 6, max_depth=2, random_state=0),
    "log": GradientBoostClassifier(n_estimators=6, random_state=0),
    "exponential": GradientBoostClassifier("exponential", n_estimators=6, random_state=0),
    "expected-cost": GradientBoostClassifier("expected-cost", n_estimators=6, random_state=0),
    "lp-csb": PNormBoostClassifier(n_estimators=6, random_state=0),
    "lp-csb-a": PNormBoostClassifier(method="lp-csb-a", n_estimators=6, random_state=0),
}
PRICED = ("adamec", "log", "exponential")  # decide by the costs they are given
MIXED = ("lp-csb", "lp-csb-a")


def rows(n_classes):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(N, 4)), 1)
    noisy = X[:, 0] + X[:, 1] + rng.normal(size=N)
    return X, np.digitize(noisy, [0.0] if n_classes == 2 else [-0.7, 0.7])


def matrix_of(seed, n_classes, per_row):
    """Return C[true, predicted]: small whole numbers, decades, heavy tails, or right ones free."""
    rng = np.random.default_rng(seed)
    shape = (N, n_classes, n_classes) if per_row else (n_classes, n_classes)
    right = np.eye(n_classes, dtype=bool)
    return [
        lambda: rng.integers(0, 4, shape).astype(float),
        lambda: 10.0 ** rng.uniform(-6, 6, shape),
        lambda: rng.lognormal(0, 2, shape),
        lambda: np.where(right, 0.0, 10.0 ** rng.uniform(-4, 4, shape)),
    ][seed % 4]()


def mixed_decisions(model, X):
    """Decide as training does, by H mixed round by round.

    Where H ties, which is common of two classes, the rounding of the last stage, the unrolled sum
    that `predict` decides by, may tell otherwise.
    """
    (mixture,) = model._model.members
    H, codes = mixture.first, mixture.trees.encode(X)
    for t, alpha in enumerate(mixture.steps):
        said = mixture._answers_of_round(t, X, codes, 1)
        H = mix(H, said, alpha, adaptive=mixture.adaptive)
        yield model.classes_[np.argmax(H, axis=1)]


def assert_cost_is_own(name, X, y, costs, weights=None):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*(could not take|took no step|cost no less)")
        model = MODELS[name].fit(X, y, sample_weight=weights, costs=costs)
    if name in MIXED:
        stages = mixed_decisions(model, X)
    else:
        stages = model.staged_predict(X, costs=costs) if name in PRICED else model.staged_predict(X)
    own = [total_cost(y, decided, costs=costs, sample_weight=weights) for decided in stages]
    largest = np.abs(np.asarray(costs.bind(np.unique(y)))).max()
    np.testing.assert_allclose(
        model.train_cost_, own[: len(model.train_cost_)], rtol=1e-9, atol=1e-9 * largest
    )


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("n_classes", "positive"), [(2, 0), (2, 1), (3, None)])
@pytest.mark.parametrize("per_row", [False, True])
def test_train_cost_is_what_the_models_own_decisions_cost(name, n_classes, positive, per_row):
    X, y = rows(n_classes)
    for seed in range(8):
        weights = None if seed % 3 else np.random.default_rng(seed).integers(1, 5, N).astype(float)
        costs = costs_of(matrix_of(seed, n_classes, per_row), positive)
        assert_cost_is_own(name, X, y, costs, weights)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "prices",
    [
        {"fp": 8, "tp": 8, "fn": np.linspace(1, 100, N)},  # dearer to act than some are worth
        {"fp": 1, "fn": 5, "tn": 3},  # the threshold is below 0
        {"fp": 5, "fn": 1, "tp": 3},  # and above 1
        {"fp": 1, "fn": 2, "tp": 4, "tn": 3},  # both wrong answers are cheaper
        {"fp": 2, "fn": 3, "tp": 3, "tn": 2},  # nothing depends on the answer
        {"fp": 0, "fn": 1},
        {"fp": 1, "fn": 0},
        {"fp": 1, "fn": 1},
        {"fp": 1, "fn": 2, "tp": -4, "benefits": True},
    ],
)
@pytest.mark.parametrize("positive", [0, 1])
def test_train_cost_where_a_threshold_is_outside_or_equal(name, prices, positive):
    X, y = rows(2)
    assert_cost_is_own(name, X, y, Costs(**prices, positive=positive))


def test_bills_count_and_price_decisions_row_by_row():
    C = np.random.default_rng(1).uniform(0, 3, (N, 3))
    truth, weights = np.arange(N) % 3, np.random.default_rng(2).integers(1, 4, N).astype(float)
    pricing = make_pricing(Costs.of_rows(C).bind([0, 1, 2], N), truth, slice(0, N))
    price, rng = np.zeros((1, 2), dtype=np.int64), np.random.default_rng(3)
    first = weights @ C[:, 0]
    for _ in range(3):
        decided, confusion = rng.integers(0, 3, N), np.zeros((3, 3), dtype=np.int64)
        for rows in (slice(0, 70), slice(70, N)):
            pricing.add_change(rows, decided[rows], weights, 2.0**40, price)
            pricing.add_count(rows, decided[rows], weights, 2.0**10, confusion)
        own = weights @ C[np.arange(N), decided]
        np.testing.assert_allclose(to_floats(price, 2.0**40)[0], own - first, rtol=1e-12)
        counted = [
            [weights[(truth == k) & (decided == a)].sum() for a in range(3)] for k in range(3)
        ]
        np.testing.assert_array_equal(confusion / 2.0**10, counted)
    kept = price.copy()
    pricing.add_change(slice(0, N), decided, weights, 2.0**40, price)  # nothing changed
    np.testing.assert_array_equal(price, kept)


def test_bills_number_as_many_classes_as_there_are():
    truth = np.arange(600) % 300
    for n_classes, kind in ((256, np.uint8), (300, np.uint32)):
        costs = Costs.from_matrix(1.0 - np.eye(n_classes)).bind(np.arange(n_classes))
        pricing = make_pricing(costs, truth[:n_classes], slice(None))
        assert pricing.truth.dtype == pricing.last_decisions().dtype == kind
        np.testing.assert_array_equal(pricing.truth, truth[:n_classes])
