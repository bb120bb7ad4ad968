"""Messages to the parts of files: asked by threads, answered in the order of parts."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from costboost import CostBoostClassifier, ParquetTable
from costboost.binning.binner import fit_binner
from costboost.files.running import InProcess
from costboost.runtime.messages import join, largest, message, total
from costboost.shards.parts import RawRows
from parquet_rows import FEATURES, N, make_rows, write

SIZES = (3, 0, 5, 1, 4)


class Source:
    """A part of so many rows of zeros."""

    def __init__(self, number, n_rows):
        self.number, self.n_rows = number, n_rows

    def read(self):
        return RawRows(np.zeros((self.n_rows, 1)), np.full(self.n_rows, self.number))

    def __str__(self):
        return f"In part {self.number}"


@message(reduce=join)
def fetch_labels(part):
    return part.raw.y.tolist()


@message(reduce=total)
def times(part, *, factor: int):
    return part.n_rows * factor


@message(reduce=largest)
def longest(part):
    return part.n_rows


@message(reduce=None, changes=True)
def meet(part, *, barrier: threading.Barrier):
    """Waits until as many parts are asked at once."""
    barrier.wait(10.0)


@message(reduce=total)
def refuse(part, *, number: int, error: Exception):
    if part.source.number == number:
        raise error


def parts(n_threads=1):
    return InProcess([Source(k, size) for k, size in enumerate(SIZES)], n_threads)


@pytest.mark.parametrize("n_threads", [1, 2, 9])
def test_answers_are_reduced_in_the_order_of_parts(n_threads):
    cluster = parts(n_threads)
    weights = [times(factor=factor) for factor in (1, 10, 100, 1000, 10_000)]
    labels, rows, weighed, most = cluster.send(
        [fetch_labels(), times(factor=1), weights, longest()]
    )
    assert labels == np.repeat(range(5), SIZES).tolist()
    assert (rows, most) == (13, 5)
    assert weighed == 3 + 500 + 1000 + 40_000
    cluster.close()


def test_several_threads_ask_several_parts_at_once():
    cluster = parts(n_threads=5)
    cluster.send([meet(barrier=threading.Barrier(5))])  # broken if somebody waits for too long
    cluster.close()


def test_a_list_has_one_message_for_each_part():
    with pytest.raises(ValueError, match=r"zip\(\)"):
        parts().send([fetch_labels(), [times(factor=1)] * 4])


def test_how_many_parts_have_answered_is_told():
    on_part = []
    parts().send([fetch_labels()], on_part.append)
    assert on_part == [1, 2, 3, 4, 5]


def test_an_error_says_once_whose_rows_they_were():
    cluster, error = parts(n_threads=2), ValueError("these rows will not do")
    for _ in range(2):
        with pytest.raises(ValueError, match="will not do") as caught:
            cluster.send([fetch_labels(), refuse(number=3, error=error)])
        assert caught.value.__notes__ == ["In part 3"]
    assert cluster.send([times(factor=1)]) == [13]  # the others are none the worse
    cluster.close()
    assert cluster.n_parts == 0


def test_a_table_in_files_has_the_bins_and_codes_of_one_in_memory(tmp_path):
    frame = make_rows()
    path = write(frame, tmp_path / "rows.parquet")
    table = ParquetTable(path, "label", features=FEATURES, part_rows=60)
    expected = fit_binner(frame[FEATURES], max_bins=9)
    with table.open_for(CostBoostClassifier()) as opened:
        opened.X.read_classes()
        opened.X.fit_binner(None, 9, "from_dtype")
        codes = opened.X.codes_of(np.arange(N)[::-1])
        sent, send = [], opened.X.cluster.send
        opened.X.cluster.send = lambda orders, on_part=None: (
            sent.extend(orders) or send(orders, on_part)
        )
        opened.X.codes_of(slice(5))
    np.testing.assert_array_equal(codes, expected.encode(frame[FEATURES])[::-1])
    assert len(sent) == 1  # encoded once
