"""Rows of which only some have a label: how likely each was to get one, and what it weighs then.

Where only accepted rows show their truth, a model of them is a model of those who are like them.
Weights of 1 / propensity make the labelled rows stand for all (Horvitz and Thompson 1952), if
whatever led to a label is among the columns and every row had a chance.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from costboost.binning.binner import fit_binner
from costboost.costs import as_costs
from costboost.inputs.arrays import missing_in, read_mask, read_numbers, read_weights
from costboost.inputs.checks import (
    check_learner,
    check_number,
    is_spread,
    read_random_state,
    warn_caller,
)
from costboost.text import percent
from costboost.typing import Floats, Mask

__all__ = ["LabelledRows", "estimate_propensity", "take_labelled"]

_BINS = 200  # categories that scikit-learn's trees take, with room for those that are missing
_FEW = 0.2  # of the labelled rows: an effective number below this share is worth a warning
CLIP = 0.02


def estimate_propensity(
    X: Any,
    labelled: ArrayLike,
    *,
    estimator: Any = None,
    cv: int = 5,
    groups: ArrayLike | None = None,
    clip: float = CLIP,
    random_state: int | np.random.RandomState | None = 0,
) -> Floats:
    """Estimate how likely each row was to have a label, by models that have not seen it.

    Parameters
    ----------
    X : table of shape (n_samples, n_features)
        All rows, with and without a label, and what decided about labels: a reason that is not
        among the columns is a hidden bias.
    labelled : bool array of shape (n_samples,)
        Which rows have a label.
    estimator : classifier with ``predict_proba``, default=None
        None is a small gradient boosting of scikit-learn's, on the binned table.
    cv : int, default=5
        Number of folds.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group stay in one fold.
    clip : float, default=0.02
        Chances below are raised to it: no row is to weigh more than 1 / clip.
    random_state : int, RandomState or None, default=0
        Of the folds.

    Returns
    -------
    ndarray of shape (n_samples,)

    Raises
    ------
    ValueError
        If all rows have a label, or none, or fewer of a kind than folds.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost import estimate_propensity
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(2000, 2))
    >>> labelled = rng.uniform(size=2000) < 0.2 + 0.6 * X[:, 0]
    >>> chance = estimate_propensity(X, labelled)
    >>> bool(np.mean(np.abs(chance - 0.2 - 0.6 * X[:, 0])) < 0.06)
    True
    """
    check_number("cv", cv, low=2, whole=True)
    check_number("clip", clip, low=0.0, high=1.0, open_low=True)
    check_learner("estimator", estimator)
    n = _num_samples(X)
    mask = read_mask(labelled, n, "labelled")
    fewer = min(int(mask.sum()), int((~mask).sum()))
    if fewer < cv:
        kind = "a label" if fewer == mask.sum() else "no label"
        raise ValueError(
            f"{fewer} of {n} rows have {kind}, fewer than {cv} folds: there is nothing to estimate "
            "a chance from. Give propensity= yourself, or leave labelled= out if all have one"
        )
    if estimator is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of categories beyond those that are kept
            binner = fit_binner(X, max_bins=_BINS)
            X = binner.encode(X)
        estimator = HistGradientBoostingClassifier(
            learning_rate=0.05,
            max_iter=100,
            max_leaf_nodes=4,
            min_samples_leaf=40,
            early_stopping=False,
            categorical_features=binner.is_categorical,
            random_state=0,
        )
    kinds = {"shuffle": True, "random_state": read_random_state(random_state)}
    folds = StratifiedKFold(cv, **kinds) if groups is None else StratifiedGroupKFold(cv, **kinds)
    chance = np.empty(n)
    for train, test in folds.split(np.zeros(n), mask, groups):
        model = clone(estimator).fit(_safe_indexing(X, train), mask[train])
        column = int(np.flatnonzero(np.asarray(model.classes_))[0])
        chance[test] = model.predict_proba(_safe_indexing(X, test))[:, column]
    return np.clip(chance, clip, 1.0)


class LabelledRows(NamedTuple):
    """What a fit is given, of the rows with a label; and as how many of equal weight they count."""

    X: Any
    y: Any
    sample_weight: Floats
    costs: Any
    groups: Any
    effective: float


def take_labelled(
    X: Any,
    y: Any,
    sample_weight: Any,
    costs: Any,
    groups: Any,
    *,
    labelled: Any,
    propensity: Any,
) -> LabelledRows:
    """Return the rows to train on, weighted by 1 / propensity, of mean 1 but for `sample_weight`.

    Parameters
    ----------
    X, y, sample_weight, costs, groups
        As for ``fit``, of all rows; labels of the others do not matter.
    labelled : bool array of shape (n,)
    propensity : array-like of shape (n,), "estimate" or None
        None estimates as well.
    """
    if is_spread(X):
        raise ValueError(
            "labelled= needs a table in memory: leave rows without a label out of the files, and "
            "give 1 / propensity as their weights."
        )
    if labelled is None:
        raise ValueError(
            "propensity= says how likely rows were to have a label: give labelled= as well, which "
            "rows have one."
        )
    n = _num_samples(X)
    mask = read_mask(labelled, n, "labelled")
    if not mask.any():
        raise ValueError("labelled names no row: there is nothing to train on.")
    if _num_samples(y) != n:
        raise ValueError(
            f"y has {_num_samples(y)} labels for {n} rows: give one for each; what stands where "
            "there is none does not matter."
        )
    given = read_weights(sample_weight, n)
    rows = np.flatnonzero(mask)
    inverse = 1.0 / _chances(X, mask, propensity, groups)[rows]
    weights = given[rows] * (inverse / inverse.mean())
    effective = float(weights.sum()) ** 2 / float(np.sum(weights**2))
    if effective < _FEW * np.count_nonzero(weights):
        warn_caller(
            f"The {len(rows):,} rows with a label count as {effective:,.0f} of equal weight "
            f"({percent(effective / len(rows))}): a few that were hardly ever labelled stand for "
            "many. Raise small propensities, or label more rows like them."
        )
    prices = None if costs is None else as_costs(costs)
    if prices is not None and prices.n_rows is not None:
        prices = prices[rows]
    return LabelledRows(
        _safe_indexing(X, rows),
        _labels(np.asarray(_safe_indexing(y, rows)), whole=len(rows) < n),
        weights,
        prices,
        None if groups is None else _safe_indexing(groups, rows),
        effective,
    )


def _labels(y: NDArray[Any], *, whole: bool) -> NDArray[Any]:
    """Return labels as they would be without missing ones among them, which make floats of ints."""
    if not whole or y.ndim != 1 or missing_in(y).any():
        return y
    if y.dtype.kind == "f" and (y == np.rint(y)).all():
        return y.astype(np.int64)
    return np.array(y.tolist()) if y.dtype == object else y


def _chances(X: Any, mask: Mask, propensity: Any, groups: Any) -> Floats:
    """Return the chance of each row to have a label, given or estimated."""
    if propensity is None or isinstance(propensity, str):
        if propensity not in (None, "estimate"):
            raise ValueError(
                f"propensity={propensity!r}: give one chance for each row, or 'estimate'."
            )
        return np.ones(len(mask)) if mask.all() else estimate_propensity(X, mask, groups=groups)
    return _read_chances(propensity, mask)


def _read_chances(propensity: Any, mask: Mask) -> Floats:
    """Return given chances, clipped as estimated ones are."""
    chance = read_numbers(np.asarray(propensity), "propensity", negative=True)
    if chance.shape != mask.shape:
        raise ValueError(
            f"propensity has shape {chance.shape}; give one chance for each of the {len(mask)} "
            "rows, with and without a label"
        )
    bad = (chance < 0) | (chance > 1 + 1e-9)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"row {row}: propensity is {chance[row]:g}; a chance lies between 0 and 1")
    none = mask & (chance == 0)
    if none.any():
        row = int(np.argmax(none))
        raise ValueError(
            f"row {row}: it has a label, but its propensity is 0. Propensities are chances before "
            "the draw: give those, not whether there was a label"
        )
    return np.clip(chance, CLIP, 1.0)
