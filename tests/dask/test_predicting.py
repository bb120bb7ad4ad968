"""Lazy answers: those of the rows in memory, with their index, and nothing for no rows."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest

from costboost.dask.collections import answer_lazily
from dask_fits import frames

TABLE = pd.DataFrame({"a": np.arange(10.0), "b": 1.0}, index=list("jihgfedcba"))
X = TABLE.to_numpy()


class Model:
    """Answers by row, and refuses to be asked about none."""

    def total(self, X, times=1):
        assert len(X)
        return np.asarray(X).sum(axis=1) * times

    def both(self, X):
        return np.column_stack([self.total(X), -self.total(X)])

    def word(self, X):
        return np.where(self.total(X) > 4, "much", "little")


def compute(lazy):
    return lazy.compute(scheduler="synchronous")


@pytest.mark.parametrize("cuts", [[], [3, 7], [0, 4, 4, 10]])
def test_frames_are_answered_by_frames_with_the_same_index(cuts):
    (collection,) = frames([TABLE], cuts)
    lazy = answer_lazily(Model(), "total", collection, times=3)
    assert lazy.npartitions == len(cuts) + 1
    expected = pd.Series(Model().total(X, 3), index=TABLE.index)
    pd.testing.assert_series_equal(compute(lazy), expected)
    lazy = answer_lazily(Model(), "both", collection, columns=np.array(["yes", "no"]))
    expected = pd.DataFrame(Model().both(X), index=TABLE.index, columns=["yes", "no"])
    pd.testing.assert_frame_equal(compute(lazy), expected)


@pytest.mark.parametrize("chunks", [(10, 2), (4, 2), (4, 1), ((0, 4, 0, 6), (2,))])
def test_arrays_are_answered_by_arrays_with_the_same_blocks(chunks):
    collection = da.from_array(X, chunks=chunks)
    lazy = answer_lazily(Model(), "total", collection)
    assert lazy.chunks == collection.chunks[:1]
    np.testing.assert_array_equal(compute(lazy), Model().total(X))
    lazy = answer_lazily(Model(), "both", collection, columns=np.arange(2))
    assert lazy.chunks == (collection.chunks[0], (2,))
    np.testing.assert_array_equal(compute(lazy), Model().both(X))


def test_arrays_of_unknown_length_are_answered_too():
    collection = da.from_array(X, chunks=(4, 2))
    lazy = answer_lazily(Model(), "total", collection[collection[:, 0] > 8])
    assert np.isnan(lazy.shape[0])
    assert compute(lazy).tolist() == [10.0]


def test_what_is_promised_before_anything_is_computed_is_what_comes():
    kind = np.array(["much", "little"]).dtype
    (collection,) = frames([TABLE], [0, 5])
    lazy = answer_lazily(Model(), "word", collection, dtype=kind)
    assert lazy.dtype == compute(lazy).dtype
    assert compute(lazy).tolist() == ["little"] * 4 + ["much"] * 6
    lazy = answer_lazily(Model(), "word", da.from_array(X, chunks=(5, 2)), dtype=kind)
    assert lazy.dtype == compute(lazy).dtype == kind


def test_the_model_is_in_the_graph_once():
    lazy = answer_lazily(Model(), "total", da.from_array(X, chunks=(1, 2)))
    models = [key for key in lazy.dask if str(key).startswith("costboost-")]
    assert len(models) == 1


def test_tables_in_memory_are_sent_to_the_local_model():
    with pytest.raises(TypeError, match=r"got DataFrame: to_local\(\) gives the model"):
        answer_lazily(Model(), "total", TABLE)
