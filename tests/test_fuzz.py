"""A fuzz of the public interface: hard tables, prices and weights, and odd code from outside.

A run draws a table, a model and what it is given, all from its own number. It must end in finite
answers or in a `ValueError`: never in another error, never in the end of the process (see `make
test-sanitize`, where the kernels watch themselves). ``COSTBOOST_FUZZ=5000`` makes so many runs.
"""

import os
import traceback
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from costboost import (
    CostBoostClassifier,
    CostingClassifier,
    Costs,
    GradientBoostClassifier,
    GradientBoostRegressor,
    MetaCostClassifier,
    MinimumCostClassifier,
    PNormBoostClassifier,
)
from costboost.boosting.adaboost.rules import RULES, Rule
from costboost.boosting.pnorm.methods import METHODS
from odd import CHANGES, OddClassifier, OddLoss, OddRegressor, odd_function

RUNS = int(os.environ.get("COSTBOOST_FUZZ", "120"))
PARTS = 8
# What overflowed, or took seconds.
KNOWN = (59, 118, 686, 777, 799, 1070)
PRICES = ("over", "under")
PLACES = (
    "first",
    "round_factor",
    "learner_factor",
    "right",
    "wrong",
    "right_factor",
    "wrong_factor",
)


def choose(rng, *options):
    return options[rng.integers(len(options))]


# --- what is drawn


def numbers(rng, n, d):
    """Columns of every kind of number."""
    X = rng.normal(size=(n, d))
    for j in range(d):
        kind = rng.integers(9)
        if kind == 0:
            X[:, j] = rng.integers(0, 3, n)
        elif kind == 1:
            X[:, j] *= 10.0 ** rng.integers(-320, 308)
        elif kind == 2:
            X[:, j] = choose(rng, 0.0, np.nan, np.inf, -np.inf, 1e308, 5e-324)
        elif kind == 3:
            X[rng.random(n) < 0.3, j] = np.nan
        elif kind == 4:
            X[rng.random(n) < 0.2, j] = choose(rng, np.inf, -np.inf)
        elif kind == 5:
            X[:, j] = np.nextafter(1.0, 2.0) * rng.integers(1, 3, n)
    return X


def table(rng, n):
    X = numbers(rng, n, int(rng.integers(1, 6)))
    form = rng.integers(8)
    with np.errstate(over="ignore"):
        if form == 0:
            return X.astype(np.float32)
        if form == 1:
            return np.asfortranarray(X)
        if form == 2:  # a field of packed records: numbers that lie across words
            packed = np.zeros(n, dtype=np.dtype([("tag", "u1"), ("x", "f8", X.shape[1:])]))
            packed["x"] = X
            return packed["x"]
        if form == 3:
            return X[:, ::-1]
        if form == 4:
            return sp.csr_array(np.where(np.isfinite(X), np.rint(np.clip(X, -9, 9)), 0.0))
        if form == 5:
            frame = pd.DataFrame(X).rename(columns=str)
            frame["kind"] = pd.Categorical(rng.choice([f"k{i}" for i in range(300)], n))
            return frame
        return X


def labels(rng, n):
    y = rng.integers(0, choose(rng, 2, 2, 2, 3, 5), n)
    y[: min(n, 2)] = [0, 1][: min(n, 2)]
    return choose(rng, y, y, np.array(list("abcde"))[y], y * 1.0)


def spread(rng, n):
    low, high = sorted(rng.uniform(choose(rng, -3, -320), choose(rng, 3, 300), 2))
    return 10.0 ** rng.uniform(low, high, n)


def weights(rng, n):
    return choose(rng, None, None, rng.integers(0, 3, n), spread(rng, n), np.full(n, 1e-310))


def prices(rng, n, y):
    if len(np.unique(y)) == 2 and y.dtype.kind != "U":
        cell = lambda: choose(rng, 1.0, 5.0, spread(rng, n), float(spread(rng, 1)[0]))  # noqa: E731
        return choose(rng, None, Costs(fp=cell(), fn=cell()), Costs(fp=cell(), fn=cell(), tp=1))
    k = len(np.unique(y))
    return choose(rng, None, rng.random((k, k)) * (1 - np.eye(k)) * float(spread(rng, 1)[0]))


def classifier(rng):
    change = choose(rng, "none", *CHANGES)
    where = choose(rng, "predict", "predict_proba", "decision_function", "classes_")
    tree = DecisionTreeClassifier(max_depth=2)
    return choose(rng, None, None, OddClassifier(change, where), GaussianNB(), tree)


