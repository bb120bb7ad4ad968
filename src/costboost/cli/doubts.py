"""What speaks against believing a bill: few rows, other rows, columns that know too much."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import rankdata

from costboost.cli.labels import shown
from costboost.cli.money import count
from costboost.cli.rows import TableRows
from costboost.cli.screen import Screen

__all__ = ["note_doubts", "telling_columns"]

_FEW = 30  # rows of a class below which intervals are rough
_SURE = 3  # standard errors beyond which chance is no explanation
_TOO_GOOD = 0.99  # area under the curve of a column on its own, as if it knew the answer
_ENOUGH = 20_000  # rows to look at


def note_doubts(screen: Screen, rows: TableRows, found: dict[str, Any], where: str) -> None:
    """Make a note of every doubt."""
    for name in telling_columns(rows):
        screen.note(
            f"{name} tells nearly every {shown(rows.positive)} from the others on its own: is it "
            "known when decisions are made? If not, leave it out with --drop."
        )
    _note_few(screen, rows, where)
    cost = found.get("cost")
    if cost and abs(cost["paid"] - cost["expected"]) > _SURE * cost["deviation"] > 0:
        screen.note(
            "the model expected another cost than was paid, by more than chance allows: these "
            "rows are not like those that it has learnt from."
        )
    z = found.get("positives", {}).get("z", 0.0)
    if abs(z) > _SURE:
        more = "more" if z > 0 else "fewer"
        screen.note(
            f"{more} rows are positive than the probabilities say ({abs(z):.0f} standard errors): "
            "they do not fit these rows, and decisions by them cost more than they need to."
        )


def _note_few(screen: Screen, rows: TableRows, where: str) -> None:
    labels, counts = np.unique(rows.truth, return_counts=True)
    rare = int(np.argmin(counts))
    if counts[rare] < _FEW:
        screen.note(
            f"only {count(int(counts[rare]), 'row')} {where} "
            f"{'is' if counts[rare] == 1 else 'are'} {shown(labels[rare])}: intervals are rough."
        )


def telling_columns(rows: TableRows) -> list[str]:
    """Return columns of numbers that tell the positive class on their own."""
    if rows.positive is None or rows.y is None:
        return []
    positive = rows.truth[:_ENOUGH] == rows.positive
    if not 0 < positive.sum() < len(positive):
        return []
    numbers = [name for name in rows.X.columns if rows.X[name].dtype != pl.String]
    return [name for name in numbers if _area(rows.X[name][:_ENOUGH], positive) > _TOO_GOOD]


def _area(column: pl.Series, positive: NDArray[np.bool_]) -> float:
    """Return the area under the curve of a column, whichever way round; missing is below all."""
    values = column.cast(pl.Float64).fill_null(float("-inf")).fill_nan(float("-inf"))
    ranks = rankdata(values.to_numpy())
    n = int(positive.sum())
    area = (ranks[positive].sum() - n * (n + 1) / 2) / (n * (len(positive) - n))
    return float(max(area, 1 - area))
