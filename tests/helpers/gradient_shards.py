"""Shared by the tests of gradient boosting: rows on shards, and the best constant of a loss."""

import numpy as np

from costboost.boosting.gradient.rows import GradientRows
from costboost.shards.layout import plan_layout


def cut_rows(rows, codes=None, n_shards=1):
    """Return shards that hold these rows; without codes, of a table without columns."""
    layout = plan_layout(None, len(rows.y), 1, n_shards)
    codes = np.zeros((len(rows.y), 0), dtype=np.uint8) if codes is None else codes[layout.rows]
    return layout.cut(codes, lambda numbers: GradientRows(rows.take(numbers)))


def best_constant(loss, rows):
    with cut_rows(rows) as shards:
        return loss.constant(shards, rows.n_outputs)