def growth(rng):
    return {
        "max_depth": choose(rng, 1, 2, 5, None),
        "max_leaf_nodes": choose(rng, None, 2, 7),
        "min_samples_leaf": choose(rng, 1, 1, 3, 10**6),
        "max_features": choose(rng, None, "sqrt", 1, 0.5),
        "max_bins": choose(rng, 2, 3, 255),
        "subsample": choose(rng, 1.0, 0.5, 1e-9),
        "n_jobs": choose(rng, None, 2),
        "random_state": 0,
        "n_estimators": int(rng.integers(1, 6)),
    }


def boosted(rng):
    odd = odd_function(choose(rng, *CHANGES))
    RULES["odd"] = Rule("odd", "nobody", many_classes=True, **{choose(rng, *PLACES): odd})
    change = choose(rng, "none", *CHANGES)
    return CostBoostClassifier(
        choose(rng, "auto", "odd", *RULES),
        estimator=classifier(rng),
        votes=choose(rng, "auto", "discrete", "real", "gentle", "confidence"),
        alpha=choose(rng, "published", "search"),
        learning_rate=choose(rng, 1.0, 0.1, 1e-300, 50.0),
        calibration=choose(rng, "auto", None, None, "isotonic", "beta"),
        beta=choose(rng, None, lambda s, c: CHANGES[change](0.5 - 0.5 * s * c)),
        objective=choose(rng, "adac1", lambda at: [CHANGES[change](at.sign * at.cost), 0, 1]),
        **growth(rng),
    )


def pnorm(rng):
    return PNormBoostClassifier(
        choose(rng, 1.0, 2.0, 3.5, 50.0),
        method=choose(rng, *METHODS),
        step=choose(rng, "harmonic", "average", "bound", "search"),
        estimator=classifier(rng),
        **growth(rng),
    )


def gradient(rng):
    odd = OddLoss(choose(rng, *CHANGES), choose(rng, "value", "gradient", "hessian"), True)
    change = choose(rng, "none", *CHANGES)
    return GradientBoostClassifier(
        loss=choose(rng, "log", "exponential", "cost-exponential", "expected-cost", odd),
        step=choose(rng, "auto", "newton", "exact", "line-search"),
        objective=choose(rng, "cgada", lambda at: [CHANGES[change](at.sign * at.cost), 0, 1]),
        estimator=choose(rng, None, None, OddRegressor(change), DecisionTreeRegressor(max_depth=2)),
        init=choose(rng, None, "zero", OddClassifier(change, "predict_proba")),
        learning_rate=choose(rng, 0.1, 1.0, 1e-300, 50.0),
        l2_regularization=choose(rng, 0.0, 1.0, 1e300),
        calibration=choose(rng, None, None, "sigmoid"),
        **growth(rng),
    )


def regressor(rng):
    odd = OddLoss(choose(rng, *CHANGES), choose(rng, "value", "gradient", "hessian"))
    change = choose(rng, "none", *CHANGES)
    return GradientBoostRegressor(
        loss=choose(rng, "squared", "absolute", "huber", "pinball", odd),
        over=choose(rng, 1.0, 1e-300, 1e300),
        under=choose(rng, 1.0, 1e-300, 1e300),
        step=choose(rng, "auto", "newton", "exact", "line-search"),
        estimator=choose(rng, None, None, OddRegressor(change), DecisionTreeRegressor(max_depth=2)),
        init=choose(rng, None, "zero", OddRegressor(change)),
        learning_rate=choose(rng, 0.1, 1.0, 1e-300, 50.0),
        l2_regularization=choose(rng, 0.0, 1.0, 1e300),
        **growth(rng),
    )


def wrapped(rng):
    inner = classifier(rng) or LogisticRegression()
    few = {"random_state": 0, "n_estimators": 2}
    return choose(
        rng,
        MinimumCostClassifier(inner, calibration=choose(rng, "sigmoid", "beta", None), cv=2),
        CostingClassifier(inner, **few),
        MetaCostClassifier(inner, **few),
    )


# --- a run


def run(number):
    rng = np.random.default_rng(number)
    n = int(choose(rng, 1, 2, 3, 12, 40, 150))
    X = table(rng, n)
    model = choose(rng, boosted, boosted, pnorm, gradient, regressor, wrapped)(rng)
    given = {"sample_weight": weights(rng, n)}
    if isinstance(model, GradientBoostRegressor):
        y = rng.normal(size=n) * choose(rng, 1.0, 1e-300, 1e149, 1e308)
    else:
        y = labels(rng, n)
        given["costs"] = prices(rng, n, y)
    model.fit(X, y, **given)
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)
    return model.predict(X)


def is_outsiders(error):
    """Whether scikit-learn's own learners raised an error; theirs are not ours to word."""
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    ours = max(i for i, file in enumerate(files) if "costboost" in file or "test_fuzz" in file)
    return any("sklearn" in file for file in files[ours + 1 :])


