"""What a fit on files holds of every row: the codes are in a file, and little else there is."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from costboost import CostBoostClassifier, Costs, ParquetTable
from costboost.files.running import InProcess
from costboost.shards.part_messages import AskShard

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
        if isinstance(orders[0], AskShard):
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


SAID = {
    "constant": ({"costs": Costs(fp=1, fn=4)}, 40),
    "weights": ({"costs": Costs(fp=1, fn=4), "weight": "amount"}, 40),
    # The price itself, what the dearer decision costs more, and the rule's factor: 8 bytes each.
    "by row": ({"costs": Costs(fp=1, fn="amount")}, 52),
}


@pytest.mark.parametrize(("said", "most"), SAID.values(), ids=SAID)
def test_bytes_of_a_row_beside_the_codes(tmp_path, monkeypatch, said, most):
    held = []
    for n in SIZES:
        path = write_rows(tmp_path / f"{n}.parquet", n)
        model = CostBoostClassifier(
            "adac2", n_estimators=2, max_depth=3, calibration=None, random_state=0
        )
        held.append(held_in_rounds(monkeypatch, path, model, **said))
    by_row = (held[2] - held[1]) / (SIZES[2] - SIZES[1])
    assert by_row <= most
