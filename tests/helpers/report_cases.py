"""Reports of every kind of model and prices, small enough to be made in a second each."""

import base64
import json
import re
import zlib
from functools import cache

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from costboost import (
    CostBoostClassifier,
    Costs,
    GradientBoostClassifier,
    MetaCostClassifier,
    MinimumCostClassifier,
    RateClassifier,
    make_report,
)
from costboost.datasets import make_card_fraud
from costboost.decisions import Parity
from costboost.report.rows import PageRows, read_prices

FRAUD = {"fp": 8, "tp": 8, "fn": "amount"}


@cache
def fraud_model():
    data = make_card_fraud(4000, fraud_rate=0.05)
    return CostBoostClassifier("adamec", max_depth=2, n_estimators=30, random_state=0).fit(
        data.X, data.y
    )


def fraud_rows(n=1500, seed=1):
    data = make_card_fraud(n, fraud_rate=0.05, random_state=seed)
    return data.X, data.y


def by_row():
    X, y = fraud_rows()
    days = np.arange(len(y)) // 150
    large = (np.asarray(X["amount"]) > 150).astype(int)
    return make_report(
        fraud_model(), X, y, costs=FRAUD, current=large, time=days, groups=["merchant"],
        currency="EUR", names={0: "honest", 1: "fraud"}, title="Which payments?", rows=True,
        promise=0.95, cap=5000, parity=Parity("channel", of="blocked", within=0.01),
        swap={"a rule by amount": large, "other prices": Costs(fp=20, tp=20, fn="amount")},
    )  # fmt: skip


def weighted():
    X, y = fraud_rows(700, 2)
    weight = np.random.RandomState(0).choice([0.5, 1.0, 2.25], len(y))
    prices = np.random.RandomState(1).gamma(2.0, 9.0, (2, len(y)))  # no whole cents
    costs = Costs(fp=prices[0], fn=10 * prices[1], tp=prices[0], tn=0.25)
    return make_report(fraud_model(), X, y, costs=costs, sample_weight=weight)


def constant():
    X, y = load_breast_cancer(return_X_y=True)
    labels = np.where(y == 0, "malignant", "benign")
    model = GradientBoostClassifier(n_estimators=30, random_state=0).fit(X[::2], labels[::2])
    costs = Costs(fp=1, fn=12, positive="malignant")  # the second of the classes
    return make_report(model, X[1::2], labels[1::2], costs=costs, currency="$")


def first_is_positive():
    X, y = load_breast_cancer(return_X_y=True)
    labels = np.where(y == 0, "bad", "good")
    model = CostBoostClassifier(n_estimators=30, random_state=0).fit(
        X[::2], labels[::2], costs=Costs(fp=1, fn=12, positive="bad")
    )
    return model.report(X[1::2], labels[1::2])


def benefits():
    X, y = fraud_rows(800, 6)
    amount = np.asarray(X["amount"])
    costs = Costs(fp=8, fn=4, tp=8 - amount, tn=-0.5, benefits=True)  # what is stopped is earned
    return make_report(fraud_model(), X, y, costs=costs, currency="CHF")


def three_classes():
    X, y = load_wine(return_X_y=True)
    names = np.array(["red", "rose", "white"])[y]
    model = CostBoostClassifier("adamec", n_estimators=20, random_state=0)
    model.fit(X[::2], names[::2])
    dear = Costs.from_matrix([[0, 2, 9], [3, 0, 1], [4, 5, 0]], classes=["red", "rose", "white"])
    return make_report(model, X[1::2], names[1::2], costs=dear)


GRADES = ["very poor indeed", "poor", "ok", "good", "excellent"]  # not the order of the alphabet


def five_classes():
    rng = np.random.default_rng(0)
    quality = rng.normal(size=600)
    grade = np.digitize(quality + 0.6 * rng.normal(size=600), [-1, -0.3, 0.3, 1])
    homes = np.array(["own", "rent", "mortgage", "a rather long name of a category"])
    X = pd.DataFrame({"quality": quality, "Home": homes[rng.integers(0, 4, 600)]})
    y = np.array(GRADES)[grade]
    apart = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    costs = Costs.from_matrix(12_345.5 * apart**2, classes=GRADES)
    model = CostBoostClassifier("adamec", n_estimators=10, random_state=0).fit(X[:300], y[:300])
    return make_report(
        model, X[300:], y[300:], costs=costs, currency="EUR", time=np.arange(300) // 30, rows=True
    )


