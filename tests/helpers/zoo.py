"""One fitted model of every kind that can be kept, small: name -> (model, table to predict)."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold

import costboost as cb
from costboost.boosting.adaboost.rules import RULES
from costboost.calibration import CALIBRATORS
from costboost.costs import expression
from costboost.estimators.pnorm import PNormBoostClassifier

SMALL = {"n_estimators": 6, "random_state": 0}
LABELS = {
    "int": np.array([-3, 8, 70]),
    "uint8": np.array([0, 1, 255], dtype=np.uint8),
    "bool": np.array([False, True]),
    "float": np.array([0.0, 1.0, 3.0]),
    "float32": np.array([0.0, 1.0], dtype=np.float32),
    "str": np.array(["bad", "good", "so-so \N{SNOWMAN}"]),
    "object": np.array(["bad", "good", "so-so"], dtype=object),
}


@cache
def table(n_classes=2, n_rows=160):
    """Numbers with missing values and infinities, and class numbers that depend on them."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n_rows, 4))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=n_rows), np.linspace(-0.7, 0.7, n_classes - 1))
    if n_classes == 2:
        y = (X[:, 0] + X[:, 1] + 0.7 * rng.normal(size=n_rows) > 0).astype(int)
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    X[3, 2], X[4, 2] = np.inf, -np.inf
    return X, y


@cache
def frame(n_rows=160):
    """Columns of numbers, text, numbers that are categories, and dates nobody looks at."""
    rng = np.random.default_rng(9)
    town = rng.choice(
        ["Ulm", "Bern", "Sao Paulo", "\N{LATIN SMALL LETTER O WITH STROKE}", ""], n_rows
    )
    X = pd.DataFrame(
        {
            "amount": rng.lognormal(3, 1, n_rows),
            "town": pd.Series(town, dtype="object").where(rng.uniform(size=n_rows) > 0.1, None),
            "shop": pd.Categorical(rng.integers(0, 40, n_rows)),
            "age": rng.integers(18, 90, n_rows).astype(float),
        }
    )
    risk = (town == "Ulm") + (X["shop"].cat.codes % 3 == 0) + X["age"] / 90
    y = np.where(risk + 0.4 * rng.normal(size=n_rows) > 1.2, "fraud", "fine")
    return X, y


@cache
def many_levels(n_classes=2, n_rows=800):
    """Text and numbers of more levels than are told apart, both of which matter."""
    rng = np.random.default_rng(11)
    shop, code, x = (
        rng.integers(60, size=n_rows),
        rng.integers(50, size=n_rows),
        rng.normal(size=n_rows),
    )
    score = 2 * rng.normal(size=60)[shop] + 2 * rng.normal(size=50)[code] + x
    X = pd.DataFrame({"shop": [f"shop {s}" for s in shop], "code": code * 1.5, "x": x})
    X.loc[:9, "shop"], X.loc[5:20, "code"] = None, np.nan
    return X, np.digitize(score + rng.normal(size=n_rows), np.arange(n_classes - 1.0))


