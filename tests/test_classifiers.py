"""`CostBoostClassifier` as users meet it: scikit-learn's contract, decisions, stops, inputs."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from costboost import CostBoostClassifier, Costs
from costboost.boosting.rules import RULES
from naive import calibration as naive
from naive.rules import METHODS, METHODS_K

STUMP = DecisionTreeClassifier(max_depth=1)
FITTED = ("estimator_weights_", "estimator_errors_", "normalizers_", "train_cost_")


def problem(seed=0, n=300, d=5, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=d) + noise * rng.normal(size=n) > 0.4).astype(int)
    return X, y


def plain(method, n_estimators=8, **options):
    options = {"calibration": None, "random_state": 0, "max_depth": 2, **options}
    return CostBoostClassifier(method, n_estimators, **options)


def identical(one, other, X):
    """The same model, bit for bit."""
    assert one.n_iter_ == other.n_iter_
    for name in FITTED:
        first, second = getattr(one, name), getattr(other, name)
        pairs = zip(first, second, strict=True) if isinstance(first, list) else [(first, second)]
        for a, b in pairs:
            assert_array_equal(a, b)
    assert_array_equal(one.decision_function(X), other.decision_function(X))


# ---------------------------------------------------------------- scikit-learn's contract


def checked():
    for method in METHODS:
        yield CostBoostClassifier(method, 5, calibration=None)
        yield CostBoostClassifier(method, 5, calibration="sigmoid", cv=2)
    for method in ("adaboost", "adamec", "adacost", "csb0", "csada"):
        yield CostBoostClassifier(method, 5, STUMP, calibration=None)
    for method in ("adaboost", "adamec"):
        yield CostBoostClassifier(method, 5, STUMP, calibration="sigmoid", cv=2)
    yield CostBoostClassifier(n_estimators=5)


OLD_SKLEARN = sklearn.__version__.startswith("1.6.")


def expected_failures(estimator):
    if estimator.method == "auto":
        why = "the recipe draws rows, and counts them in leaves: copies are not weights to it"
        return {
            "check_sample_weight_equivalence_on_dense_data": why,
            "check_sample_weight_equivalence_on_sparse_data": why,
        }
    if OLD_SKLEARN and not get_tags(estimator).classifier_tags.multi_class:
        why = "scikit-learn 1.6 codes a binary y by its first row: shuffled rows swap the classes"
        return {
            "check_sample_weight_equivalence_on_dense_data": why,
            "check_sample_weight_equivalence_on_sparse_data": why,
        }
    if estimator.method == "csb0" and estimator.estimator is not None:
        why = "without costs CSB0 repeats its first learner, and a stump has no third class"
        return {"check_classifiers_train": why}
    return {}


@pytest.mark.filterwarnings("ignore:.*could not take a single step")
@pytest.mark.filterwarnings("ignore:.*classes have a single row")
@parametrize_with_checks(list(checked()), expected_failed_checks=expected_failures)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_tags_follow_the_method_and_the_learner():
    def tags(**options):
        return sklearn.utils.get_tags(CostBoostClassifier(**options))

    assert tags(method="adamec").classifier_tags.multi_class
    assert not tags(method="csada").classifier_tags.multi_class
    assert tags().input_tags.allow_nan
    assert tags().input_tags.categorical
    assert not tags(estimator=GaussianNB()).input_tags.allow_nan
    assert not tags(estimator=GaussianNB()).input_tags.sparse
    if not OLD_SKLEARN:  # whose trees do not tell that they take sparse tables
        assert tags(estimator=STUMP).input_tags.sparse


# ---------------------------------------------------------------- costs matter

COST_TRAINED = [m for m in METHODS if RULES[m].trains_on_costs]
# With the cost in the exponent alone, dear positives that are right lose weight *faster* than cheap
# negatives: these methods fail "asymmetry-preserving", and their recall may fall (see
# costboost.papers.properties). Their decisions follow costs once calibrated.
PERVERSE = ["adacost-beta1", "adacost-beta2", "adac1"]
RATIOS = [0.2, 0.5, 1.0, 2.0, 5.0]


@pytest.fixture(scope="module")
def tumours():
    """Four columns of the breast cancer data, so that they are not separable; 1 is malignant."""
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :4], 1 - y


def recalls(X, y, method, n_splits=4, **options):
    """Mean recall of held-out halves at every ratio of costs, and the models of the last half."""
    options = {"max_depth": 2, "random_state": 0, **options}
    recall = np.zeros((n_splits, len(RATIOS)))
    for seed in range(n_splits):
        train = np.random.default_rng(seed).uniform(size=len(y)) < 0.5
        models = []
        for k, ratio in enumerate(RATIOS):
            model = CostBoostClassifier(method, 10, **options)
            models.append(model.fit(X[train], y[train], costs=Costs(fp=1, fn=ratio)))
            recall[seed, k] = models[-1].predict(X[~train])[y[~train] == 1].mean()
    return recall.mean(axis=0), models


@pytest.mark.parametrize("method", [m for m in METHODS if RULES[m].uses_costs])
def test_dearer_misses_give_more_recall(method, tumours):
    """Means over four halves, 420 positives: a standard error of 0.02, hence a slack of 0.03."""
    X, y = tumours
    recall, models = recalls(X, y, method, calibration=None)
    if method != "adamec":  # whose model is the same at all prices
        alphas = [model.estimator_weights_ for model in models]
        assert len({tuple(a) for a in alphas}) == len(RATIOS)
    decisions = [model.predict(X) for model in models]
    assert np.any(decisions[0] != decisions[-1])
    if method not in PERVERSE:
        assert np.min(np.diff(recall)) >= -0.03
        assert recall[-1] >= recall[0] + 0.05


@pytest.mark.parametrize("method", METHODS)
def test_dearer_misses_give_more_recall_when_calibrated(method, tumours):
    X, y = tumours
    recall, _ = recalls(X, y, method, n_splits=2, calibration="sigmoid", cv=3)
    assert np.min(np.diff(recall)) >= -0.03
    assert recall[-1] >= recall[0] + 0.2


@pytest.mark.data
@pytest.mark.filterwarnings("ignore:.*could not take a single step")
@pytest.mark.parametrize("name", ["pima", "heart_statlog", "haberman"])
@pytest.mark.parametrize("method", ["adamec", "cgada", "asymada", "adacost", "csada", "adac2"])
def test_dearer_misses_give_more_recall_on_the_papers_data(method, name, data_folder):
    pd = pytest.importorskip("pandas")
    table = pd.read_csv(data_folder / f"{name}.csv")
    target = table["target"]
    y = (target == target.value_counts().idxmin()).astype(int).to_numpy()
    recall, _ = recalls(table.drop(columns="target"), y, method, calibration=None)
    # About 160 positives are held out in the smallest set, four times: a slack of 0.06.
    assert np.min(np.diff(recall)) >= -0.06
    assert recall[-1] >= recall[0] + 0.03


@pytest.mark.parametrize("method", COST_TRAINED)
def test_a_price_per_row_changes_the_model(method, tumours):
    X, y = tumours
    rng = np.random.default_rng(0)
    flat = plain(method, 5).fit(X, y, costs=Costs(fp=np.ones(len(y)), fn=1.0))
    priced = plain(method, 5).fit(X, y, costs=Costs(fp=rng.uniform(0.5, 1.5, len(y)), fn=1.5))
    assert not np.array_equal(flat.estimator_weights_, priced.estimator_weights_)


@pytest.mark.parametrize("method", ["adaboost", "rareboost", "adamec"])
def test_methods_that_train_without_costs(method, tumours):
    X, y = tumours
    one = plain(method).fit(X, y)
    other = plain(method).fit(X, y, costs=Costs(fp=1, fn=50))
    for name in FITTED[:3]:
        assert_array_equal(getattr(one, name), getattr(other, name))
    assert not np.array_equal(one.train_cost_, other.train_cost_)
    changed = np.any(one.predict(X) != other.predict(X))
    assert changed == (method == "adamec")


# ---------------------------------------------------------------- decisions


def test_adamec_decides_by_the_vote_fraction_of_every_row():
    X, y = problem()
    model = plain("adamec").fit(X, y)
    s = (1 + model.decision_function(X) / model.estimator_weights_.sum()) / 2
    rng = np.random.default_rng(0)
    fp, fn = rng.uniform(0.1, 5, (2, len(y)))
    decided = model.predict(X, costs=Costs(fp=fp, fn=fn))
    assert_array_equal(decided, s > fp / (fp + fn))
    assert_array_equal(model.predict(X, costs=Costs(fp=1, fn=4)), s > 0.2)
    priced = plain("adamec").fit(X, y, costs=Costs(fp=fp, fn=fn))
    paid = np.where(y == 1, fn, fp)[decided != y].sum()
    assert_allclose(priced.train_cost_[-1], paid)
    expected = model.expected_cost(X, costs=Costs(fp=fp, fn=fn))
    assert_allclose(expected, np.column_stack([s * fn, (1 - s) * fp]), atol=1e-12)


def test_adamec_of_many_classes_takes_the_cheapest_by_votes():
    X, y = load_iris(return_X_y=True)
    C = np.array([[0, 1, 5], [2, 0, 1], [9, 3, 0.0]])
    model = plain("adamec", max_depth=1).fit(X, y, costs=C)
    votes = model.decision_function(X)
    assert_array_equal(model.predict(X), (votes @ C).argmin(axis=1))
    assert_allclose(model.train_cost_[-1], C[y, model.predict(X)].sum())


def test_costs_per_row_without_costs_at_predict_warn():
    X, y = problem()
    costs = Costs(fp=1, fn=np.random.default_rng(0).uniform(1, 5, len(y)))
    model = plain("adamec").fit(X, y, costs=costs)
    with pytest.warns(UserWarning, match="their mean"):
        decided = model.predict(X)
    assert_array_equal(decided, model.predict(X, costs=model.costs_))
    trained = plain("cgada").fit(X, y, costs=costs)
    assert trained.predict(X).shape == y.shape  # decides by the sign: no costs needed, no warning


def test_actions_that_are_not_classes():
    X, y = problem()
    C = [[0, 1, 6], [30, 2, 0]]
    loan = Costs.from_matrix(C, classes=[0, 1], actions=["approve", "review", "decline"])
    model = plain("adamec", calibration="sigmoid", cv=3).fit(X, y, costs=loan)
    assert set(model.predict(X)) == {"approve", "review", "decline"}
    p = model.predict_proba(X)
    assert_allclose(model.expected_cost(X), p @ np.array(C))
    uncalibrated = plain("adamec").fit(X, y, costs=loan)
    assert set(uncalibrated.predict(X)) <= {"approve", "review", "decline"}
    paid = loan.bind([0, 1]).total(y, uncalibrated.predict(X))
    assert_allclose(uncalibrated.train_cost_[-1], paid)
    rows = np.array(C)[None] * np.random.default_rng(0).uniform(0.5, 2, (len(y), 1, 1))
    own = Costs.from_matrix(rows, classes=[0, 1], actions=["approve", "review", "decline"])
    priced = plain("adamec").fit(X, y, costs=own)
    assert_array_equal(priced.estimator_weights_, uncalibrated.estimator_weights_)
    paid = own.bind([0, 1]).total(y, priced.predict(X, costs=own))
    assert_allclose(priced.train_cost_[-1], paid)
    with pytest.raises(ValueError, match="other actions"):
        plain("cgada").fit(X, y, costs=loan)


@pytest.mark.parametrize("method", METHODS)
def test_uncalibrated_probabilities_are_the_link_of_the_loss(method):
    X, y = problem()
    model = plain(method).fit(X, y)
    p = 1 / (1 + np.exp(-2 * model.decision_function(X)))
    assert_allclose(model.predict_proba(X)[:, 1], p)
    assert_array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))


@pytest.mark.parametrize("method", METHODS)
def test_score_is_minus_the_mean_cost(method):
    X, y = problem()
    fp, fn = np.random.default_rng(0).uniform(0.5, 3, (2, len(y)))
    weights = np.random.default_rng(1).uniform(0.5, 3, len(y))
    for calibration in (None, "sigmoid"):
        model = plain(method, calibration=calibration, cv=2).fit(X, y)
        decides = calibration is not None or method == "adamec"
        decided = model.predict(X, costs=Costs(fp=fp, fn=fn)) if decides else model.predict(X)
        paid = np.where(decided != y, np.where(y == 1, fn, fp), 0)
        score = model.score(X, y, weights, costs=Costs(fp=fp, fn=fn))
        assert_allclose(score, -np.average(paid, weights=weights))
        assert_allclose(model.score(X, y), -np.mean(model.predict(X) != y))


# ---------------------------------------------------------------- calibration


def test_calibrated_adamec_is_the_poster_line_by_line():
    """Nikolaou et al. 2016: half to train, half to calibrate a sigmoid by squared error."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 9, (240, 4)).astype(float)
    y = (X.sum(axis=1) + 4 * rng.normal(size=240) > 17).astype(int)
    halves = [(np.arange(0, 240, 2), np.arange(1, 240, 2))]
    model = CostBoostClassifier(
        "adamec",
        12,
        max_depth=1,
        criterion="error",
        calibration="sigmoid-brier",
        cv=halves,
        costs={"fp": 1, "fn": 3},
        random_state=0,
    ).fit(X, y)
    poster = naive.calibrated_adamec(X, 2 * y - 1, 1, 3, 12, *halves[0], X)
    alphas = np.array([alpha for alpha, _ in poster["ensemble"]])
    assert_allclose(model.estimator_weights_, alphas, rtol=1e-9)
    (ensemble,) = model._ensembles
    s = ensemble.scores(ensemble.margins(X), ensemble.total_alpha)
    assert_allclose(s[halves[0][1]], poster["s"], atol=1e-12)
    assert_allclose(model.predict_proba(X)[:, 1], poster["p"], rtol=1e-5, atol=1e-7)
    assert_array_equal(2 * model.predict(X) - 1, poster["H"])


