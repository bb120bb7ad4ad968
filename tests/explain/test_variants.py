"""One row again and again, with other values in a column: tables stay of their kind."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from costboost.explain.priced import Variants

ROW = pd.DataFrame(
    {"amount": [1.5], "qty": [3], "vip": [True], "shop": pd.Categorical(["a"], ["a", "b"])},
    index=[7],
)
TABLES = {
    "pandas": (ROW, lambda made: made.to_dict("list")),
    "polars": (pl.from_pandas(ROW), lambda made: made.to_dict(as_series=False)),
    "pyarrow": (pa.table(ROW.to_dict("list")), lambda made: made.to_pydict()),
}


@pytest.mark.parametrize("library", TABLES)
def test_one_column_changes_and_the_others_stay(library):
    row, listed = TABLES[library]
    variants, before = Variants(row), ROW.to_dict("list")
    new = {"amount": [2.5, -1.0], "qty": [4.0, 5.5], "vip": [0.0, 1.0], "shop": ["b", "c"]}
    for j, (name, values) in enumerate(new.items()):
        made = variants.table(j, np.array(values, dtype=object if name == "shop" else float))
        assert type(made) is type(row)
        assert listed(made) == {n: 2 * v for n, v in before.items()} | {name: values}
    assert listed(row) == before
    assert [variants.is_boolean(j) for j in range(4)] == [False, False, True, False]
    assert [variants.is_whole(j) for j in range(4)] == [False, True, False, False]


def test_pandas_keeps_its_index_and_its_types():
    made = Variants(ROW).table(3, np.array(["b", "c"], dtype=object))
    assert made.index.tolist() == [7, 7]
    assert made["shop"].cat.categories.tolist() == ["a", "b", "c"]
    assert Variants(ROW).table(2, np.array([1.0]))["vip"].dtype == bool


def test_arrays_take_what_does_not_fit_their_type():
    assert Variants(np.array([[1, 2]])).table(0, np.array([0.5])).tolist() == [[0.5, 2.0]]
    truths = Variants(np.array([[True, False]]))
    assert truths.is_boolean(0)
    assert truths.table(0, np.array([0.0])).tolist() == [[False, False]]
    texts = Variants(np.array([["a", "b"]])).table(1, np.array(["longer"], dtype=object))
    assert texts.tolist() == [["a", "longer"]]
    assert not Variants(np.array([[1, 2]])).is_whole(0)
