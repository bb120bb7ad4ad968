"""The table of the scale benchmark: Parquet files of any number of rows, the same for everyone.

Thirty columns of float32, some skewed, some of few values, some missing; an amount; a label. Every
file is made from its own number alone, so that any number of rows needs the memory of one file.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FEATURES = 30
FILE_ROWS = 5_000_000
GROUP_ROWS = 1_000_000
NAMES = [f"x{j}" for j in range(FEATURES - 1)] + ["amount"]
LABEL = "default"


def make_rows(n_rows: int, number: int) -> Any:
    """Return rows as an Arrow table; `number` decides what they hold."""
    rng = np.random.default_rng([16, number])
    columns = [rng.standard_normal(n_rows, dtype=np.float32) for _ in NAMES]
    signal = columns[0] + columns[1] * columns[2] + 0.5 * np.sin(3 * columns[3])
    signal += 0.3 * columns[5] - 0.3 * columns[6] * (columns[7] > 0)
    label = signal + rng.standard_normal(n_rows, dtype=np.float32) > 1.5
    np.exp(columns[5], out=columns[5])
    np.round(4 * columns[9], out=columns[9])
    np.maximum(columns[10], 0, out=columns[10])
    columns[11][columns[12] > 1] = np.nan
    np.exp(columns[-1], out=columns[-1])
    return pa.table(dict(zip(NAMES, columns, strict=True)) | {LABEL: label.astype(np.int8)})


def write_rows(folder: Path, n_rows: int, processes: int = 1) -> list[str]:
    """Write files of so many rows together, unless they are there; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    sizes = [min(FILE_ROWS, n_rows - start) for start in range(0, n_rows, FILE_ROWS)]
    paths = [folder / f"rows-{number:04d}-{rows}.parquet" for number, rows in enumerate(sizes)]
    absent = [(path, sizes[i], i) for i, path in enumerate(paths) if not path.exists()]
    if processes > 1 and len(absent) > 1:
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            list(pool.map(_write_file, *zip(*absent, strict=True)))
    else:
        for file in absent:
            _write_file(*file)
    return list(map(str, paths))


def _write_file(path: Path, n_rows: int, number: int) -> None:
    part = path.with_suffix(".part")
    # Random digits do not shrink: time spent on packing them would be wasted.
    pq.write_table(
        make_rows(n_rows, number),
        part,
        row_group_size=GROUP_ROWS,
        compression=None,
        use_dictionary=False,
    )
    part.rename(path)
