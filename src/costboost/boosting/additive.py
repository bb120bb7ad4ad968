"""A smooth additive model: logistic regression on polynomials of each column's ranks.

Where a tree cuts, this model bends: every column of numbers adds a cubic polynomial of its rank,
every category a number of its own, all drawn to 0 by a ridge. It is what boosted trees find hard to
learn from few rows, and takes no time.

Rows are codes, cut once more into at most `STEPS` steps of about equal weight, on which polynomials
are constant. A fitted model thus is a forest like any other, one tree for each column: whoever
reads forests reads it too.

    codes --Basis--> columns (n, m) --ridge--> coefficients (1 + m, J) --Basis--> Forest
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from costboost.binning.binner import Binner
from costboost.binning.codes import MISSING
from costboost.trees.forest import Forest, ForestBuilder
from costboost.trees.tree import Tree
from costboost.typing import AnyInts, Codes, Floats

__all__ = ["Basis", "fit_coefficients", "make_basis"]


DEGREE = 3
STEPS = 32  # of a column of numbers
ITERATIONS = 100
_N_CODES = 256


@dataclass(frozen=True)
class Column:
    """The basis functions of one column of the table.

    Attributes
    ----------
    feature : int
    values : float64 array of shape (256, m)
        The columns of the regression, by code.
    tree : Tree
        Its leaves are the steps.
    codes : int array of shape (n_leaves,)
        A code that reaches each leaf.
    """

    feature: int
    values: Floats
    tree: Tree
    codes: AnyInts


@dataclass(frozen=True)
class Basis:
    """The columns that the regression is on; columns without two steps are left out."""

    binner: Binner
    parts: tuple[Column, ...]

    @property
    def width(self) -> int:
        """How many columns the regression has."""
        return sum(part.values.shape[1] for part in self.parts)

    def columns(self, codes: Codes) -> Floats:
        """Return the columns of the regression, (n, m)."""
        found = [part.values[codes[:, part.feature]] for part in self.parts]
        return np.concatenate([np.zeros((len(codes), 0)), *found], axis=1)

    def forest(self, coefficients: Floats) -> Forest:
        """Return the model with coefficients (1 + m, J), the first of them constants."""
        builder = ForestBuilder(coefficients.shape[1])
        begin = 1
        for part in self.parts:
            end = begin + part.values.shape[1]
            effect = part.values[part.codes] @ coefficients[begin:end]
            builder.add(_with_gains(part.tree, effect), effect)
            begin = end
        return builder.build(self.binner, coefficients[0])


def make_basis(
    binner: Binner,
    codes: Codes,
    weights: Floats | None,
    columns: tuple[int, ...] | None = None,
) -> Basis:
    """Build the basis of the regression from binned rows, on all columns or on some."""
    # A power of two leaves whole weights exact sums: weight 3 then cuts where three rows would.
    w = np.ones(len(codes)) if weights is None else np.ldexp(weights, -np.frexp(weights.max())[1])
    made = []
    for feature in range(binner.n_features) if columns is None else columns:
        counts = np.bincount(codes[:, feature], w, minlength=_N_CODES).astype(np.float64)
        steps = _steps(binner, feature, counts)
        if len(steps) > 1:
            made.append(_column(binner, feature, counts, steps))
    return Basis(binner, tuple(made))


def _steps(binner: Binner, feature: int, counts: Floats) -> list[AnyInts]:
    """Return the codes of each step, in their order; those that no row has belong to others."""
    present = np.flatnonzero(counts[:MISSING] > 0.0)
    missing = [np.array([MISSING])] if counts[MISSING] > 0.0 else []
    if binner.is_categorical[feature] or not len(present):
        return [present[i : i + 1] for i in range(len(present))] + missing
    # Steps of equal weight: polynomials of ranks do not depend on the scale of a column.
    ranks = np.cumsum(counts[present]) - 0.5 * counts[present]
    number = np.floor(STEPS * ranks / counts[present].sum())
    return [*np.split(present, np.flatnonzero(np.diff(number)) + 1), *missing]


def _column(binner: Binner, feature: int, counts: Floats, steps: list[AnyInts]) -> Column:
    sizes = np.array([counts[codes].sum() for codes in steps])
    categorical = bool(binner.is_categorical[feature])
    with_indicators = categorical or steps[-1][0] == MISSING
    # Categories and missing values have no order: an indicator each instead of polynomials.
    numbers = 0 if categorical else len(steps) - int(with_indicators)
    by_step = np.zeros((len(steps), 0))
    if numbers > 1:
        by_step = np.zeros((len(steps), min(DEGREE, numbers - 1)))
        by_step[:numbers] = _polynomials(sizes[:numbers], by_step.shape[1])
    if with_indicators:
        own = np.eye(len(steps))[:, numbers:]
        by_step = np.concatenate([by_step, own - sizes @ own / sizes.sum()], axis=1)
    values = np.zeros((_N_CODES, by_step.shape[1]))
    for codes, row in zip(steps, by_step, strict=True):
        values[codes] = row
    tree, order = _tree(feature, steps, sizes, categorical=categorical)
    return Column(feature, values, tree, np.array([steps[i][0] for i in order]))


def _polynomials(sizes: Floats, degree: int) -> Floats:
    """Return Legendre polynomials of the ranks of steps, (n_steps, degree).

    Their mean over the rows is 0 and their deviation 1 / degree: the ridge draws bends more.
    """
    share = sizes / sizes.sum()
    ranks = 2.0 * (np.cumsum(share) - 0.5 * share) - 1.0
    columns = np.polynomial.legendre.legvander(ranks, degree)[:, 1:]
    # Centred by the weights of steps, so that the constant stays the mean log odds.
    columns -= share @ columns
    deviation = np.sqrt(share @ columns**2)
    return np.asarray(columns / np.maximum(deviation, 1e-9) / np.arange(1, degree + 1))


# Trees.


@dataclass
class _Node:
    """The steps begin <= i < end; those before `cut` go left."""

    begin: int
    end: int
    depth: int
    cut: int = -1
    left: int = -1


def _tree(
    feature: int, steps: list[AnyInts], sizes: Floats, *, categorical: bool
) -> tuple[Tree, list[int]]:
    """Return a tree whose leaves are the steps of a column; also the step of each leaf."""
    nodes = _halve(len(steps), lone_last=not categorical and steps[-1][0] == MISSING)
    knows_missing = steps[-1][0] == MISSING
    threshold = np.full(len(nodes), -1, dtype=np.int16)
    missing_left = np.zeros(len(nodes), dtype=bool)
    subsets: dict[int, NDArray[np.uint8]] = {}
    for number, node in enumerate(nodes):
        if node.left < 0:
            continue
        sides = sizes[node.begin : node.cut].sum(), sizes[node.cut : node.end].sum()
        # What was never missing in training goes with most of the rows.
        missing_left[number] = not knows_missing and sides[0] >= sides[1]
        if categorical:
            subsets[number] = np.zeros(_N_CODES, dtype=np.uint8)
            subsets[number][np.concatenate(steps[node.begin : node.cut])] = 1
            subsets[number][MISSING] |= missing_left[number]
        else:
            threshold[number] = steps[node.cut - 1][-1]
    left = np.array([node.left for node in nodes], dtype=np.int32)
    leaves = np.flatnonzero(left < 0).astype(np.int32)
    tree = Tree(
        feature=np.where(left < 0, -1, feature).astype(np.int32),
        threshold=threshold,
        missing_left=missing_left,
        left=left,
        gain=np.zeros(len(nodes)),
        sums=np.zeros((len(nodes), 1), dtype=np.int64),
        subsets=subsets,
        leaves=leaves,
        depth=max(node.depth for node in nodes),
        cover=np.array([sizes[node.begin : node.end].sum() for node in nodes]),
    )
    return tree, [nodes[leaf].begin for leaf in leaves]


def _halve(n_steps: int, *, lone_last: bool) -> list[_Node]:
    """Return nodes that halve the steps until each is alone; the last leaves first if asked to.

    What is missing has no place among numbers.
    """
    nodes = [_Node(0, n_steps, 0)]
    for node in nodes:  # which grow on the way
        if node.end - node.begin == 1:
            continue
        node.cut = (node.begin + node.end) // 2
        if lone_last and node.end == n_steps:
            node.cut = n_steps - 1
        node.left = len(nodes)
        depth = node.depth + 1
        nodes += [_Node(node.begin, node.cut, depth), _Node(node.cut, node.end, depth)]
    return nodes


def _with_gains(tree: Tree, effect: Floats) -> Tree:
    """Return the tree with the variance that each split explains, given what its leaves add."""
    sums = np.zeros((len(tree.left), effect.shape[1]))
    sums[tree.leaves] = tree.cover[tree.leaves, None] * effect
    for node in range(len(tree.left) - 1, -1, -1):
        if tree.left[node] >= 0:
            sums[node] = sums[tree.left[node]] + sums[tree.left[node] + 1]
    spread = (sums**2).sum(axis=1) / tree.cover
    gain = np.zeros(len(tree.left))
    inner = tree.left >= 0
    children = tree.left[inner]
    gain[inner] = np.maximum(spread[children] + spread[children + 1] - spread[inner], 0.0)
    return replace(tree, gain=gain)


# The regression.


def fit_coefficients(
    columns: Floats,
    labels: AnyInts,
    weights: Floats | None,
    n_outputs: int,
    ridge: float,
    start: Floats | None = None,
) -> Floats:
    """Return the coefficients (1 + m, J) of least mean log loss, constants first.

    Parameters
    ----------
    columns : float64 array of shape (n, m)
    labels : int array of shape (n,)
        Class numbers.
    weights : float64 array of shape (n,) or None
    n_outputs : int
        J: 1 for the log odds of the second of two classes, else K.
    ridge : float
        Half of it times the sum of squared coefficients, without the constants, is added.
    start : float64 array of shape (1 + m, J), optional
        Where to begin.
    """
    w = np.ones(len(labels)) if weights is None else weights / weights.max()
    problem = _Problem(columns, labels, w / w.sum(), n_outputs, ridge)
    shape = (1 + columns.shape[1], n_outputs)
    first = np.zeros(shape) if start is None else start
    options = {"maxiter": ITERATIONS, "ftol": 1e-7, "gtol": 1e-5}
    found = minimize(problem, first.ravel(), jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x).reshape(shape)


@dataclass(frozen=True)
class _Problem:
    """The penalised mean log loss, and its gradient."""

    columns: Floats
    labels: AnyInts
    weights: Floats
    n_outputs: int
    ridge: float

    def __call__(self, flat: Floats) -> tuple[float, Floats]:
        coefficients = flat.reshape(-1, self.n_outputs)
        margins = self.columns @ coefficients[1:] + coefficients[0]
        loss, residuals = self._one(margins) if self.n_outputs == 1 else self._many(margins)
        residuals = residuals * self.weights[:, None]
        slopes = self.columns.T @ residuals + self.ridge * coefficients[1:]
        penalty = 0.5 * self.ridge * float(np.sum(coefficients[1:] ** 2))
        return float(self.weights @ loss) + penalty, np.vstack(
            [residuals.sum(axis=0), slopes]
        ).ravel()

    def _one(self, margins: Floats) -> tuple[Floats, Floats]:
        second = (self.labels == 1)[:, None]
        loss = -log_expit(np.where(second, margins, -margins))[:, 0]
        return loss, expit(margins) - second

    def _many(self, margins: Floats) -> tuple[Floats, Floats]:
        own = np.arange(len(margins)), self.labels
        logs = margins - margins.max(axis=1, keepdims=True)
        residuals = np.exp(logs)
        whole = residuals.sum(axis=1, keepdims=True)
        residuals /= whole
        residuals[own] -= 1.0
        return np.log(whole[:, 0]) - logs[own], residuals
