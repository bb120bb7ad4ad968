"""Shapley values from their definition: all subsets of the columns, one at a time."""

import math
from itertools import combinations

import numpy as np


def shapley(game, n_columns):
    """Return the Shapley value of every column; `game` maps a set of them to a number."""
    known = {}
    for size in range(n_columns + 1):
        for chosen in combinations(range(n_columns), size):
            known[frozenset(chosen)] = game(frozenset(chosen))
    values = []
    for i in range(n_columns):
        value = 0.0
        for chosen, worth in known.items():
            if i not in chosen:
                size = len(chosen)
                ways = math.factorial(size) * math.factorial(n_columns - size - 1)
                value += ways / math.factorial(n_columns) * (known[chosen | {i}] - worth)
        values.append(value)
    return np.array(values)


def goes_left(table, node, value, missing):
    """Whether a raw value goes left at a split of a readable tree."""
    if missing(value):
        return bool(table.missing_left[node])
    if table.subset[node] is not None:
        return value in table.subset[node]
    return float(value) <= table.threshold[node]


def is_missing(value):
    return value is None or value != value


def seen_or_missing(binner):
    """Return a test that takes categories not seen in training for missing ones."""
    kept = {key for part in binner.categories if part is not None for key in part}
    return lambda value: is_missing(value) or (isinstance(value, str) and value not in kept)


def expected_value(table, row, chosen, missing, node=0):
    """Return what a tree says when some columns of a row are known: others split by cover."""
    if table.feature[node] < 0:
        return table.value[node].astype(float)
    left, right = int(table.left[node]), int(table.right[node])
    j = int(table.feature[node])
    if j in chosen:
        side = left if goes_left(table, node, row[j], missing) else right
        return expected_value(table, row, chosen, missing, side)
    rows = table.cover[left] + table.cover[right]
    return sum(
        float(table.cover[side]) / float(rows)
        * expected_value(table, row, chosen, missing, side)
        for side in (left, right)
    )  # fmt: skip


def path_dependent(forest, row):
    """Return the Shapley values of one row's margins, (d, K)."""
    missing, n_columns = seen_or_missing(forest.binner), forest.binner.n_features
    tables = [forest.tree(t) for t in range(len(forest))]

    def game(k):
        return lambda chosen: sum(
            expected_value(table, row, chosen, missing)[k] for table in tables
        )

    return np.column_stack([shapley(game(k), n_columns) for k in range(forest.n_outputs)])


def interventional(margins, row, background):
    """Return them where unknown columns come from the rows of a background; tables of objects."""
    n_columns = len(row)

    def mixed(chosen):
        rows = background.copy()
        for j in chosen:
            rows[:, j] = row[j]
        return margins(rows).mean(axis=0)

    n_outputs = mixed(frozenset()).shape[0]
    memory = {}

    def game(k):
        def worth(chosen):
            if chosen not in memory:
                memory[chosen] = mixed(chosen)
            return memory[chosen][k]

        return worth

    return np.column_stack([shapley(game(k), n_columns) for k in range(n_outputs)])