def test_a_share_calibrates_on_that_share():
    X, y = problem(n=400)
    model = CostBoostClassifier("adamec", 5, cv=0.5, random_state=0).fit(X, y)
    assert len(model._ensembles) == 1
    assert isinstance(model.estimator_weights_, np.ndarray)
    folds = CostBoostClassifier("adamec", 5, cv=3, random_state=0).fit(X, y)
    assert len(folds.estimator_weights_) == len(folds.train_cost_) == 3
    assert folds.n_iter_ == 5
    whole = CostBoostClassifier("adamec", 5, cv=3, ensemble=False, random_state=0).fit(X, y)
    assert_array_equal(
        whole.estimator_weights_, CostBoostClassifier("adaboost", 5).fit(X, y).estimator_weights_
    )


@pytest.mark.parametrize("method", METHODS)
def test_the_default_calibrates_the_posters_three(method):
    X, y = problem()
    model = CostBoostClassifier(method, 3).fit(X, y)
    assert (model._scores is not None) == (method in ("adamec", "cgada", "asymada"))


@pytest.mark.parametrize("calibration", ["sigmoid", "sigmoid-brier", "beta", "isotonic"])
@pytest.mark.parametrize("votes", ["discrete", "confidence", "real", "gentle"])
def test_calibrated_probabilities_are_near_the_truth(votes, calibration):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    p = 1 / (1 + np.exp(-X[:, 0] - X[:, 1]))
    y = (rng.uniform(size=len(p)) < p).astype(int)
    costs = Costs(fp=1, fn=8)  # must not enter the probabilities
    # Laplace: pure leaves of Real AdaBoost would vote with the logarithm of an ulp.
    options = {"votes": votes, "laplace": True, "calibration": calibration, "cv": 3}
    model = CostBoostClassifier("cgada", 15, max_depth=2, random_state=0, **options).fit(
        X, y, costs=costs
    )
    q = model.predict_proba(X)[:, 1]
    assert abs(np.mean(q) - np.mean(p)) < 0.03
    assert np.mean(np.abs(q - p)) < 0.08


