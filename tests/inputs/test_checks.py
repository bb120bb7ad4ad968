"""Tables, labels and parameters are checked once, and warnings point at the user."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from costboost import (
    Costs,
)
from costboost.inputs import checks
from inputs_cases import CLASSIFIERS, N, X, Y


def tables_to_ask_about():
    """Tables for a model of numbers, and for one of named columns: right and wrong ones."""
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pd.DataFrame(X, columns=list("abcde"))
    holes = X.copy()
    holes[::3, 1] = np.nan
    return [
        X,
        X[:1],
        X[:0],
        X[0],
        X[:, :4],
        holes,
        X.astype(np.float32),
        X.astype(int),
        X > 0,
        X.astype(str),
        X.astype(object),
        X * 1j,
        X.tolist(),
        sp.csr_matrix(X),
        np.ma.masked_array(X, X > 1),
        frame,
        frame[:1],
        frame[:0],
        frame.astype({"a": int, "b": "Float32", "c": np.float32}),
        frame.assign(a=frame["a"] > 0),
        frame.assign(b="x"),
        frame.assign(c=1j),
        frame[list("bacde")],
        frame[list("abcd")],
        frame.assign(f=1.0),
        frame.set_axis(range(5), axis=1),
        frame.set_axis(list("aabcd"), axis=1),
        pl.DataFrame(frame.to_dict("list")),
        pl.DataFrame(frame.to_dict("list")).lazy(),
        pl.DataFrame(frame.to_dict("list")).to_arrow(),
        None,
    ]


def answer(model, table):
    """Probabilities, or what is said instead; and what is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            said = model.predict_proba(table).tolist()
        except (ValueError, TypeError) as error:
            said = f"{type(error)}: {error}"
    return said, [str(warning.message) for warning in caught]


@pytest.mark.parametrize("named", [False, True])
def test_checks_left_out_would_have_found_nothing(booster, named, monkeypatch):
    pd = pytest.importorskip("pandas")
    model = booster().fit(pd.DataFrame(X, columns=list("abcde")) if named else X, Y)
    short = [answer(model, table) for table in tables_to_ask_about()]
    monkeypatch.setattr(checks, "_is_familiar", lambda estimator, table: False)
    assert short == [answer(model, table) for table in tables_to_ask_about()]
    assert isinstance(short[0][0], list)


def test_warnings_point_at_the_users_line():
    priced = Costs(fp=np.linspace(1, 2, N), fn=1.0)

    def said(call):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        assert caught
        return {(str(w.message).split(":")[0][:30], w.filename) for w in caught}

    for name in ("auto", "gradient", "calibrated pnorm", "minimum cost"):
        model = CLASSIFIERS[name]().fit(X, Y, costs=priced)
        for method in (model.predict, model.expected_cost):
            assert {file for _, file in said(lambda method=method: method(X))} == {__file__}
    for name in ("gradient", "adamec", "minimum cost"):  # no split allowed; a class of one row
        lone = said(lambda name=name: CLASSIFIERS[name]().fit(X[:3], [0, 1, 1]))
        assert {file for _, file in lone} == {__file__}
