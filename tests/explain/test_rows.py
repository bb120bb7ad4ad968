"""One row, in any shape, and its values."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost import GradientBoostClassifier
from costboost.explain.rows import one_row, values_of_row
from explained_decisions import table


def test_one_row_in_any_shape():
    X, y = table()
    numbers = X[["amount", "hour"]].to_numpy()
    model = GradientBoostClassifier(n_estimators=5).fit(numbers, y)
    totals = {
        model.explain(x).total
        for x in (numbers[:1], numbers[0], numbers[0].tolist(), [numbers[0].tolist()])
    }
    assert len(totals) == 1
    framed = GradientBoostClassifier(n_estimators=5).fit(X, y)
    assert framed.explain(X.iloc[4]).total == framed.explain(X.iloc[[4]]).total
    with pytest.raises(ValueError, match="one row, X has 2"):
        framed.explain(X[:2])


@pytest.mark.parametrize(
    "x",
    [
        [1.5, "s", None],
        (1.5, "s", None),
        np.array([1.5, "s", None], dtype=object),
        [[1.5, "s", None]],
        pd.Series([1.5, "s", None]),
    ],
)
def test_mixed_values_stay_what_they_are(x):
    row = one_row(x)
    assert row.shape == (1, 3)
    values = values_of_row(row)
    assert values[:2] == [1.5, "s"]
    assert pd.isna(values[2])


def test_numbers_make_a_table_of_numbers():
    assert one_row([1, 2.5]).tolist() == [[1.0, 2.5]]
    assert one_row(np.array([[1, 2], [3, 4]])).shape == (2, 2)  # who asks must refuse it
    assert one_row(["a", "b"]).tolist() == [["a", "b"]]


def test_values_of_frames_are_python_objects_of_their_own_columns():
    columns = {"whole": [3, 4], "part": [0.5, 1.5], "word": ["a", "b"], "none": [None, "c"]}
    frames = [pd.DataFrame(columns)[:1], pl.DataFrame(columns)[:1]]
    frames.append(pytest.importorskip("pyarrow").table(columns).slice(0, 1))
    for frame in frames:
        values = values_of_row(frame)
        assert values[:3] == [3, 0.5, "a"]
        assert [type(value) for value in values[:3]] == [int, float, str]
        assert pd.isna(values[3])


def test_a_column_may_bear_the_name_of_an_attribute():
    values = values_of_row(pd.DataFrame({"column_names": [1.0], "columns": [2.0], "iloc": [3.0]}))
    assert values == [1.0, 2.0, 3.0]


def test_rows_of_arrow_tables_are_explained():
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    X = pa.table({"a": rng.normal(size=60), "b": rng.integers(0, 9, size=60)})
    model = GradientBoostClassifier(n_estimators=3).fit(X, np.arange(60) % 2)
    seen = model.explain(X.slice(7, 1))
    assert {part.column: part.value for part in seen.parts} == X.slice(7, 1).to_pylist()[0]