def quiet_fit(model, X, y, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # methods that end early, or classes of few rows
        return model.fit(X, y, **params)


def frozen(tree, X, y):
    inner = FrozenEstimator(quiet_fit(tree, X, y))
    return cb.MinimumCostClassifier(inner, calibration="isotonic")


def makers():
    """Yield (name, function that fits a model and returns it with its table)."""

    def on(model, X, y, **params):
        return lambda: (quiet_fit(model, X, y, **params), X)

    (X, y), (X3, y3), (F, labels) = table(), table(3), frame()
    prices = {"fp": 1, "fn": 4}
    amounts = cb.Costs(fp=5, fn=F["amount"].to_numpy(), positive="fraud")
    C = np.array([[0, 1, 2], [5, 0, 1], [9, 3, 0]])
    boost = cb.CostBoostClassifier
    for name in RULES:
        yield name, on(boost(name, **SMALL), X, y, costs=prices)
        if RULES[name].many_classes:
            yield f"{name} of 3", on(boost(name, **SMALL), X3, y3, costs=C)
    yield "auto", on(boost(n_estimators=20, random_state=0, cv=3), X, y, costs=prices)
    yield "auto of 3", on(boost(n_estimators=20, random_state=0, cv=3), X3, y3, costs=C)
    yield "auto of a frame", on(boost(n_estimators=20, random_state=1), F, labels, costs=amounts)
    by_target = {"categorical_features": ["shop", "code"], "target_encoding": True, **SMALL}
    for k in (2, 3):
        M, m = many_levels(k)
        yield f"many levels of {k}", on(boost("adamec", **by_target), M, m)
    yield "many levels and stumps", on(boost("adaboost", max_depth=1, **by_target), *many_levels())
    yield "stumps", on(boost("adaboost", max_depth=1, **SMALL), F, labels)
    yield "nothing learnt", on(boost("adaboost", **SMALL), np.ones((20, 2)), [0, 1] * 10)
    for name in filter(None, CALIBRATORS):
        model = boost("adaboost", calibration=name, cv=2, **SMALL)
        yield f"calibrated by {name}", on(model, X, y)
        model = boost("adaboost", calibration=name, cv=0.3, **SMALL)
        many = "bias-corrected" if name == "bias-corrected" else name
        yield f"3 classes calibrated by {many}", on(model, X3, y3, costs=C)
    for name, classes in LABELS.items():
        given = classes[y3 % len(classes)] if len(classes) == 3 else classes[y]
        table_of = X3 if len(classes) == 3 else X
        yield f"labels: {name}", on(boost("adamec", **SMALL), table_of, given)
    yield "real adamec", on(boost("adamec", votes="real", calibration=None, **SMALL), X, y)
    yield "shares", on(boost("adamec", calibration=None, **SMALL), X, y, costs=prices)
    yield "shares of 3", on(boost("adamec", calibration=None, **SMALL), X3, y3, costs=C)
    yield "real votes", on(boost("adaboost", votes="real", max_depth=2, **SMALL), X, y)
    yield "stopped", on(boost("csada", 30, n_iter_no_change=2, random_state=0), X, y, costs=prices)
    yield "warm", on(boost("adaboost", warm_start=True, **SMALL), X, y)
    cv = StratifiedKFold(3, shuffle=True, random_state=np.random.RandomState(7))
    yield "splitter", on(boost("cgada", 5, cv=cv, random_state=np.random.RandomState(3)), X, y)
    yield "costs of its own", on(boost("adac2", costs=cb.Costs(fp=1, fn=3), **SMALL), X, y)
    by_column = cb.Costs(fp=5, fn=expression("max(amount - 3, 1)"), tp="amount", positive="fraud")
    yield "costs by column", on(boost("adamec", costs=by_column, cv=2, **SMALL), F, labels)
    gradient = cb.GradientBoostClassifier
    for loss in ("log", "exponential", "cost-exponential", "expected-cost"):
        yield f"gradient {loss}", on(gradient(loss, **SMALL), X, y, costs=prices)
        yield f"gradient {loss} of 3", on(gradient(loss, **SMALL), X3, y3, costs=C)
    yield "gradient of a frame", on(gradient(calibration="beta", cv=2, **SMALL), F, labels)
    cst = {"monotonic_cst": [1, 0, 0, -1]}
    yield "gradient monotone", on(gradient(**cst, **SMALL), X, y)
    target = np.nan_to_num(X[:, 0]) * 3 + y
    for loss in ("squared", "absolute", "huber", "pinball"):
        yield f"regressor {loss}", on(cb.GradientBoostRegressor(loss, **SMALL), X, target)
    numbers = cb.MinimumCostRegressor(cb.GradientBoostRegressor(**SMALL), cv=2, random_state=0)
    yield "minimum cost of numbers", on(numbers, X, target)
    for method in ("lp-csb", "lp-csb-pa", "lp-csb-a", "dse", "gbse", "average-cost", "adaboost.m2"):
        yield f"p-norm {method}", on(PNormBoostClassifier(2, method, **SMALL), X3, y3, costs=C)
    yield "p-norm of two", on(PNormBoostClassifier(calibration="sigmoid", cv=2, **SMALL), X, y)
    tree = boost("adaboost", 3, random_state=0)
    yield "minimum cost", on(cb.MinimumCostClassifier(tree, cv=2, random_state=0), X3, y3, costs=C)
    yield "frozen", lambda: on(frozen(tree, X, y), X, y)()
    yield "metacost", on(cb.MetaCostClassifier(tree, 2, random_state=0), X3, y3, costs=C)
    yield "costing", on(cb.CostingClassifier(tree, 3, random_state=0), X, y, costs=prices)
    lone = np.array([0] * 159 + [1])
    yield (
        "costing constants",
        on(cb.CostingClassifier(tree, 3, random_state=0), X, lone, costs={"fp": 99, "fn": 1}),
    )
    rates = {1: 0.2, 0: 0.9}
    yield "rate", on(cb.RateClassifier(tree, rates, cv=2, random_state=0), X, y, costs=prices)
    kept = cb.GuaranteedClassifier(tree, 100, defer=2, cv=0.3, cap=100, random_state=0)
    yield "guaranteed", on(kept, X, y, costs=prices)
    alike = cb.ParityClassifier(tree, cv=2, random_state=0)
    yield "parity", on(alike, X, y, costs=prices)
    columns = cb.CostColumns(tree, costs=by_column, drop=["amount"])
    yield "cost columns", on(columns, F, labels)
    sets = {"first": (X, y), "second": (X[:50], y[:50])}
    for kind, model in {
        "adaboost": boost("adaboost", n_iter_no_change=3, **SMALL),
        "calibrated": boost("adamec", n_iter_no_change=3, cv=2, **SMALL),
        "gradient": gradient(n_iter_no_change=3, **SMALL),
        "p-norm": PNormBoostClassifier(n_iter_no_change=3, **SMALL),
    }.items():
        yield f"eval sets of {kind}", on(model, X, y, eval_set=sets)
    regressor = cb.GradientBoostRegressor(n_iter_no_change=3, **SMALL)
    held_out = {"first": (X, target), "second": (X[:50], target[:50])}
    yield "eval sets of a regressor", on(regressor, X, target, eval_set=held_out)


MAKERS = dict(makers())


@cache
def fitted(name):
    """Return the model of that name, and a table for it."""
    return MAKERS[name]()