def test_new_prices_need_no_new_model():
    X, y = problem()
    for method in ("adaboost", "cgada", "adacost", "csada"):
        model = CostBoostClassifier(method, 5, calibration="sigmoid", cv=3, random_state=0)
        model.fit(X, y, costs=Costs(fp=1, fn=2))
        p = model.predict_proba(X)[:, 1]
        for fn in (0.2, 1.0, 9.0):
            assert_array_equal(model.predict(X, costs=Costs(fp=1, fn=fn)), p > 1 / (1 + fn))
        rows = np.random.default_rng(0).uniform(0.1, 9, len(y))
        assert_array_equal(model.predict(X, costs=Costs(fp=1, fn=rows)), p > 1 / (1 + rows))


def test_groups_are_never_both_trained_and_calibrated_on():
    X, y = problem()
    groups = np.arange(len(y)) // 10
    one = CostBoostClassifier("adamec", 5, cv=GroupKFold(3)).fit(X, y, groups=groups)
    cut = list(GroupKFold(3).split(X, y, groups))
    other = CostBoostClassifier("adamec", 5, cv=cut).fit(X, y)
    assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    third = CostBoostClassifier("adamec", 5, cv=3, random_state=0).fit(X, y, groups=groups)
    assert len(third._ensembles) == 3


