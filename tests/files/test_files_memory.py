"""What a fit on files holds of every row: the codes are in a file, and little else there is."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from costboost import CostBoostClassifier, Costs, ParquetTable
from costboost.files.running import InProcess
from costboost.shards.parts import forward_to_shard

SIZES = (20_000, 40_000, 120_000)  # the first pays for what is loaded once


def write_rows(path, n):
    rng = np.random.default_rng(n)
    columns = {f"x{j}": rng.normal(size=n).astype(np.float32) for j in range(4)}
    label = (columns["x0"] + rng.normal(size=n) > 1).astype(np.int64)
    table = pa.table({**columns, "amount": rng.lognormal(size=n), "label": label})
    pq.write_table(table, path, row_group_size=10_000)
    return path


def held_in_rounds(monkeypatch, path, model, **said):
    """Return the most that is held while rounds are taken, in bytes."""
    peaks, send = [], InProcess.send

    def measured(self, orders, told=None):
        answers = send(self, orders, told)
        if getattr(orders[0], "message", None) is forward_to_shard:
            peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.reset_peak()
        return answers

    monkeypatch.setattr(InProcess, "send", measured)
    features = ["x0", "x1", "x2", "x3"]
    tracemalloc.start()
    try:
        model.fit(ParquetTable(path, "label", features=features, part_rows=20_000, **said))
    finally:
        tracemalloc.stop()
        monkeypatch.undo()
    return max(peaks)


# The weight, the margin, the leaf, the place in the tree's order, and the class; with costs by
# class nothing else. The price itself is 8 more, and what follows from it is computed again when
# it is asked for; a limit, or a factor that takes too long to compute, is another 8.
METHODS = {"adaboost": 0, "adac2": 0, "adac3": 0, "csb2": 0, "adamec": 8, "asymada": 8}
SAID = {
    "constant": ({"costs": Costs(fp=1, fn=4)}, 26),
    "weights": ({"costs": Costs(fp=1, fn=4), "weight": "amount"}, 36),
    "by row": ({"costs": Costs(fp=8, fn="amount")}, 36),
}


def held_by_row(tmp_path, monkeypatch, method, said):
    """Return the bytes of a row that are held in the rounds, beside the codes."""
    held = []
    for n in SIZES:
        path = write_rows(tmp_path / f"{n}.parquet", n)
        model = CostBoostClassifier(
            method, n_estimators=2, max_depth=3, calibration=None, random_state=0
        )
        held.append(held_in_rounds(monkeypatch, path, model, **said))
    return (held[2] - held[1]) / (SIZES[2] - SIZES[1])


@pytest.mark.parametrize(("said", "most"), SAID.values(), ids=SAID)
def test_bytes_of_a_row_beside_the_codes(tmp_path, monkeypatch, said, most):
    assert held_by_row(tmp_path, monkeypatch, "adac2", said) <= most


@pytest.mark.parametrize("method", METHODS)
def test_bytes_of_a_row_with_its_own_price(tmp_path, monkeypatch, method):
    said, most = SAID["by row"]
    assert held_by_row(tmp_path, monkeypatch, method, said) <= min(most + METHODS[method], 40)
