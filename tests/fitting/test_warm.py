"""Warm starts of every estimator: the same data continue, all else is refused by name."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from costboost import (
    CostBoostClassifier,
    Costs,
    GradientBoostClassifier,
    GradientBoostRegressor,
    PNormBoostClassifier,
)
from family import problem

STUMP = DecisionTreeClassifier(max_depth=1, random_state=0)
ESTIMATORS = {
    "adaboost": CostBoostClassifier("adaboost", 3, calibration=None),
    "csada": CostBoostClassifier("csada", 3, calibration=None),
    "outside": CostBoostClassifier("cgada", 3, STUMP, calibration=None),
    "gradient": GradientBoostClassifier(n_estimators=3),
    "expected-cost": GradientBoostClassifier("expected-cost", 3),
    "outside gradient": GradientBoostClassifier(
        n_estimators=3, estimator=DecisionTreeRegressor(max_depth=2, random_state=0)
    ),
    "regressor": GradientBoostRegressor(n_estimators=3),
    "pnorm": PNormBoostClassifier(n_estimators=3),
    "outside pnorm": PNormBoostClassifier(n_estimators=3, estimator=STUMP),
}
CLASSIFIERS = [name for name in ESTIMATORS if name != "regressor"]


@pytest.fixture(params=list(ESTIMATORS))
def name(request):
    return request.param


def make(name, **options):
    model = pickle.loads(pickle.dumps(ESTIMATORS[name]))
    return model.set_params(**{"warm_start": True, "random_state": 0, **options})


def answers(model, X):
    return model.predict(X) if not hasattr(model, "predict_proba") else model.predict_proba(X)


def refit(model, *args, n_estimators=6, **options):
    return model.set_params(n_estimators=n_estimators).fit(*args, **options)


# ---------------------------------------------------------------- the same data


def test_the_same_data_in_other_clothes_continue(name):
    X, y = problem()
    whole = make(name, n_estimators=6, warm_start=False).fit(X, y)
    for again in (
        (X.copy(), y.copy()),
        (np.asfortranarray(X), y.tolist()),
        (X, y, np.ones(len(y))),
    ):
        model = refit(make(name).fit(X, y), *again)
        assert model.n_iter_ == 6
        assert_array_equal(answers(model, X), answers(whole, X))


@pytest.mark.parametrize("name", ["csada", "gradient", "pnorm"])
def test_other_threads_other_tables_of_the_same_values(name):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = problem()
    names = list("abcde")
    model = make(name).fit(pd.DataFrame(X, columns=names), y)
    model.set_params(n_jobs=2)
    refit(model, pl.DataFrame(X, schema=names), y)
    assert model.n_iter_ == 6
    refit(make(name).fit(X, y), sp.csr_matrix(X), y)


def test_pickled_models_continue(name):
    X, y = problem()
    model = refit(pickle.loads(pickle.dumps(make(name).fit(X, y))), X, y)
    assert_array_equal(
        answers(model, X), answers(make(name, n_estimators=6, warm_start=False).fit(X, y), X)
    )


@pytest.mark.parametrize("name", ["adaboost", "gradient", "regressor", "pnorm"])
def test_rows_held_out_stay_so_without_a_seed(name):
    """Without random_state every fit would draw other rows, and learn those held out before."""
    X, y = problem(n=400)
    options = {"n_iter_no_change": 5, "random_state": None, "subsample": 0.8}
    model = make(name, **options).fit(X, y)
    seed = model._progress.seed
    refit(model, X, y)
    assert model._progress.seed == seed
    same = make(name, **{**options, "random_state": np.random.RandomState(0)}).fit(X, y)
    whole = make(name, n_estimators=6, **{**options, "random_state": np.random.RandomState(0)})
    assert_array_equal(answers(refit(same, X, y), X), answers(whole.fit(X, y), X))


def test_a_fit_without_warm_start_is_no_start(name):
    X, y = problem()
    model = make(name).fit(X, y)
    model.set_params(warm_start=False).fit(X[:200], y[:200])
    assert not hasattr(model, "_progress")
    model.set_params(warm_start=True)
    refit(model, X[:100], y[:100])  # starts anew: nothing was kept
    assert model.n_iter_ == 6


# ---------------------------------------------------------------- other data


def changes(X, y):
    rng = np.random.default_rng(5)
    other = X.copy()
    other[7, 2] += 1.0
    turned = y.copy()
    turned[7] = 1 - turned[7]
    return {
        "one cell": (r"but X is not", (other, y), {}),
        "scale": (r"but X is not", (2 * X, y), {}),
        "one label": (r"but y is not", (X, turned), {}),
        "weights": (r"but sample_weight is not", (X, y, rng.uniform(1, 2, len(y))), {}),
        "fewer rows": (r"X and y and sample_weight are not", (X[:-1], y[:-1]), {}),
    }


@pytest.mark.parametrize("change", list(changes(*problem())))
def test_other_data_are_refused_by_name(name, change):
    X, y = problem()
    message, data, options = changes(X, y)[change]
    model = make(name).fit(X, y)
    if change == "weights":  # which move the bins too, unless an outside learner has none
        message = r"sample_weight"
    with pytest.raises(ValueError, match=message) as refused:
        refit(model, *data, **options)
    assert "warm_start=False" in str(refused.value)
    assert "3 rounds" in str(refused.value)


@pytest.mark.filterwarnings("ignore:The decisions of the model cost no less")
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_other_classes_and_costs_are_refused_by_name(name):
    X, y = problem()
    model = make(name).fit(X, y)
    with pytest.raises(ValueError, match="the classes of y is not"):
        refit(model, X, np.array(["no", "yes"])[y])
    model = make(name).fit(X, y)
    with pytest.raises(ValueError, match="costs is not"):
        refit(model, X, y, costs=Costs(fp=1, fn=2))
    priced = Costs(fp=np.random.default_rng(0).uniform(1, 2, len(y)), fn=2)
    model = make(name).fit(X, y, costs=priced)
    with pytest.raises(ValueError, match="costs is not"):
        refit(model, X, y, costs=priced[::-1])
    assert refit(model, X, y, costs=priced[:]).n_iter_ == 6


def test_other_prices_of_a_regression_are_refused():
    X, y = problem()
    model = make("regressor", loss="pinball").fit(X, y, over=np.ones(len(y)))
    with pytest.raises(ValueError, match="over and under"):
        refit(model, X, y, over=np.full(len(y), 2.0))


@pytest.mark.parametrize(
    ("name", "options", "word"),
    [
        ("adaboost", {"method": "cgada"}, "method"),
        ("adaboost", {"votes": "gentle"}, "votes"),
        ("adaboost", {"max_bins": 16}, "max_bins"),
        ("adaboost", {"estimator": STUMP}, "estimator"),
        ("outside", {"estimator": None}, "estimator"),
        ("adaboost", {"n_iter_no_change": 5}, "share of rows held out"),
        ("gradient", {"loss": "exponential"}, "loss"),
        ("gradient", {"init": "zero"}, "init"),
        ("regressor", {"loss": "absolute"}, "loss"),
        ("pnorm", {"p": 3}, "p"),
        ("pnorm", {"method": "gbse"}, "method"),
    ],
)
def test_another_algorithm_is_refused_by_name(name, options, word):
    X, y = problem()
    model = make(name).fit(X, y)
    model.set_params(**options)
    with pytest.raises(ValueError, match=f"with another {word}"):
        refit(model, X, y)


@pytest.mark.parametrize("name", ["adaboost", "gradient", "pnorm"])
def test_other_parameters_may_change(name):
    X, y = problem()
    model = make(name).fit(X, y)
    model.set_params(max_depth=1, min_samples_leaf=3, verbose=0, n_jobs=1)
    assert refit(model, X, y).n_iter_ == 6


def test_no_round_is_taken_back(name):
    X, y = problem()
    model = make(name).fit(X, y)
    with pytest.raises(ValueError, match="only adds rounds"):
        refit(model, X, y, n_estimators=2)