# ---------------------------------------------------------------- messages


@pytest.mark.parametrize("method", [m for m in METHODS if m != "adamec"])
def test_uncalibrated_methods_cannot_take_new_prices(method):
    X, y = problem()
    model = plain(method, 3).fit(X, y)
    why = "trained on costs" if RULES[method].trains_on_costs else "for scoring only"
    for call in (model.predict, model.expected_cost):
        with pytest.raises(ValueError, match=rf"method='{method}'.*{why}.*calibration="):
            call(X, costs=Costs(fp=1, fn=3))
    with pytest.raises(ValueError, match="calibration="):
        list(model.staged_predict(X, costs=Costs(fp=1, fn=3)))


@pytest.mark.parametrize("method", [m for m in METHODS if m not in METHODS_K])
def test_methods_of_two_classes_name_what_to_use(method):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"y has 3.*PNormBoostClassifier, or one of .*adamec"):
        CostBoostClassifier(method).fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "adabost"}, "method='adabost' is not known; allowed: 'auto', 'adaboost'"),
        ({"votes": "loud"}, "votes='loud' is not known"),
        ({"alpha": "guess"}, "alpha='guess' is not known"),
        ({"criterion": "mse"}, "criterion='mse' is not known"),
        ({"calibration": "platt"}, "calibration='platt' is not known; allowed.*'sigmoid'"),
        ({"on_interrupt": "ask"}, "on_interrupt='ask' is not known"),
        ({"n_estimators": 0}, "n_estimators=0 must be a whole number at least 1"),
        ({"n_estimators": 2.5}, "n_estimators=2.5 must be a whole number"),
        ({"n_estimators": True}, "n_estimators=True must be a whole number"),
        ({"learning_rate": 0}, "learning_rate=0 must be a number above 0"),
        ({"subsample": 1.5}, "subsample=1.5 .*at most 1"),
        ({"max_depth": 0}, "max_depth=0"),
        ({"max_depth": "deep"}, "max_depth='deep'"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes=1"),
        ({"max_features": 0}, "max_features=0"),
        ({"max_features": 1.5}, "max_features=1.5"),
        ({"max_bins": 1000}, "max_bins=1000"),
        ({"min_samples_leaf": 0}, "min_samples_leaf=0"),
        ({"min_weight_leaf": 0.7}, "min_weight_leaf=0.7"),
        ({"cost_scale": 2.0}, "cost_scale=2.0"),
        ({"tol": -1}, "tol=-1"),
        ({"validation_fraction": 2}, "validation_fraction=2"),
        ({"n_iter_no_change": 0}, "n_iter_no_change=0"),
        ({"cv": 1, "calibration": "sigmoid"}, "cv=1"),
        ({"costs": Costs(fp=1, fn=[1.0, 2.0])}, "pass costs per row to fit"),
        ({"method": "asymada", "n_iter_no_change": 3}, "fixed in advance"),
        ({"method": "adauboost", "warm_start": True}, "fixed in advance"),
        ({"warm_start": True, "calibration": "sigmoid"}, "calibration=None"),
        ({"n_iter_no_change": 2, "validation_fraction": 0.0}, "validation_fraction > 0"),
    ],
    ids=str,
)
def test_wrong_parameters_are_named(options, message):
    X, y = problem()
    model = CostBoostClassifier("adaboost").set_params(**options)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_unfitted_models_say_so():
    for name in ("predict", "predict_proba", "decision_function", "expected_cost"):
        with pytest.raises(sklearn.exceptions.NotFittedError):
            getattr(CostBoostClassifier(), name)(np.zeros((2, 2)))


