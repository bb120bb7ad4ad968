"""The scikit-learn face of the L_p family, and the paper's data."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from costboost import CostBoostClassifier, Costs, datasets
from costboost.boosting.pnorm.learner import expand, outside_answers
from costboost.estimators.pnorm import PNormBoostClassifier
from naive import pnorm as naive
from pnorm_problems import NAMES, frequency_matrix, matrix, problem
from quick_pnorm import quick

DRAWN = "rounds at p = 1 draw rows at random, so weights count in expectation only"
COUNTED = "the least size of a leaf counts rows, not weights"


def failing(estimator):
    """Name the checks that must fail, and why."""
    if estimator.p != 1 and estimator.min_samples_leaf == 1:
        return {}
    reason = DRAWN if estimator.p == 1 else COUNTED
    return {
        "check_sample_weight_equivalence_on_dense_data": reason,
        "check_sample_weight_equivalence_on_sparse_data": reason,
    }


@parametrize_with_checks(
    [
        PNormBoostClassifier(n_estimators=5),
        quick(n_estimators=5),
        quick(n_estimators=4, method="lp-csb-a", step="search"),
        quick(n_estimators=4, method="gbse"),
        quick(n_estimators=4, method="adaboost.m2"),
        quick(n_estimators=4, calibration="sigmoid", cv=3),
        quick(n_estimators=3, estimator=DecisionTreeClassifier(max_depth=3)),
        quick(n_estimators=4, p=1),
    ],
    expected_failed_checks=failing,
)
@pytest.mark.filterwarnings("ignore")  # the checks' own tiny tables
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("K", [2, 3, 26])
def test_every_method_learns(name, K):
    rng = np.random.default_rng(K)
    y = np.repeat(np.arange(K), 12)
    X = np.column_stack([y // 5, y % 5]) + 0.1 * rng.normal(size=(12 * K, 2))
    model = quick(method=name, max_leaf_nodes=40, n_estimators=12).fit(X, y, costs=matrix(K, K))
    constant = matrix(K, K)[y].sum(axis=0).min() / len(y)
    # GBSE's leaves answer 1 for all that costs less than the mixture: slow with many classes.
    slow = K == 26 and name.startswith("gbse")
    assert -model.score(X, y) < (0.95 if slow else 0.1) * constant
    assert model.predict_proba(X).shape == (len(y), K)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.decision_function(X).shape == ((len(y),) if K == 2 else (len(y), K))


def test_m2_of_two_classes_is_adaboost():  # invariant 4; costs at first: CGAda
    X, y = problem(31, n=300, K=2, levels=50)
    costs = Costs(fp=1, fn=3)
    ours = quick(method="adaboost.m2", max_depth=1).fit(X, y, costs=costs)
    theirs = CostBoostClassifier(
        "cgada", 8, max_depth=1, criterion="error", calibration=None, random_state=0
    ).fit(X, y, costs=costs)
    assert_allclose(ours.estimator_weights_, 2 * theirs.estimator_weights_, rtol=1e-6)
    assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-6)
    assert_allclose(ours.decision_function(X), 2 * theirs.decision_function(X), rtol=1e-6)


@pytest.mark.filterwarnings("ignore:The decisions of the model cost no less")
@pytest.mark.parametrize("step", ["harmonic", "search"])
def test_rounds_at_p_four_follow_from_their_stages(step):
    """Weights span ten orders of magnitude there: the grid must not lose the light ones."""
    X, y = problem(38, n=400, K=5)
    y[y == 4], y[:2] = 3, 4  # two rows of the dearest class
    C = frequency_matrix(y, np.random.default_rng(38))[1][y]
    model = quick(p=4, step=step, n_estimators=25, min_samples_leaf=5)
    model.fit(X, y, costs=Costs.of_rows(C))
    H = np.full(C.shape, 1 / 5)
    for t, stage in enumerate(model.staged_decision_function(X)):
        alpha = model.estimator_weights_[t]
        h = (stage - (1 - alpha) * H) / alpha
        assert_allclose(h, np.rint(h), atol=1e-9)
        examples = naive.pseudo_loss_set(naive.weights(H, C, 4), y)
        total = sum(w for *_, w in examples)
        error = naive.weighted_error(examples, np.rint(h)) / total
        assert_allclose(model.estimator_errors_[t], error, atol=1e-5)
        assert_allclose(model.objective_[t], naive.objective(stage, C, 4), rtol=1e-6)
        H = stage


def test_expanded_table_names_the_class():
    X = np.array([[1.0], [2.0]])
    table = expand(sp.csr_matrix(X), np.array([1, 0]), np.array([2, 0]), 3)
    assert table.toarray().tolist() == [[2, 0, 0, 1], [1, 1, 0, 0]]

    class Echo:
        def predict(self, table):
            return table[:, 2]  # 1 for class 1

    assert outside_answers(Echo(), X, 3, "pairs").tolist() == [[0, 1, 0], [0, 1, 0]]


# -- the paper's data ---------------------------------------------------------------------------


EIGHT = ["splice", "anneal", "satimage", "solar_flare_c", "letter", "pendigits", "segment"]
EIGHT += ["ann_thyroid"]


@pytest.mark.filterwarnings("ignore:The decisions of the model cost no less")
@pytest.mark.data
def test_higher_norms_cost_less_than_their_rivals(data_folder, monkeypatch):
    """Table 1 of Lozano and Abe in our own hands, in small: all eight sets, the same trees.

    The size of leaves was chosen on other sets. One split of few rows does not tell p = 2 from
    AdaBoost.M2, which is the cheaper one on Letter and Pendigits: the benchmark of many classes
    does, and shows intervals.
    """
    monkeypatch.setenv("COSTBOOST_DATA", str(data_folder))
    few = {"n_estimators": 20, "max_leaf_nodes": 31}
    rivals = {"max_depth": None, "calibration": None, **few}
    ours = {f"p = {p}": PNormBoostClassifier(p, **few) for p in (2, 3, 4)}
    theirs = {
        "adaboost.m2": PNormBoostClassifier(method="adaboost.m2", **few),
        "adacost": CostBoostClassifier("adacost", min_samples_leaf=80, **rivals),
        "csb2": CostBoostClassifier("csb2", min_samples_leaf=80, **rivals),
    }
    paid = {name: [] for name in ours | theirs}
    for name in EIGHT:
        data = datasets.load(name)
        train, test, costs = _deal(data.y)
        for key, model in (ours | theirs).items():
            model.fit(_rows(data.X, train), data.y[train], costs=costs)
            decided = model.predict(_rows(data.X, test))
            paid[key].append(np.mean(costs.of_decisions(data.y[test], decided)))
    mean = {key: np.mean(values) for key, values in paid.items()}
    assert max(mean[key] for key in ours) < min(mean["adacost"], mean["csb2"]), mean
    assert max(mean["p = 3"], mean["p = 4"]) < mean["adaboost.m2"], mean


def _deal(y):
    """1200 rows at most to train on, as many to test on, and class-frequency costs."""
    classes, counts = np.unique(y, return_counts=True)
    rows = np.flatnonzero(np.isin(y, classes[counts >= 3]))
    half = min(len(rows) // 2, 1200)
    train, test = train_test_split(
        rows, train_size=half, test_size=half, stratify=y[rows], random_state=0
    )
    classes, C = frequency_matrix(y[rows], np.random.default_rng(0))
    return train, test, Costs.from_matrix(C, classes=classes)


def _rows(X, rows):
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]
