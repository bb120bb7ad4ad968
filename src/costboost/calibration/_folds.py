"""Which rows are trained on and which are calibrated on."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import GroupShuffleSplit, StratifiedGroupKFold, StratifiedKFold

from costboost.inputs.arrays import missing_in
from costboost.inputs.checks import read_random_state, warn_caller
from costboost.shards.layout import MOST_FOLDS, Folds
from costboost.typing import Indices

Split = tuple[Indices, Indices]


def is_share(cv: Any) -> bool:
    """Whether cv is a held-out share rather than a number of folds."""
    return isinstance(cv, Real) and not isinstance(cv, Integral)


def calibration_splits(
    labels: ArrayLike,
    cv: Any = 5,
    *,
    groups: ArrayLike | None = None,
    copies: Indices | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> list[Split]:
    """Cut rows into (train, calibrate) pairs of row numbers.

    Rows of weight zero are left out of both sides, unless their class has no others. Pairs that
    train on a single class of several are skipped with a warning.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Class numbers, 0 .. K - 1.
    cv : int, float, splitter, iterable or None, default=5
        - int: that many shuffled stratified folds, at most as many as the smallest class has rows
          (or groups). A class of a single row cannot be cut: its row is trained on *and* calibrated
          on in every fold, with a warning. If all classes are such, the one fold is everything.
        - float in (0, 1): this share of every class is held out, at least one row and never all.
        - splitter or iterable of (train, test): taken as it is.
        - None: 5.
    groups : array-like of shape (n_samples,), optional
        Rows of one group stay on one side. Integers then cut `StratifiedGroupKFold`; a share is one
        of the groups and is not stratified.
    copies : int array of shape (n_samples,), optional
        The number of each row's set of equal rows, 0 .. n_sets - 1. Such a set stays on one side,
        and is cut as one row is. Without use where `groups`, or `cv` itself, say what belongs
        together.
    sample_weight : array-like of shape (n_samples,), optional
    random_state : int, RandomState or None

    Returns
    -------
    list of (train, test)

    Examples
    --------
    >>> from costboost.calibration import calibration_splits
    >>> [len(test) for _, test in calibration_splits([0] * 30 + [1] * 3, cv=5, random_state=0)]
    [11, 11, 11]
    """
    request = _FoldRequest.of(labels, cv, groups, copies, sample_weight, random_state)
    return _usable(list(request.splits()), request.labels)


def calibration_folds(
    labels: ArrayLike,
    cv: Any = 5,
    *,
    groups: ArrayLike | None = None,
    copies: Indices | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Folds:
    """Cut rows as `calibration_splits` does, and keep no more of it than must be known.

    Of shuffled stratified folds never more than one pair is made at a time.

    Examples
    --------
    >>> from costboost.calibration import calibration_folds
    >>> folds = calibration_folds([0, 1] * 6, cv=3, random_state=0)
    >>> [len(test) for _, test in folds]
    [4, 4, 4]
    """
    request = _FoldRequest.of(labels, cv, groups, copies, sample_weight, random_state)
    n_rows = len(request.labels)
    if not request.plain:
        return Folds.of(_usable(list(request.splits()), request.labels), n_rows)
    rows = np.flatnonzero(request.alive).astype(np.uint32)
    own = request.labels[rows]
    pairs = _stratified(own, request.cv, request.seed).split(own, own)
    return Folds.leaving_out([rows[test] for _, test in pairs], n_rows)


@dataclass(frozen=True)
class _FoldRequest:
    """Validated arguments of `calibration_splits`: class numbers, weighted rows, splitter, seed."""

    labels: Indices
    cv: Any
    tags: Indices | None
    sets: Indices | None
    alive: NDArray[np.bool_]
    seed: Any

    @classmethod
    def of(
        cls,
        labels: ArrayLike,
        cv: Any,
        groups: Any,
        copies: Indices | None,
        weights: Any,
        seed: Any,
    ) -> _FoldRequest:
        given = np.asarray(labels)
        given = given if given.dtype == np.uint8 else given.astype(np.intp, copy=False)
        tags = None if groups is None else read_groups(groups, len(given))
        alive, cv = _alive(given, weights), 5 if cv is None else cv
        sets = None
        if isinstance(cv, Real):
            seed = read_random_state(seed)
            kept = copies if keeps_copies(cv, groups) else None
            sets = copies_in(kept, np.flatnonzero(alive))
        return cls(given, cv, tags, sets, alive, seed)

    @property
    def plain(self) -> bool:
        """Whether folds are stratified and nothing else: each row is left out once."""
        counts = np.bincount(self.labels[self.alive])
        integral = isinstance(self.cv, Integral) and 2 <= int(self.cv) <= MOST_FOLDS
        return integral and self.tags is None and self.sets is None and not np.any(counts == 1)

    def splits(self) -> Iterable[Split]:
        """Yield (train, test), one after the other where that is possible."""
        if not isinstance(self.cv, Real):
            return (
                _only(self.alive, pair) for pair in _user_splits(self.cv, self.labels, self.tags)
            )
        rows, cut = np.flatnonzero(self.alive), _held_out if is_share(self.cv) else _folds
        own = self.labels[rows]
        if self.sets is None:
            tags = None if self.tags is None else self.tags[rows]
            pairs = cut(own, self.cv, tags, self.seed)
        else:
            pairs = _cut_sets(cut, own, self.cv, self.sets, self.seed)
        return ((rows[train], rows[test]) for train, test in pairs)


def keeps_copies(cv: Any, groups: ArrayLike | None) -> bool:
    """Whether copies of rows decide how rows are cut: neither groups nor a splitter do.

    Examples
    --------
    >>> from costboost.calibration import keeps_copies
    >>> keeps_copies(5, None), keeps_copies(5, ["a", "b"])
    (True, False)
    """
    return groups is None and (cv is None or isinstance(cv, Real))


def copies_in(sets: Indices | None, rows: Any) -> Indices | None:
    """Return the sets of some of the rows, numbered anew; None where these have no copies.

    Examples
    --------
    >>> copies_in(np.array([0, 1, 0, 2, 1]), [1, 3, 4]).tolist()
    [0, 1, 0]
    """
    if sets is None:
        return None
    some = numbered(sets[rows])
    return some if some.size and some.max() + 1 < some.size else None


def numbered(values: NDArray[Any]) -> Indices:
    """Return the number of each value, in the order of their first occurrence.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.calibration import numbered
    >>> numbered(np.array(["b", "a", "b", "c"])).tolist()
    [0, 1, 0, 2]
    """
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[inverse])


def labels_of_sets(labels: Indices, sets: Indices) -> Indices:
    """Return the class of each set of rows: of several, the one that is rarest among all rows.

    Folds are balanced by it, so that a rare class is spread over them.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.calibration import labels_of_sets
    >>> labels_of_sets(np.array([0, 0, 1, 0]), np.array([0, 1, 1, 2])).tolist()
    [0, 1, 0]
    """
    counts = np.bincount(labels)
    order = np.argsort(counts, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    rarest = np.full(int(sets.max()) + 1, len(order))
    np.minimum.at(rarest, sets, rank[labels])
    return np.asarray(order[rarest])


def _cut_sets(
    cut: Any, labels: Indices, cv: Any, sets: Indices, seed: np.random.RandomState
) -> Iterable[Split]:
    """Cut sets of copies as if each was one row."""
    labels = labels_of_sets(labels, sets)
    for train, test in cut(labels, cv, None, seed):
        yield rows_of_sets(sets, train), rows_of_sets(sets, test)


def rows_of_sets(sets: Indices, chosen: Indices) -> Indices:
    """Return the numbers of the rows that belong to some of the sets."""
    taken = np.zeros(int(sets.max()) + 1, dtype=bool)
    taken[chosen] = True
    return np.flatnonzero(taken[sets])


def read_groups(groups: ArrayLike, n_rows: int, name: str = "groups") -> Indices:
    """Return the number of each row's group.

    Examples
    --------
    >>> from costboost.calibration import read_groups
    >>> len(set(read_groups(["shop", "web", "shop"], 3).tolist()))
    2
    """
    given = np.asarray(groups)
    if given.shape != (n_rows,):
        raise ValueError(
            f"{name} has shape {given.shape}; it must hold one group for each of the {n_rows} rows."
        )
    missing = missing_in(given)
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(f"row {row}: {name} is {given[row]}; every row must have a group.")
    try:
        return np.asarray(np.unique(given, return_inverse=True)[1], dtype=np.intp)
    except TypeError as error:
        raise ValueError(
            f"{name} are of different kinds: give all of them as strings, or all as numbers."
        ) from error


def _alive(labels: Indices, sample_weight: ArrayLike | None) -> NDArray[np.bool_]:
    if sample_weight is None:
        return np.ones(len(labels), dtype=bool)
    weighted = np.asarray(sample_weight, dtype=np.float64) > 0
    heavy = np.bincount(labels, weights=weighted)
    return np.asarray(weighted | (heavy[labels] == 0))


def _only(alive: NDArray[np.bool_], pair: tuple[Indices, Indices]) -> Split:
    train, test = pair
    return train[alive[train]], test[alive[test]]


def _user_splits(cv: Any, labels: Indices, groups: Indices | None) -> Iterable[Split]:
    everything = np.arange(len(labels))
    pairs: Iterable[Any]
    if hasattr(cv, "split") and not isinstance(cv, str):
        pairs = _ask_splitter(cv, labels, groups)
    elif isinstance(cv, Iterable) and not isinstance(cv, str):
        pairs = cv
    else:
        raise ValueError(
            f"cv={cv!r} is not understood: give a number of folds, a share in (0, 1), a splitter "
            "or an iterable of (train, test)."
        )
    try:
        splits = [
            (_rows_of(train, everything), _rows_of(test, everything)) for train, test in pairs
        ]
    except (IndexError, TypeError, ValueError) as error:
        raise ValueError(
            f"cv gives rows that X does not have: (train, test) must hold row numbers from 0 to "
            f"{len(labels) - 1}, or one boolean for each row. ({error})"
        ) from error
    _check_disjoint(splits)
    return splits


def _ask_splitter(cv: Any, labels: Indices, groups: Indices | None) -> list[Any]:
    extra = {} if groups is None else {"groups": groups}
    try:
        return list(cv.split(np.zeros((len(labels), 1)), labels, **extra))
    except ValueError as error:
        n_groups = "no groups" if groups is None else f"{len(np.unique(groups))} group(s)"
        raise ValueError(
            f"cv={cv!r} cannot cut these {len(labels)} rows of {n_groups}: {error} Give groups= or "
            "other folds."
        ) from error


def _check_disjoint(splits: list[Split]) -> None:
    """Refuse rows that are trained on and calibrated on: their scores are too sure."""
    for number, (train, test) in enumerate(splits):
        shared = np.intersect1d(train, test)
        if shared.size:
            raise ValueError(
                f"cv trains and calibrates on the same rows: {shared.size} of fold {number}, row "
                f"{shared[0]} first. Give (train, test) that share no row."
            )


def _rows_of(part: Any, everything: Indices) -> Indices:
    given = np.asarray(part)
    return np.asarray(everything[given.astype(np.intp) if given.size == 0 else given])


def _folds(
    labels: Indices, cv: Any, groups: Indices | None, seed: np.random.RandomState
) -> Iterable[Split]:
    if isinstance(cv, bool) or cv < 2:
        raise ValueError(f"cv={cv!r} folds are too few: give at least 2, or a share in (0, 1).")
    if groups is not None:
        return _group_folds(labels, int(cv), groups, seed)
    counts = np.bincount(labels)
    lone, body = np.flatnonzero(counts[labels] == 1), np.flatnonzero(counts[labels] > 1)
    if lone.size:
        _warn_lone(lone.size)
    if not body.size:
        return [(lone, lone)]
    pairs = _stratified(labels[body], cv, seed).split(body, labels[body])
    return ((np.append(body[train], lone), np.append(body[test], lone)) for train, test in pairs)


def _stratified(labels: Indices, cv: Any, seed: np.random.RandomState) -> StratifiedKFold:
    """Return shuffled folds, at most as many as the smallest class has rows."""
    counts = np.bincount(labels)
    n_folds = min(int(cv), int(counts[counts > 0].min()))
    return StratifiedKFold(n_folds, shuffle=True, random_state=seed)


def _group_folds(
    labels: Indices, cv: int, groups: Indices, seed: np.random.RandomState
) -> Iterable[Split]:
    held_by = np.bincount(np.unique(np.column_stack([labels, groups]), axis=0)[:, 0])
    several = held_by[held_by > 1]
    if not several.size:
        raise ValueError("Every class lies within one group: groups cannot be cut into folds.")
    folds = StratifiedGroupKFold(min(cv, int(several.min())), shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # A class within one group; folds that do not train on it are dealt with in _usable.
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(folds.split(labels, labels, groups))


def _held_out(
    labels: Indices, share: Any, groups: Indices | None, seed: np.random.RandomState
) -> Iterable[Split]:
    if not 0 < share < 1:
        raise ValueError(f"cv={share!r} is a held-out share: it must lie strictly in (0, 1).")
    if groups is not None:
        if np.ptp(groups) == 0:
            raise ValueError(
                "All rows are of one group, so that none can be held out from the others: leave "
                "groups out, or give calibration=None."
            )
        cut = GroupShuffleSplit(1, test_size=share, random_state=seed)
        return list(cut.split(labels, labels, groups))
    train, test, lone = [], [], 0
    for k in np.unique(labels):
        rows = seed.permutation(np.flatnonzero(labels == k))
        n_test = min(max(1, round(share * len(rows))), max(1, len(rows) - 1))
        test.append(rows[:n_test])
        train.append(rows[n_test:] if len(rows) > 1 else rows)
        lone += len(rows) == 1
    if lone:
        _warn_lone(lone)
    return [(np.sort(np.concatenate(train)), np.sort(np.concatenate(test)))]


def _warn_lone(n_classes: int) -> None:
    warn_caller(
        f"{n_classes} of the classes have a single row, which is both trained on and calibrated "
        "on: their probabilities are too sure. Give more rows, or calibration=None."
    )


def _usable(splits: list[Split], labels: Indices) -> list[Split]:
    several = len(np.unique(labels)) > 1
    filled = [(train, test) for train, test in splits if train.size and test.size]
    kept = [(train, test) for train, test in filled if not several or np.ptp(labels[train]) > 0]
    if not kept:
        raise ValueError(
            "No fold trains on more than one class with rows left to calibrate on: give more rows, "
            "other folds, or calibration=None."
        )
    if len(kept) < len(filled):
        warn_caller(
            f"{len(filled) - len(kept)} of {len(filled)} folds train on one class only and are "
            "left out."
        )
    return kept
