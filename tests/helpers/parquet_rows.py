"""Rows for tests of tables in files: every kind of column, and how to write them to files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

N = 240
FEATURES = ["a", "b", "small", "count", "flag", "kind", "word", "grade", "amount"]


def make_rows(n=N, seed=0, order=None):
    """Return a frame with features, label, weight and id; `order` is a column to sort by."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "small": rng.normal(size=n).astype(np.float32),
            "count": rng.integers(0, 40, n),
            "flag": rng.random(n) < 0.4,
            "kind": pd.Categorical(rng.choice(["ash", "elm", "oak"], n)),
            "word": rng.choice(np.array(["x", "y", "z", None], dtype=object), n),
            "grade": rng.integers(1, 6, n),
            "amount": rng.lognormal(size=n),
        }
    )
    score = frame["a"] + frame["small"] + (frame["word"] == "x") + rng.normal(size=n)
    frame["label"] = (score > 0.8).astype(int)
    frame["weight"] = rng.integers(0, 4, n).astype(float)
    frame["id"] = np.arange(n) + 1000
    return frame if order is None else frame.sort_values(order, ignore_index=True, kind="stable")


def write(frame, path, group_rows=50):
    """Write row groups of so many rows, or of the sizes listed."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    if isinstance(group_rows, int):
        pq.write_table(table, path, row_group_size=group_rows)
        return str(path)
    with pq.ParquetWriter(path, table.schema) as writer:
        start = 0
        for size in group_rows:
            writer.write_table(table.slice(start, size), row_group_size=max(size, 1))
            start += size
    assert start == len(frame)
    return str(path)
