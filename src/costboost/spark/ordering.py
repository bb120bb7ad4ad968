"""Rows in an order that does not depend on how they are spread, dealt evenly to the tasks.

Every row gets a number to be sorted by: its row id, or its partition and its place in it, as read.
Tasks get ranges of these numbers, so that the first one has the first rows. The bounds are found in
one pass over the numbers and the labels, in which null ids, labels and weights are refused too. A
fit that goes on from a checkpoint keeps the bounds it began with: Spark finds them by sampling.
"""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

from costboost.spark.columns import Columns, quoted

__all__ = ["deal_rows"]


def deal_rows(
    frame: Any, columns: Columns, n_tasks: int, checkpoint: str | Path | None = None
) -> Any:
    """Return the rows sorted and in so many partitions; refuse rows that lack something.

    Parameters
    ----------
    frame : DataFrame
        Of these columns (`Columns.select`).
    columns : Columns
    n_tasks : int
    checkpoint : path-like, optional
        Beside this file, bounds are kept.
    """
    from pyspark.sql import functions

    mark = f"row_{secrets.token_hex(4)}"
    number = (
        functions.monotonically_increasing_id()
        if columns.row_id is None
        else functions.col(quoted(columns.row_id)).cast("long")
    )
    numbered = frame.withColumn(mark, number)
    bounds = _kept_bounds(checkpoint, n_tasks, _find_bounds(numbered, columns, mark, n_tasks))
    task = sum(((functions.col(mark) >= bound).cast("int") for bound in bounds), functions.lit(0))
    dealt = numbered.repartitionById(n_tasks, task) if n_tasks > 1 else numbered.repartition(1)
    return dealt.sortWithinPartitions(mark).drop(mark)


def _find_bounds(numbered: Any, columns: Columns, mark: str, n_tasks: int) -> list[int]:
    """Return the first number of every task but the first, and check what all rows must have."""
    from pyspark.sql import functions

    needed = {
        "row_id_col": columns.row_id,
        "label_col": columns.label,
        "weight_col": columns.weight,
    }
    given = {parameter: name for parameter, name in needed.items() if name is not None}
    nulls = [
        functions.count_if(functions.col(quoted(name)).isNull()).alias(p)
        for p, name in given.items()
    ]
    shares = [i / n_tasks for i in range(1, n_tasks)]
    cuts = [functions.percentile_approx(mark, shares, 10_000).alias("cuts")] if shares else []
    facts = numbered.agg(functions.count(functions.lit(1)).alias("n_rows"), *nulls, *cuts).first()
    if facts["n_rows"] == 0:
        raise ValueError("The DataFrame has no rows: there is nothing to train on.")
    for parameter, name in given.items():
        if facts[parameter]:
            raise ValueError(
                f"{parameter}={name!r} is null in {facts[parameter]} of {facts['n_rows']} rows: "
                "drop these rows, or fill it in."
            )
    # The cut itself is the last row of its share.
    return [cut + 1 for cut in facts["cuts"]] if shares else []


def _kept_bounds(checkpoint: str | Path | None, n_tasks: int, found: list[int]) -> list[int]:
    """Return the bounds of a fit that was begun before, if it was; else keep those found."""
    if checkpoint is None:
        return found
    path = Path(f"{checkpoint}.bounds")
    if not Path(checkpoint).exists() or not path.exists():
        path.write_text(json.dumps(found))
        return found
    kept: list[int] = json.loads(path.read_text())
    if len(kept) != n_tasks - 1:
        raise ValueError(
            f"checkpoint={str(checkpoint)!r} was begun with {len(kept) + 1} tasks, and there are "
            f"{n_tasks} now: give num_workers={len(kept) + 1}, or remove the file to start anew."
        )
    return kept
