"""The rows of a partition: batches of Arrow, read once and let go."""

import pickle

import numpy as np
import pytest

pytest.importorskip("pyspark")

import pyarrow as pa

from costboost.spark.frame_columns import FrameColumns, RowReader, features_of

VECTORS = FrameColumns(("v",), 2, label="y")


def batch(**columns):
    return pa.RecordBatch.from_pydict(columns)


def read(columns, *batches, schema=None):
    return RowReader(columns, schema).source(iter(batches)).read()


def vectors(*rows, kind=None):
    return pa.array(list(rows), pa.list_(kind or pa.float64()))


def test_batches_are_put_together_and_columns_are_told_apart():
    columns = FrameColumns(("a", "b"), None, "y", "w", ("amount", "a"), "id")
    raw = read(
        columns,
        batch(a=[1.5, None], b=["x", None], y=["no", "yes"], w=[1, 0], amount=[5, 6], id=[3, 4]),
        batch(a=[2.5], b=["z"], y=["no"], w=[2], amount=[7], id=[9]),
    )
    assert raw.X.to_pydict() == {"a": [1.5, None, 2.5], "b": ["x", None, "z"]}
    assert raw.y.tolist() == ["no", "yes", "no"]
    assert (raw.weights.dtype, raw.weights.tolist()) == (np.float64, [1, 0, 2])
    assert raw.frame.to_pydict() == {"amount": [5, 6, 7], "a": [1.5, None, 2.5]}


def test_what_was_not_asked_for_is_none():
    raw = read(FrameColumns(("a",), None), batch(a=[1, 2]))
    assert (raw.weights, raw.frame, len(raw.y)) == (None, None, 0)


def test_rows_are_read_once():
    source = RowReader(FrameColumns(("a",), None, "a"), None).source([batch(a=[1])])
    assert source.read().y.tolist() == [1]
    with pytest.raises(RuntimeError, match="were let go: the task starts again"):
        source.read()


def test_an_empty_partition_has_the_columns_of_the_others():
    schema = pa.schema([("v", pa.list_(pa.float64())), ("y", pa.string()), ("w", pa.int32())])
    reader = pickle.loads(pickle.dumps(RowReader(FrameColumns(("v",), 2, "y", "w"), schema)))
    raw = reader.source(iter([])).read()
    assert raw.X.shape == (0, 2)
    assert len(raw.y) == len(raw.weights) == 0
    scalar = read(FrameColumns(("y", "w"), None, "y"), schema=schema)
    assert scalar.X.column_names == ["y", "w"]
    assert len(scalar.X) == 0


def test_vectors_become_a_matrix_with_nan_for_nulls():
    raw = read(
        VECTORS,
        batch(v=vectors([1, 2], [3, None]), y=[0, 1]),
        batch(v=vectors(), y=pa.array([], pa.int64())),
        batch(v=vectors([0, 0], [5, 6], [7, 8]), y=[0, 1, 1]).slice(1),
    )
    np.testing.assert_array_equal(raw.X, [[1, 2], [3, np.nan], [5, 6], [7, 8]])
    small = features_of(pa.table({"v": vectors([0.1, 2], kind=pa.float32())}), VECTORS)
    assert (small.dtype, small.tolist()) == (np.float32, [[np.float32(0.1), 2]])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (None, "holds a null where others have 2"),
        ([1, 2, 3], "a vector of 3 entries where others have 2"),
        ([], "a vector of 0 entries"),
    ],
)
def test_vectors_of_another_length_are_refused(wrong, message):
    with pytest.raises(ValueError, match=f"features_col='v' .*{message}"):
        read(VECTORS, batch(v=vectors([1, 2], wrong, [3, 4]), y=[0, 1, 0]))
    balanced = vectors([1], [2, 3, 4])  # as many numbers as two whole vectors
    with pytest.raises(ValueError, match="a vector of 1 entries"):
        read(VECTORS, batch(v=balanced, y=[0, 1]))


def test_ids_that_stand_twice_are_refused_in_one_batch_or_two():
    columns = FrameColumns(("a",), None, row_id="id")
    assert len(read(columns, batch(a=[1, 2], id=[4, 5]), batch(a=[3], id=[6])).X) == 3
    for batches in (
        [batch(a=[1, 2, 3], id=[4, 7, 7])],
        [batch(a=[1, 2], id=[4, 7]), batch(a=[3], id=[7])],
    ):
        with pytest.raises(ValueError, match="row_id_col='id' holds 7 more than once"):
            read(columns, *batches)
