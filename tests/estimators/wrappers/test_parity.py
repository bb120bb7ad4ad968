"""Rates that are alike, row by row, at prices of groups."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import costboost as cb
from costboost import Costs, ParityClassifier
from costboost.decisions import Parity


@parametrize_with_checks([ParityClassifier(LogisticRegression(), cv=2, random_state=0)])
@pytest.mark.filterwarnings("ignore")  # the checks' own tiny tables
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def table(n, seed):
    generator = np.random.default_rng(seed)
    X = pd.DataFrame(generator.normal(size=(n, 3)), columns=list("abc"))
    X["region"] = generator.choice([0, 1, 2], n, p=[0.6, 0.3, 0.1])
    y = (X["a"] + 0.6 * X["region"] + generator.normal(size=n) > 1.5).astype(int)
    return X, y.to_numpy()


@pytest.mark.parametrize("names", [(0, 1), ("good", "bad")])
@pytest.mark.parametrize("of", ["rate", "blocked", "missed"])
def test_rates_of_new_rows_are_alike(of, names):
    X, y = table(6000, 0)
    X_new, y_new = table(20_000, 1)
    costs = Costs(fp=3, fn=9, positive=None if names == (0, 1) else names[1])
    named = np.array(names)
    inner = LogisticRegression()
    rates = {}
    for within in (1.0, 0.02):
        parity = Parity("region", of=of, within=within)
        model = ParityClassifier(inner, parity, costs=costs, cv=3, random_state=0)
        decided = model.fit(X, named[y]).predict(X_new) == names[1]
        counted = np.ones(len(y_new), dtype=bool)
        if of != "rate":
            counted = y_new == (1 if of == "missed" else 0)
        hit = ~decided if of == "missed" else decided
        rates[within] = [np.mean(hit[counted & (X_new["region"] == g)]) for g in (0, 1, 2)]
    assert np.ptp(rates[1.0]) > 0.1
    assert np.ptp(rates[0.02]) < 0.08
    one = [model.predict(X_new[i : i + 1])[0] for i in range(30)]
    assert one == model.predict(X_new[:30]).tolist()


def test_a_file_of_it_decides_the_same(tmp_path):
    X, y = table(400, 0)
    inner = cb.CostBoostClassifier("adamec", 3, random_state=0)
    model = ParityClassifier(inner, Parity("region"), cv=2, random_state=0).fit(X, y)
    assert model.few_rows_ == [g for g in (0, 1, 2) if (X["region"] == g).sum() < 50]
    cb.save(model, tmp_path / "model")
    again = cb.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.parity.groups == "region"


def test_what_makes_no_sense_is_said():
    X, y = table(300, 0)
    model = ParityClassifier(LogisticRegression(), Parity("region"), cv=2).fit(X, y)
    with pytest.warns(UserWarning, match="not among the rows of fit: 7"):
        model.predict(X.assign(region=7))
    with pytest.raises(ValueError, match="one by one"):
        model.decide(X)
    with pytest.raises(ValueError, match="Name the column"):
        model.set_params(parity=Parity([0] * 300)).fit(X, y)
    with pytest.raises(ValueError, match="give a Parity"):
        model.set_params(parity="region").fit(X, y)