# ---------------------------------------------------------------- early stopping


def held_out_costs(model, X, y, costs):
    """The mean cost of the decisions after each round, from the stages."""
    return [np.mean(costs.of_decisions(y, decided)) for decided in model.staged_predict(X)]


@pytest.mark.parametrize("estimator", [None, STUMP], ids=["trees", "outside"])
@pytest.mark.parametrize("method", ["adaboost", "adamec", "cgada", "csb2", "rareboost"])
def test_early_stopping_on_an_eval_set(method, estimator):
    X, y = problem(n=600)
    fp, fn = np.random.default_rng(0).uniform(0.5, 3, (2, 600))
    train, test = np.arange(400), np.arange(400, 600)
    costs = Costs(fp=fp, fn=fn)
    options = {"estimator": estimator, "n_iter_no_change": 4}
    model = plain(method, 60, **options)
    held_out = (X[test], y[test], costs[test])
    model.fit(X[train], y[train], costs=costs[train], eval_set=held_out)
    watched = model.validation_cost_
    assert len(watched) >= model.n_iter_ == np.argmin(watched) + 1
    assert len(watched) == min(model.n_iter_ + 4, 60)
    long = plain(method, len(watched), estimator=estimator)
    long.fit(X[train], y[train], costs=costs[train])
    bound = costs[test].bind([0, 1])
    prices = {"costs": bound} if method == "adamec" else {}
    paid = [
        np.mean(bound.of_decisions(y[test], decided))
        for decided in long.staged_predict(X[test], **prices)
    ]
    assert_allclose(watched, paid)
    assert_array_equal(model.estimator_weights_, long.estimator_weights_[: model.n_iter_])


def test_early_stopping_on_a_share_of_the_rows():
    X, y = problem(n=500, noise=3)
    model = plain("cgada", 200, n_iter_no_change=5, validation_fraction=0.3)
    model.fit(X, y, np.random.default_rng(0).uniform(0.5, 2, 500), costs=Costs(fp=1, fn=3))
    assert model.n_iter_ < 100
    assert model.n_iter_ == np.argmin(model.validation_cost_) + 1
    assert len(list(model.staged_predict(X))) == model.n_iter_
    assert len(model.train_cost_) == len(model.cost_bound_) == model.n_iter_
    patient = plain("cgada", 200, n_iter_no_change=50, validation_fraction=0.3)
    assert patient.fit(X, y, costs=Costs(fp=1, fn=3)).n_iter_ >= 1


def test_an_eval_set_without_patience_only_watches():
    X, y = problem(n=400)
    model = plain("adaboost", 20).fit(X[:300], y[:300], eval_set=(X[300:], y[300:]))
    assert model.n_iter_ == len(model.validation_cost_) == 20
    assert_allclose(model.validation_cost_[-1], np.mean(model.predict(X[300:]) != y[300:]))


def test_tolerance_asks_for_a_real_fall():
    X, y = problem(n=500, noise=2)
    held_out = (X[300:], y[300:])
    lazy = plain("adaboost", 100, n_iter_no_change=5, tol=0.5)
    lazy.fit(X[:300], y[:300], eval_set=held_out)
    eager = plain("adaboost", 100, n_iter_no_change=5)
    eager.fit(X[:300], y[:300], eval_set=held_out)
    assert len(lazy.validation_cost_) <= len(eager.validation_cost_)


def test_a_wrong_eval_set_is_refused():
    X, y = problem()
    with pytest.raises(ValueError, match="got 1 parts"):
        plain("adaboost").fit(X, y, eval_set=(X,))
    costs = Costs(fp=1, fn=np.ones(len(y)))
    with pytest.raises(ValueError, match="need their own"):
        plain("adaboost").fit(X, y, costs=costs, eval_set=(X, y))


def test_early_stopping_in_every_fold_of_a_calibration():
    X, y = problem(n=500, noise=3)
    model = CostBoostClassifier("adamec", 100, cv=2, n_iter_no_change=3, random_state=0).fit(X, y)
    assert len(model.validation_cost_) == 2
    assert model.n_iter_ < 100
    assert np.isfinite(model.predict_proba(X)).all()


# ---------------------------------------------------------------- warm start, stages


CONTINUED = [m for m in METHODS if not RULES[m].needs_n_rounds]


@pytest.mark.parametrize("kind", ["constant", "rows", "outside", "confidence"])
@pytest.mark.parametrize("method", CONTINUED)
def test_warm_start_equals_one_long_fit(method, kind):
    if kind == "confidence" and method in ("rareboost", "gradient-csb"):
        pytest.skip("defined for discrete votes")
    X, y = problem()
    fn = np.random.default_rng(0).uniform(1, 1.4, len(y)) if kind == "rows" else 1.3
    costs = Costs(fp=1, fn=fn)
    options = {"subsample": 0.8, "max_features": 2}
    if kind == "outside":
        options = {"estimator": STUMP}
    if kind == "confidence":
        options = {"votes": "confidence"}
    s = np.random.default_rng(1).uniform(0.5, 2, len(y))
    long = plain(method, 9, **options).fit(X, y, s, costs)
    model = plain(method, 3, warm_start=True, **options).fit(X, y, s, costs)
    for rounds in (4, 9):
        model.set_params(n_estimators=rounds).fit(X, y, s, costs)
    identical(model, long, X)
    if RULES[method].bounded:
        assert_array_equal(model.cost_bound_, long.cost_bound_)


