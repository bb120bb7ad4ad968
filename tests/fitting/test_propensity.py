"""Rows of which only some have a label: weighted, so that they stand for all."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import costboost
from costboost import (
    CostBoostClassifier,
    Costs,
    GradientBoostClassifier,
    PNormBoostClassifier,
    estimate_propensity,
)
from costboost.metrics import mean_cost

MODELS = [
    CostBoostClassifier("cgada", n_estimators=5, random_state=0),
    GradientBoostClassifier(n_estimators=5, random_state=0),
    PNormBoostClassifier(n_estimators=5, random_state=0),
]


def draw(seed=0, n=600):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    chance = np.clip(expit(1 - X[:, 1]), 0.05, 1)
    return X, y, chance, rng.uniform(size=n) < chance


X, Y, CHANCE, MASK = draw()
AMOUNT = np.linspace(1, 9, 600)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_a_fit_of_the_labelled_rows_by_hand(model, weighted):
    own = np.random.default_rng(1).integers(1, 4, 600) if weighted else None
    costs = Costs(fp=AMOUNT, fn=3)
    model.fit(X, Y, own, costs, labelled=MASK, propensity=CHANCE)
    got = model.predict_proba(X)
    inverse = 1 / CHANCE[MASK]
    weights = inverse / inverse.mean() * (own[MASK] if weighted else 1)
    expected = model.fit(X[MASK], Y[MASK], weights, costs[MASK]).predict_proba(X)
    np.testing.assert_array_equal(got, expected)


def test_what_stands_for_missing_labels_does_not_matter():
    model = GradientBoostClassifier(n_estimators=5, random_state=0)
    expected = model.fit(X, Y, labelled=MASK, propensity=CHANCE).predict_proba(X)
    gone = np.where(MASK, Y, np.nan)
    nothing = np.array([y if m else None for y, m in zip(Y, MASK, strict=True)], dtype=object)
    for y in (gone, nothing, pd.Series(gone), np.where(MASK, Y, 7)):
        found = model.fit(X, y, labelled=MASK, propensity=CHANCE)
        assert found.classes_.tolist() == [0, 1]
        assert found.classes_.dtype.kind == "i"
        np.testing.assert_array_equal(found.predict_proba(X), expected)
    names = np.array(["good", "bad"], dtype=object)[Y]
    names[~MASK] = None
    found = model.fit(X, names, labelled=MASK, propensity=CHANCE)
    np.testing.assert_allclose(found.predict_proba(X)[:, ::-1], expected, rtol=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda a: pd.DataFrame(a, columns=list("abc"), index=np.arange(600) + 7),
        lambda a: pl.DataFrame(a, schema=list("abc")),
        sparse.csr_matrix,
        lambda a: a.tolist(),
    ],
)
def test_tables_of_all_kinds(make):
    model = GradientBoostClassifier(n_estimators=3, random_state=0)
    expected = model.fit(X, Y, labelled=MASK, propensity=CHANCE).predict_proba(X)
    table = make(X)
    found = model.fit(table, Y, labelled=MASK, propensity=CHANCE).predict_proba(table)
    np.testing.assert_array_equal(found, expected)
    estimated = model.fit(table, Y, labelled=MASK)
    assert 0 < estimated.effective_rows_ < MASK.sum()


def test_effective_rows_are_kish_s():
    model = MODELS[1].fit(X, Y, labelled=MASK, propensity=CHANCE)
    inverse = 1 / CHANCE[MASK]
    assert model.effective_rows_ == pytest.approx(inverse.sum() ** 2 / (inverse**2).sum())
    assert not hasattr(model.fit(X, Y), "effective_rows_")
    equal = model.fit(X, Y, labelled=MASK, propensity=np.full(600, 0.3))
    assert equal.effective_rows_ == pytest.approx(MASK.sum())
    tiny = np.where(np.arange(600) == np.argmax(MASK), 0.001, 1.0)
    with pytest.warns(UserWarning, match="count as .* of equal weight"):
        model.fit(X, Y, labelled=MASK | (np.arange(600) < 9), propensity=tiny)


def test_small_chances_are_clipped():
    tiny = CHANCE.copy()
    tiny[np.argmax(MASK)] = 1e-6
    clipped = np.maximum(tiny, 0.02)
    model = GradientBoostClassifier(n_estimators=3, random_state=0)
    got = model.fit(X, Y, labelled=MASK, propensity=tiny).predict_proba(X)
    expected = model.fit(X, Y, labelled=MASK, propensity=clipped).predict_proba(X)
    np.testing.assert_array_equal(got, expected)


def test_estimates_are_out_of_fold_and_near_the_truth():
    rng = np.random.default_rng(0)
    table = rng.uniform(size=(4000, 2))
    chance = 0.1 + 0.8 * table[:, 0]
    labelled = rng.uniform(size=4000) < chance
    found = estimate_propensity(table, labelled)
    assert np.mean(np.abs(found - chance)) < 0.04
    # Of noise, a tree of rows that it has seen would tell all labelled ones apart.
    noise = rng.permutation(labelled)
    grown = estimate_propensity(table, noise, estimator=DecisionTreeClassifier(random_state=0))
    assert abs(grown[noise].mean() - grown[~noise].mean()) < 0.1
    assert np.mean(np.abs(estimate_propensity(table, noise) - labelled.mean())) < 0.06
    own = estimate_propensity(table, labelled, estimator=LogisticRegression(), clip=0.3)
    assert own.min() == 0.3
    named = pd.DataFrame({"x": table[:, 0], "kind": np.where(table[:, 1] > 0.5, "a", "b")})
    words = estimate_propensity(named, labelled, groups=np.arange(4000) // 2)
    assert np.mean(np.abs(words - chance)) < 0.05


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_accepted_rows_alone_mislead_and_weights_mend_it(model):
    # A clerk hears what no column shows: whoever sounds risky is declined more often.
    rng = np.random.default_rng(2)
    heard, columns = rng.normal(size=8000), rng.normal(size=(8000, 2))
    y = (rng.uniform(size=8000) < expit(columns[:, 0] - 1 + 2 * heard)).astype(int)
    chance = np.clip(expit(0.5 - 2 * heard), 0.05, 1.0)
    mask = rng.uniform(size=8000) < chance
    costs = {"fp": 1, "fn": 5}
    model = clone(model).set_params(n_estimators=20)
    new = rng.normal(size=(8000, 2))
    truth = (rng.uniform(size=8000) < expit(new[:, 0] - 1 + 2 * rng.normal(size=8000))).astype(int)

    def bill(*given, **how):
        model.fit(*given, costs=costs, **how)
        return mean_cost(truth, model.predict(new), costs=costs)

    every = bill(columns, y)
    alone = bill(columns[mask], y[mask])
    weighted = bill(columns, y, labelled=mask, propensity=chance)
    assert alone > 1.1 * every
    assert weighted < every + 0.5 * (alone - every)


def test_it_is_routed_as_costs_are():
    model = GradientBoostClassifier(n_estimators=3, random_state=0)
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), model)
        pipeline.fit(X, Y, labelled=MASK, propensity=CHANCE, costs=Costs(fp=AMOUNT, fn=2))
        found = cross_validate(
            pipeline, X, Y, params={"labelled": MASK, "propensity": CHANCE}, return_estimator=True
        )
    assert pipeline[-1].effective_rows_ < MASK.sum()
    for fold in found["estimator"]:
        assert 0 < fold[-1].effective_rows_ < MASK.sum()


def test_files_keep_it(tmp_path):
    model = GradientBoostClassifier(n_estimators=3, random_state=0)
    model.fit(X, Y, labelled=MASK, propensity=CHANCE)
    costboost.save(model, tmp_path / "m.cb")
    assert costboost.load(tmp_path / "m.cb").effective_rows_ == model.effective_rows_


WRONG = {
    "no mask": ({"propensity": CHANCE}, "give labelled= as well"),
    "short mask": ({"labelled": MASK[:5]}, "yes or no for each of the 600 rows"),
    "mask values": ({"labelled": Y + 1}, "True and False"),
    "nobody": ({"labelled": MASK & False}, "labelled names no row"),
    "one class": ({"labelled": Y == 1, "propensity": CHANCE}, "1 class only"),
    "word": ({"labelled": MASK, "propensity": "auto"}, "'estimate'"),
    "short": ({"labelled": MASK, "propensity": CHANCE[MASK]}, "with and without a label"),
    "above 1": ({"labelled": MASK, "propensity": 2 * CHANCE}, "lies between 0 and 1"),
    "negative": ({"labelled": MASK, "propensity": -CHANCE}, "lies between 0 and 1"),
    "missing": ({"labelled": MASK, "propensity": CHANCE * np.nan}, "propensity"),
    "what came": ({"labelled": MASK, "propensity": 1.0 - MASK}, "chances before the draw"),
    "a few": ({"labelled": np.arange(600) > 2}, "fewer than 5 folds"),
    "weights": ({"labelled": MASK, "sample_weight": -CHANCE}, "sample_weight"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_inputs_say_what_to_do(name):
    how, said = WRONG[name]
    with pytest.raises(ValueError, match=said):
        GradientBoostClassifier(n_estimators=2).fit(X, Y, **how)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"cv": 1}, "cv=1"),
        ({"clip": 0}, "clip=0"),
        ({"clip": 2}, "clip=2"),
        ({"estimator": LogisticRegression}, "is a class"),
        ({"random_state": "now"}, "random_state='now'"),
    ],
)
def test_wrong_estimates(how, said):
    with pytest.raises(ValueError, match=said):
        estimate_propensity(X, MASK, **how)


def test_labels_that_are_missing_where_they_should_not_be():
    y = np.where(MASK, Y, np.nan)
    y[np.argmax(MASK)] = np.nan
    with pytest.raises(ValueError, match=r"NaN|missing"):
        GradientBoostClassifier(n_estimators=2).fit(X, y, labelled=MASK, propensity=CHANCE)
    with pytest.raises(ValueError, match="600 rows"):
        GradientBoostClassifier(n_estimators=2).fit(X, Y[:9], labelled=MASK, propensity=CHANCE)
