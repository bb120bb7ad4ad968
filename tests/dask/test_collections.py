"""Collections as parts: what is read of them, in which order, and what is refused."""

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest

from costboost import Costs
from costboost.clusters import driver
from costboost.dask import DaskCostBoostClassifier
from costboost.dask.collections import homes_of, make_source, read_pieces
from dask_fits import PARAMS, collections, frames

TABLE = pd.DataFrame({"a": np.arange(10.0), 7: list("abcdefghij")}, index=np.arange(10)[::-1])
LABELS = pd.Series(np.arange(10) % 3, index=TABLE.index)
WEIGHTS = pd.Series(np.arange(10, dtype=np.float32), index=TABLE.index)
X, Y = np.arange(30.0).reshape(10, 3), np.arange(10)


def computed(pieces):
    """Return the values of all parts, without a cluster."""
    return dask.compute(*[list(part) for part in pieces.parts], scheduler="synchronous")


def assert_parts(pieces, cuts, *columns):
    """Compare parts with the rows between some cuts."""
    found = computed(pieces)
    assert len(found) == len(cuts) - 1
    for part, start, stop in zip(found, cuts, cuts[1:], strict=False):
        for own, whole in zip(part, columns, strict=True):
            np.testing.assert_array_equal(own, np.asarray(whole)[start:stop])


def test_collections_that_do_not_fit_are_refused(people, client):
    table, labels = people
    collection, y = frames([table, labels], [300])
    model = DaskCostBoostClassifier(method="adamec", n_estimators=2)
    with pytest.raises(TypeError, match="X must be a Dask"):
        model.fit(table, labels)
    with pytest.raises(TypeError, match="y must be a Dask"):
        model.fit(collection, labels)
    with pytest.raises(ValueError, match="X has 2 partitions and y 3"):
        model.fit(collection, frames([labels], [300, 400])[0])
    with pytest.raises(ValueError, match=r"rows and that of y [25]00"):
        model.fit(collection, frames([labels], [200])[0])
    with pytest.raises(ValueError, match="Name the columns"):
        model.fit(collection, y, costs=Costs(fp=1, fn=table.amount.to_numpy()))
    with pytest.raises(ValueError, match="two dimensions"):
        model.fit(da.zeros(4), da.zeros(4))


def test_sparse_blocks_are_refused():
    from scipy.sparse import csr_matrix

    X = da.zeros((4, 2), chunks=(2, 2)).map_blocks(csr_matrix)
    with pytest.raises(ValueError, match="Sparse"):
        DaskCostBoostClassifier().fit(X, da.zeros(4, chunks=2))


def test_rows_that_were_persisted_stay_where_they_are(people, client, monkeypatch):
    X, y = collections(people)
    X = X.persist()
    homes = homes_of(client, X)
    assert sorted(homes) == list(range(5))
    asked, plain = {}, driver.Driver._request

    def watched(self, trip, group):
        asked.update(dict.fromkeys(group.parts, group.worker))
        return plain(self, trip, group)

    monkeypatch.setattr(driver.Driver, "_request", watched)
    DaskCostBoostClassifier(**PARAMS).fit(X, y, client=client)
    assert asked == homes


def test_partitions_of_frames_are_parts_in_their_order():
    pieces = read_pieces(*frames([TABLE, LABELS, WEIGHTS], [4, 4, 9]))
    assert_parts(pieces, [0, 4, 4, 9, 10], TABLE, LABELS, WEIGHTS)
    assert (pieces.names, pieces.named) == (["a", "7"], True)
    assert_parts(read_pieces(*frames([TABLE, LABELS], [3])), [0, 3, 10], TABLE, LABELS)


def test_labels_may_be_a_column_that_is_still_a_frame():
    table, labels = frames([TABLE, LABELS.to_frame("label")], [6])
    assert_parts(read_pieces(table, labels), [0, 6, 10], TABLE, LABELS)


def test_blocks_of_arrays_are_whole_rows_and_others_are_cut_alike():
    blocks = da.from_array(X, chunks=(4, 2))
    labels, weights = da.from_array(Y, chunks=5), da.from_array(Y[:, None] * 0.5, chunks=(10, 1))
    pieces = read_pieces(blocks, labels, weights)
    assert_parts(pieces, [0, 4, 8, 10], X, Y, Y * 0.5)
    assert (pieces.names, pieces.named) == (["x0", "x1", "x2"], False)


def test_blocks_whose_sizes_nobody_knows_go_by_their_number():
    chosen = da.from_array(X, chunks=(5, 3))
    chosen = chosen[chosen[:, 0] > 3]
    labels = da.from_array(Y, chunks=5)
    labels = labels[labels > 1]
    assert_parts(read_pieces(chosen, labels), [0, 3, 8], X[2:], Y[2:])
    with pytest.raises(ValueError, match="X has 2 partitions and y 1: give both the same"):
        read_pieces(chosen, da.from_array(Y, chunks=10))


@pytest.mark.parametrize(
    ("X", "y", "weights", "kind", "message"),
    [
        (da.zeros((4, 2)), None, None, TypeError, "y must be a Dask Series .* got NoneType"),
        (da.zeros((4, 2)), da.zeros(4), [1] * 4, TypeError, "sample_weight must be a Dask Series"),
        (da.zeros((4, 2)), da.zeros(3), None, ValueError, "X has 4 rows and y 3"),
        (da.zeros((4, 2)), da.zeros((4, 2)), None, ValueError, r"y must have one dimension, got"),
        (da.zeros((4, 2)), da.zeros(4), da.zeros(5), ValueError, "rows and sample_weight 5"),
        (da.zeros((4, 0)), da.zeros(4), None, ValueError, "X has no columns"),
        (da.zeros((4, 2, 2)), da.zeros(4), None, ValueError, r"got shape \(4, 2, 2\)"),
    ],
)
def test_what_cannot_be_cut_alike_is_refused(X, y, weights, kind, message):
    with pytest.raises(kind, match=message):
        read_pieces(X, y, weights)


def test_rows_are_let_go_when_they_are_read():
    source = make_source(TABLE, LABELS, WEIGHTS)
    raw = source.read()
    assert raw.X is TABLE
    assert (raw.y.tolist(), raw.weights.tolist()) == (LABELS.tolist(), WEIGHTS.tolist())
    assert raw.weights.dtype == np.float64
    with pytest.raises(LookupError, match="have to be brought again"):
        source.read()
    assert make_source(TABLE, LABELS).read().weights is None


def test_partitions_of_other_lengths_are_refused_by_name():
    with pytest.raises(ValueError, match=r"X has 10 rows and that of y 9: .*X and y of one"):
        make_source(TABLE, LABELS[1:])
    with pytest.raises(ValueError, match=r"that of sample_weight 8: .*X and sample_weight of one"):
        make_source(TABLE, LABELS, WEIGHTS[2:])


def test_rows_that_nobody_holds_have_no_home():
    assert homes_of(None, frames([TABLE], [3])[0]) == {}  # and nobody has to be asked
    assert homes_of(None, da.from_array(X, chunks=(4, 2))) == {}


def test_an_array_that_was_persisted_is_at_home_by_its_rows(client):
    held = da.from_array(X, chunks=(4, 3)).persist()
    workers = list(client.nthreads())
    homes = homes_of(client, held)
    assert sorted(homes) == [0, 1, 2]
    assert set(homes.values()) <= set(workers)