def test_warm_start_of_many_classes():
    X, y = load_iris(return_X_y=True)
    for method in METHODS_K:
        long = plain(method, 6, max_depth=1).fit(X, y)
        model = plain(method, 2, max_depth=1, warm_start=True).fit(X, y)
        identical(model.set_params(n_estimators=6).fit(X, y), long, X)


def test_warm_start_with_random_learners_and_perfect_ones():
    X, y = problem()
    tree = DecisionTreeClassifier(max_depth=2, max_features=1)
    for estimator in (tree, None):
        labels = y if estimator is not None else (X[:, 0] > 0).astype(int)
        long = plain("adaboost", 6, estimator=estimator).fit(X, labels)
        model = plain("adaboost", 2, estimator=estimator, warm_start=True).fit(X, labels)
        identical(model.set_params(n_estimators=6).fit(X, labels), long, X)
        assert (long.n_iter_ == 1) == (estimator is None)


def test_warm_start_takes_no_round_back():
    X, y = problem()
    model = plain("adaboost", 6, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match=r"n_estimators=4.*6"):
        model.set_params(n_estimators=4).fit(X, y)


@pytest.mark.parametrize("calibration", [None, "sigmoid"])
@pytest.mark.parametrize("method", METHODS)
def test_the_last_stage_is_the_model(method, calibration):
    X, y = problem()
    model = plain(method, 5, calibration=calibration, cv=2).fit(X, y)
    *_, decided = model.staged_predict(X)
    *_, proba = model.staged_predict_proba(X)
    *_, values = model.staged_decision_function(X)
    assert_array_equal(decided, model.predict(X))
    assert_array_equal(proba, model.predict_proba(X))
    assert_array_equal(values, model.decision_function(X))
    assert len(list(model.staged_predict(X))) == model.n_iter_
    if calibration is not None:
        *_, decided = model.staged_predict(X, costs=Costs(fp=1, fn=9))
        assert_array_equal(decided, model.predict(X, costs=Costs(fp=1, fn=9)))


@pytest.mark.parametrize("method", METHODS)
def test_every_stage_is_the_model_of_so_many_rounds(method):
    if RULES[method].needs_n_rounds:
        pytest.skip("the number of rounds is part of the algorithm")
    X, y = problem()
    stages = list(plain(method, 4).fit(X, y).staged_decision_function(X))
    for rounds, stage in enumerate(stages, start=1):
        assert_allclose(plain(method, rounds).fit(X, y).decision_function(X), stage)


# ---------------------------------------------------------------- interruption, progress