@pytest.mark.parametrize("part", range(PARTS))
def test_every_run_ends_well(part, monkeypatch):
    monkeypatch.setitem(RULES, "odd", RULES["adaboost"])  # put back afterwards, whatever it is
    for number in range(part, RUNS, PARTS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("ignore", RuntimeWarning)  # of overflow, also in learners
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                answers = run(number)
            except ValueError:
                continue
            except Exception as error:
                if is_outsiders(error):
                    continue
                raise AssertionError(f"run({number}) ended in {error!r}") from error
        assert np.isfinite(answers).all(), f"run({number}) answered what is not finite"


# --- numbers of any size


def decades(rng, n=None):
    """Numbers between two powers of ten that are drawn."""
    low, high = sorted(rng.uniform(-300, 300, 2))
    return 10.0 ** rng.uniform(low, choose(rng, high, min(low + 3, high)), n)


def by_decades(number):
    """A small table, and a model of it; prices, targets and weights of any size."""
    rng = np.random.default_rng(number)
    n = int(rng.integers(8, 61))
    X = rng.normal(size=(n, int(rng.integers(1, 4)))).round(int(choose(rng, 0, 1, 9)))
    weights = choose(rng, None, decades(rng, n), np.full(n, decades(rng)))
    given = {"sample_weight": weights}
    growth = {
        "max_depth": choose(rng, 1, 2, 4),
        "min_samples_leaf": choose(rng, 1, 3),
        "n_estimators": int(rng.integers(1, 6)),
        "random_state": 0,
    }
    if rng.random() < 0.3:
        loss = choose(rng, "squared", "absolute", "huber", "pinball")
        if loss == "pinball":
            given |= {name: decades(rng, choose(rng, 1, n)) * np.ones(n) for name in PRICES}
        model = GradientBoostRegressor(
            loss,
            delta=choose(rng, None, decades(rng)),
            step=choose(rng, "exact", "line-search"),
            init=choose(rng, None, "zero"),
            l2_regularization=choose(rng, 0.0, 1.0, decades(rng)),
            **growth,
        )
        y = rng.normal(size=n) * choose(rng, 1.0, decades(rng), decades(rng, n))
        return model, X, np.clip(y, -1e150, 1e150), given
    k = choose(rng, 2, 2, 2, 3, 4)
    y = np.r_[0:k, 0:k, rng.integers(0, k, n - 2 * k)]
    cells = decades(rng, choose(rng, 1, n) * k * k).reshape(-1, k, k) * (1 - np.eye(k))
    given["costs"] = Costs.from_matrix(np.broadcast_to(cells, (n, k, k)) if n > 1 else cells)
    calibration = choose(rng, None, None, "sigmoid", "sigmoid-brier", "beta", "isotonic")
    growth |= {"calibration": calibration, "cv": 2}
    kind = rng.integers(4)
    if kind == 0:
        p, method = choose(rng, 1.0, 2.0, 3.5), choose(rng, *METHODS)
        return PNormBoostClassifier(p, method=method, **growth), X, y, given
    if kind == 1:
        method = choose(
            rng, "auto", *(name for name in RULES if k == 2 or RULES[name].many_classes)
        )
        alpha = choose(rng, "published", "search")
        return CostBoostClassifier(method, alpha=alpha, **growth), X, y, given
    model = GradientBoostClassifier(
        choose(rng, "log", "exponential", "expected-cost", *["cost-exponential"] * 3),
        objective=choose(rng, "asymboost", "adac1", "adacost", "cgada", "adaboost"),
        step=choose(rng, "newton", "exact", "line-search"),
        init=choose(rng, None, "zero"),
        l2_regularization=choose(rng, 0.0, 1.0, decades(rng)),
        **growth,
    )
    if k == 2 and model.loss == "cost-exponential" and rng.random() < 0.4:
        a, w0 = choose(rng, decades(rng, n), np.ones(n)), choose(rng, decades(rng, n), np.ones(n))
        model.objective = (a * (2 * y - 1), np.zeros(n), w0)
    return model, X, y, given


@pytest.mark.parametrize("numbers", [KNOWN, range(40)], ids=["known", "drawn"])
def test_numbers_of_any_size_stay_numbers(numbers):
    """Prices, targets and weights over 600 decades: no overflow, and no NaN on the way."""
    for number in numbers:
        model, X, y, given = by_decades(number)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", UserWarning)
            try:
                model.fit(X, y, **given)
                answers = getattr(model, "predict_proba", model.predict)(X)
            except ValueError:
                continue
            except Exception as error:
                raise AssertionError(f"by_decades({number}) ended in {error!r}") from error
        assert np.isfinite(answers).all(), f"by_decades({number}) answered what is not finite"
