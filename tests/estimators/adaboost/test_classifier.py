"""`CostBoostClassifier` as users meet it: scikit-learn's contract, messages, inputs, company."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from costboost import CostBoostClassifier, Costs, GradientBoostClassifier
from costboost.boosting.adaboost.rules import RULES
from costboost.inputs.checks import count_features, fit_seed
from costboost.shards.rows import ColumnDraw
from family import STUMP, identical, plain, problem
from naive.rules import METHODS

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


def test_unfitted_models_say_so():
    for name in ("predict", "predict_proba", "decision_function", "expected_cost"):
        with pytest.raises(sklearn.exceptions.NotFittedError):
            getattr(CostBoostClassifier(), name)(np.zeros((2, 2)))


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
    n_columns = count_features(width, 9)
    drawn = [
        ColumnDraw(n_columns, 9, fit_seed(model), t).columns(0).tolist()
        for t in range(model.n_iter_)
    ]
    assert {len(columns) for columns in drawn} == {n_columns}
    assert len({tuple(columns) for columns in drawn}) > 3  # another draw for every round
    forest = model._model.members[0].forest
    for t, columns in enumerate(drawn):
        splits = forest.tree(t).feature
        assert set(splits[splits >= 0].tolist()) <= set(columns)
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
        model = plain("cgada").fit(X, labels[y], costs=Costs(fp=1, fn=3, positive=labels[1]))
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


@pytest.mark.parametrize("by_row", [False, True])
def test_as_many_classes_as_a_byte_can_number(by_row):
    y = np.repeat(np.arange(256), 2)
    X = (y[:, None] >> np.arange(8) & 1).astype(float)  # the bits of the class
    prices = np.where(y[:, None] == np.arange(256), 0.0, 1.0 + np.arange(256) / 256)
    model = plain("csb2", 1, max_depth=8).fit(X, y, costs=Costs.of_rows(prices) if by_row else None)
    assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("unit", [1 / 300, 1e-6, 1e-300])
def test_calibrated_probabilities_know_no_unit_of_small_weights(unit):
    X, y = problem()
    model = CostBoostClassifier("adamec", 10, random_state=0)
    expected = clone(model).fit(X, y).predict_proba(X)
    assert np.ptp(expected[:, 1]) > 0.5
    weights = np.full(len(y), unit)
    assert_allclose(model.fit(X, y, sample_weight=weights).predict_proba(X), expected, rtol=1e-9)


@pytest.mark.parametrize("calibration", ["sigmoid", "sigmoid-brier"])
@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("kind", ["adamec", "auto", "gradient"])
def test_calibration_does_not_turn_a_constraint_around(kind, ensemble, calibration):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(120, 2)), rng.integers(0, 2, 120)  # nothing to learn
    options = {"calibration": calibration, "ensemble": ensemble, "monotonic_cst": [1, 0]}
    options |= {"n_estimators": 10, "max_depth": 1, "random_state": 0}
    if kind == "gradient":
        model = GradientBoostClassifier(**options)
    else:
        model = CostBoostClassifier(kind, **options)
    along = np.column_stack([np.linspace(-3, 3, 50), np.zeros(50)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that no round beats a constant
        model.fit(X, y)
    assert np.diff(model.predict_proba(along)[:, 1]).min() >= 0