class Interrupting(DecisionTreeClassifier):
    """A stump whose fourth fit is interrupted."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        if type(self).fits == 4:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight=sample_weight)


def test_an_interrupted_fit_can_keep_its_rounds():
    X, y = problem()
    Interrupting.fits = 0
    model = plain("cgada", 9, estimator=Interrupting(max_depth=1), on_interrupt="keep").fit(X, y)
    assert model.n_iter_ == len(model.estimators_) == len(model.train_cost_) == 3
    short = plain("cgada", 3, estimator=STUMP).fit(X, y)
    assert_array_equal(model.predict_proba(X), short.predict_proba(X))


def test_an_interrupted_fit_raises_by_default_and_without_a_round():
    X, y = problem()
    Interrupting.fits = 0
    with pytest.raises(KeyboardInterrupt):
        plain("cgada", 9, estimator=Interrupting(max_depth=1)).fit(X, y)
    Interrupting.fits = 3  # the very first round
    with pytest.raises(KeyboardInterrupt):
        plain("cgada", 9, estimator=Interrupting(max_depth=1), on_interrupt="keep").fit(X, y)


def test_an_interrupted_calibration_is_usable():
    X, y = problem()
    Interrupting.fits = 0
    model = CostBoostClassifier(
        "adamec", 9, Interrupting(max_depth=1), cv=3, on_interrupt="keep", random_state=0
    ).fit(X, y)
    assert model.n_iter_ == 3  # the models still to come are no longer than the first
    assert np.isfinite(model.predict_proba(X)).all()


def test_verbose_prints_rounds(capsys):
    X, y = problem()
    plain("adaboost", 5, verbose=2).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == ["2/5", "4/5", "5/5"]
    assert all("cost" in line for line in lines)
    plain("adaboost", 3, verbose=1).fit(X, y, eval_set=(X, y))
    assert "held-out cost" in capsys.readouterr().out
    plain("adaboost", 3).fit(X, y)
    assert capsys.readouterr().out == ""


def has_callbacks():
    try:
        import sklearn.callback  # noqa: F401
    except ImportError:
        return False
    return True


@pytest.mark.skipif(not has_callbacks(), reason="sklearn.callback came with scikit-learn 1.9")
@pytest.mark.parametrize("calibration", [None, "sigmoid"])
def test_callbacks_are_told_of_every_round(calibration):
    class Counter:
        def __init__(self):
            self.begun, self.ended, self.setups, self.teardowns = 0, 0, 0, 0

        def setup(self, *args, **kwargs):
            self.setups += 1

        def teardown(self, *args, **kwargs):
            self.teardowns += 1

        def on_fit_task_begin(self, *args, **kwargs):
            self.begun += 1

        def on_fit_task_end(self, *args, **kwargs):
            self.ended += 1

    X, y = problem()
    counter = Counter()
    model = plain("adaboost", 4, calibration=calibration, cv=2)
    model.set_callbacks(counter).fit(X, y)
    n_models = 1 if calibration is None else 2
    assert counter.begun == counter.ended == 4 * n_models + 1  # the rounds, and fit itself
    assert counter.setups == counter.teardowns == 1


@pytest.mark.skipif(not has_callbacks(), reason="sklearn.callback came with scikit-learn 1.9")
def test_progress_bars_of_scikit_learn(capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    X, y = problem()
    model = plain("adaboost", 4).set_callbacks(ProgressBar())
    model.fit(X, y)
    assert model.n_iter_ == 4


@pytest.mark.skipif(has_callbacks(), reason="callbacks are there")
def test_without_callbacks_nothing_is_lost():
    assert not hasattr(CostBoostClassifier(), "set_callbacks")


# ---------------------------------------------------------------- threads, seeds, samples


@pytest.mark.parametrize("kind", ["constant", "rows"])
@pytest.mark.parametrize("method", METHODS)
def test_threads_change_no_bit(method, kind):
    rng = np.random.default_rng(0)
    n = 9000  # two shards: more than 8192 rows, more than 400,000 cells
    X = rng.normal(size=(n, 50)).round(2)
    y = (X[:, 0] + X[:, 1] + rng.normal(size=n) > 0).astype(int)
    costs = Costs(fp=1, fn=rng.uniform(1, 1.5, n) if kind == "rows" else 1.2)
    s = rng.uniform(0.5, 2, n)
    one, two = (plain(method, 2, n_jobs=jobs, subsample=0.9).fit(X, y, s, costs) for jobs in (1, 2))
    identical(one, two, X[:500])


@pytest.mark.parametrize("options", [{"subsample": 0.5}, {"max_features": 2}], ids=str)
def test_seeds(options):
    X, y = problem()
    models = [plain("adaboost", random_state=s, **options).fit(X, y) for s in (0, 0, 1)]
    identical(models[0], models[1], X)
    assert not np.array_equal(models[0].estimator_weights_, models[2].estimator_weights_)
    instance = [
        plain("adaboost", random_state=np.random.RandomState(7), **options).fit(X, y)
        for _ in range(2)
    ]
    identical(*instance, X)


def test_without_samples_the_seed_does_not_matter():
    X, y = problem()
    identical(*(plain("csb1", random_state=seed).fit(X, y) for seed in (0, None)), X)


@pytest.mark.parametrize("width", [1, 0.5, "sqrt", "log2"])
def test_max_features(width):
    X, y = problem(d=9)
    model = plain("adaboost", 30, max_features=width, max_depth=1).fit(X, y)
    whole = plain("adaboost", 30, max_depth=1).fit(X, y)
    used, all_used = (len(m._ensembles[0].forest.used_features) for m in (model, whole))
    assert used >= all_used  # columns that are drawn at random, and not the best ones only
    assert np.any(model.estimator_weights_ != whole.estimator_weights_)


def test_leaves_are_limited():
    X, y = problem(n=500)
    for options, most in (({"max_leaf_nodes": 3, "max_depth": None}, 3), ({"max_depth": 2}, 4)):
        model = plain("adaboost", 4, **options).fit(X, y)
        first = plain("adaboost", 1, votes="real", **options).fit(X, y)
        assert len(np.unique(first.decision_function(X))) <= most
        assert model.n_iter_ == 4
    heavy = plain("adaboost", 1, votes="real", min_weight_leaf=0.2, max_depth=5).fit(X, y)
    _, counts = np.unique(heavy.decision_function(X), return_counts=True)
    assert counts.min() >= 0.2 * 500
    many = plain("adaboost", 1, votes="real", min_samples_leaf=60, max_depth=5).fit(X, y)
    _, counts = np.unique(many.decision_function(X), return_counts=True)
    assert counts.min() >= 60


# ---------------------------------------------------------------- inputs


def test_sparse_tables_are_dense_tables():
    X, y = problem()
    X = np.where(np.abs(X) > 0.8, X, 0)
    dense = plain("cgada").fit(X, y)
    for make in (sp.csr_matrix, sp.csc_matrix, sp.csr_array):
        model = plain("cgada").fit(make(X), y)
        identical(model, dense, X)
        assert_array_equal(model.predict(make(X)), dense.predict(X))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(library):
    frames = pytest.importorskip(library)
    X, y = problem()
    colour = np.where(X[:, 0] > 0, "red", np.where(X[:, 1] > 0, "green", "blue"))
    holes = np.where(X[:, 1] > 1, np.nan, X[:, 1])
    columns = {"size": holes, "colour": colour, "count": np.arange(len(y))}
    table = frames.DataFrame(columns)
    if library == "pandas":
        table["colour"] = table["colour"].astype("category")
    else:
        table = table.with_columns(frames.col("colour").cast(frames.Categorical))
    model = plain("cgada").fit(table, y, costs=Costs(fp=1, fn=2))
    assert model.feature_names_in_.tolist() == ["size", "colour", "count"]
    assert model.n_features_in_ == 3
    assert np.mean(model.predict(table) == y) > 0.6
    assert len(model.predict_proba(table[:7])) == 7
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frames.DataFrame({"a": [1.0], "b": ["red"], "c": [0]}))


def test_pandas_and_polars_give_one_model():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = problem()
    names = [f"x{j}" for j in range(X.shape[1])]
    one = plain("adac2").fit(pd.DataFrame(X, columns=names), y)
    other = plain("adac2").fit(pl.DataFrame(X, schema=names), y)
    assert_array_equal(one.estimator_weights_, other.estimator_weights_)


def test_labels_of_any_type():
    X, y = problem()
    plain_labels = plain("cgada").fit(X, y, costs=Costs(fp=1, fn=3))
    for labels in (np.array(["no", "yes"]), np.array([False, True]), np.array([-1, 1])):
        model = plain("cgada").fit(X, labels[y], costs=Costs(fp=1, fn=3))
        assert_array_equal(model.classes_, labels)
        assert_array_equal(model.predict(X), labels[plain_labels.predict(X)])
    turned = plain("cgada").fit(X, y, costs=Costs(fp=3, fn=1, positive=0))
    identical(turned, plain_labels, X)


def test_costs_of_the_constructor_and_of_fit():
    X, y = problem()
    fitted = plain("cgada").fit(X, y, costs=Costs(fp=1, fn=3))
    for costs in ({"fp": 1, "fn": 3}, [[0, 1], [3, 0]], Costs(fp=1, fn=3)):
        identical(plain("cgada", costs=costs).fit(X, y), fitted, X)
    identical(
        plain("cgada", costs={"fp": 9, "fn": 1}).fit(X, y, costs=Costs(fp=1, fn=3)), fitted, X
    )
    prices = np.where(y == 1, 3.0, 1.0)
    identical(plain("cgada").fit(X, y, costs=Costs.of_rows(prices)), fitted, X)


# ---------------------------------------------------------------- in scikit-learn's company


@pytest.mark.parametrize("calibration", [None, "sigmoid"])
@pytest.mark.parametrize("method", METHODS)
def test_pickling_and_cloning(method, calibration):
    X, y = problem(n=150)
    model = plain(method, 3, calibration=calibration, cv=2).fit(X, y, costs=Costs(fp=1, fn=1.3))
    again = pickle.loads(pickle.dumps(model))
    identical(again, model, X)
    assert_array_equal(again.predict(X), model.predict(X))
    fresh = clone(model)
    assert not hasattr(fresh, "classes_")
    identical(fresh.fit(X, y, costs=Costs(fp=1, fn=1.3)), model, X)


def test_an_outside_learner_survives_pickling():
    X, y = problem()
    model = plain("adamec", 3, estimator=STUMP).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_grid_search_over_methods_with_a_price_per_row():
    X, y = problem()
    fn = np.random.default_rng(0).uniform(0.5, 5, len(y))
    costs = Costs(fp=1, fn=fn)
    seen = []

    class Spy(CostBoostClassifier):
        def fit(self, X, y, sample_weight=None, costs=None):
            seen.append(("fit", len(X), costs.shape))
            return super().fit(X, y, sample_weight, costs)

        def score(self, X, y, sample_weight=None, costs=None):
            seen.append(("score", len(X), costs.shape))
            return super().score(X, y, sample_weight, costs)

    methods = ["adamec", "cgada", "adacost", "csada", "adaboost"]
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            Spy(n_estimators=4, calibration="sigmoid", cv=2, random_state=0),
            {"method": methods},
            cv=3,
        )
        search.fit(X, y, costs=costs)
    assert search.best_params_["method"] in methods
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert len(seen) == 5 * 3 * 2 + 1
    for _, n_rows, shape in seen:
        assert shape[0] == n_rows  # costs were cut with the rows


def test_grid_search_names_a_method_that_does_not_fit():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        CostBoostClassifier("csada", 3), {"method": ["csada"]}, cv=3, error_score="raise"
    )
    with pytest.raises(ValueError, match="PNormBoostClassifier"):
        search.fit(X, y)


def test_pipelines_pass_costs_on():
    X, y = problem()
    costs = Costs(fp=1, fn=np.random.default_rng(0).uniform(0.5, 5, len(y)))
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = make_pipeline(StandardScaler(), plain("adamec"))
        pipe.fit(X, y, costs=costs)
        decided = pipe.predict(X, costs=costs)
        score = pipe.score(X, y, costs=costs)
    alone = plain("adamec").fit(StandardScaler().fit_transform(X), y, costs=costs)
    scaled = StandardScaler().fit_transform(X)
    assert_array_equal(decided, alone.predict(scaled, costs=costs))
    assert_allclose(score, -np.mean(costs.bind([0, 1]).of_decisions(y, decided)))


def test_the_recipe_is_quiet_and_sensible():
    X, y = load_breast_cancer(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = CostBoostClassifier(random_state=0).fit(X[::2], y[::2], costs=Costs(fp=10, fn=1))
    assert np.mean(model.predict(X[1::2], costs=Costs(fp=1, fn=1)) == y[1::2]) > 0.93