def actions():
    X, y = fraud_rows(900, 3)
    prices = {
        "approve": {0: 0, 1: "amount"},
        "review": 3,
        "decline": {0: lambda X: 0.1 * X["amount"], 1: 0},
    }
    today = np.where(np.asarray(X["amount"]) > 300, "review", "approve")
    return make_report(
        fraud_model(), X, y, costs=Costs.of_actions(prices), current=today, groups=["channel"]
    )


def wrapped():
    X, y = load_breast_cancer(return_X_y=True)
    model = MinimumCostClassifier(make_pipeline(StandardScaler(), LogisticRegression()), cv=3)
    model.fit(X[::2], y[::2], costs={"fp": 5, "fn": 1})
    return model.report(X[1::2], y[1::2])


def rated():
    X, y = load_breast_cancer(return_X_y=True)
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    model = RateClassifier(inner, {0: 0.2}, random_state=0).fit(X[::2], y[::2])
    return model.report(X[1::2], y[1::2], costs={"fp": 2, "fn": 1})


def fixed():
    X, y = load_breast_cancer(return_X_y=True)
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    model = MetaCostClassifier(inner, random_state=0, n_estimators=5)
    model.fit(X[::2], y[::2], costs={"fp": 5, "fn": 1})
    return model.report(X[1::2], y[1::2], costs={"fp": 7, "fn": 1})


CASES = {
    case.__name__: cache(case)
    for case in (
        by_row, weighted, benefits, constant, first_is_positive, three_classes, five_classes,
        actions, wrapped, rated, fixed,
    )
}  # fmt: skip


def draw_values(rows, rng):
    """Draw values of the cells over decades, some of them nothing, some equal."""
    shape = rows.prices.values.shape
    values = 10.0 ** rng.uniform(-2, 3, shape)
    values = np.where(rows.prices.column_of >= 0, 10.0 ** rng.uniform(-1.5, 1.5, shape), values)
    values = np.where(rng.random_sample(shape) < 0.25, 0.0, np.round(values, rng.randint(4)))
    if rng.random_sample() < 0.3:
        values[:, -1] = values[0, -1]
    if not values.any():
        values[0, -1] = 1.0
    return values


def data_of(report):
    """What the script of a page is given, besides its rows."""
    found = re.search(r'<script type="application/json" id="page">(.*?)</script>', report.html)
    return json.loads(found[1])


def text_of(report):
    """The words of a page, without its tags."""
    return re.sub(r"<[^>]+>", " ", report.html)


def many(n, n_classes, seed=0):
    """Rows of random probabilities, every one with prices of its own."""
    rng = np.random.RandomState(seed)
    proba = rng.dirichlet(np.full(n_classes, 0.3), n)
    truth = rng.randint(n_classes, size=n)
    C = rng.gamma(2.0, 5.0, (n, n_classes, n_classes))
    costs = Costs.from_matrix(C).bind(np.arange(n_classes), n)
    return PageRows(bound=costs, prices=read_prices(costs), proba=proba, truth=truth)


def two_class_rows(proba, truth, costs=None, **given):
    """Rows of the classes 0 and 1, from the probability of 1."""
    truth = np.asarray(truth, dtype=np.int64)
    bound = (costs or Costs(fp=1, fn=10)).bind([0, 1], len(truth))
    both = np.column_stack([1 - np.asarray(proba), np.asarray(proba)])
    return PageRows(bound=bound, prices=read_prices(bound), proba=both, truth=truth, **given)


def unpack(text, heads, n_rows):
    """Return the arrays of a page: what its JavaScript reads."""
    body = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype=np.uint8)
    arrays, at = {}, 0
    for head in heads:
        size = head["planes"] * n_rows
        table = np.zeros((n_rows, 8), dtype=np.uint8)
        table[:, : head["planes"]] = body[at : at + size].reshape(-1, n_rows).T
        arrays[head["name"]] = restore(head, table.view("<u8")[:, 0])
        at += size
    return arrays


def restore(head, whole):
    """Return one array of a page, by its whole numbers."""
    if head["kind"] == "whole":
        return np.asarray((whole.astype(np.float64) - head["offset"]) / head["divisor"])
    bits = np.cumsum(whole, dtype=np.uint64) if head["kind"] == "sorted" else whole
    return np.asarray(bits.view(np.float64))
