"""What every loader returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.costs import Costs
from costboost.datasets._tables import Columns, is_category, to_codes, to_table
from costboost.typing import Floats


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Dataset:
    """A table with labels and, where they are known, prices.

    Attributes
    ----------
    name : str
        What `load` calls the set.
    X : DataFrame or ndarray of shape (n_samples, n_features)
        Features; columns that are labels, outcomes or identifiers are not among them. Numbers are
        float64, categories are of the library's own category type.
    y : ndarray of shape (n_samples,)
        Labels as in the source: integers or strings.
    positive : label or None
        The class that a positive decision means; None for more than two classes.
    costs : Costs or None
        What mistakes cost, per row or constant, where the source says so.
    amount : ndarray of shape (n_samples,) or None
        The money at stake on each row, from which per-row costs were made.
    categorical : tuple of str
        The names of the columns that hold categories.
    n_train : int or None
        Where the source splits the set in two, how many of the first rows are its training part.
    description, source : str
        What the rows are, and where they come from, with the licence.

    Examples
    --------
    >>> from costboost.datasets import make_card_fraud
    >>> make_card_fraud(2000)
    Dataset('card_fraud': 2000 rows, 11 features (2 categorical), classes 0: 1982, 1: 18)
    """

    name: str
    X: Any
    y: NDArray[Any]
    positive: Any
    costs: Costs | None
    amount: Floats | None = None
    categorical: tuple[str, ...] = ()
    n_train: int | None = None
    description: str = ""
    source: str = ""
    _columns: Columns = field(default_factory=dict)

    def __repr__(self) -> str:
        labels, counts = np.unique(self.y, return_counts=True)
        shown = [f"{label}: {count}" for label, count in zip(labels, counts, strict=True)]
        more = ", ..." if len(shown) > 6 else ""
        return (
            f"Dataset({self.name!r}: {len(self.y)} rows, {len(self.feature_names)} features "
            f"({len(self.categorical)} categorical), classes {', '.join(shown[:6])}{more})"
        )

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns of X, in order."""
        return tuple(self._columns)

    def to_numpy(self) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the features as numbers only, for learners that know no categories.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Categories are replaced by their positions in sorted order; NaN where missing.
        categorical : ndarray of shape (n_features,)
            Which columns hold such codes; suits `categorical_features=` of scikit-learn's
            HistGradientBoosting and of ours.

        Examples
        --------
        >>> from costboost.datasets import make_card_fraud
        >>> X, categorical = make_card_fraud(2000).to_numpy()
        >>> X.dtype.name, int(categorical.sum())
        ('float64', 2)
        """
        mask = np.array([is_category(column) for column in self._columns.values()])
        return to_codes(self._columns), mask


def make_dataset(
    name: str, columns: Columns, y: NDArray[Any], as_frame: str, **rest: Any
) -> Dataset:
    """Put a `Dataset` together from named columns."""
    return Dataset(
        name=name,
        X=to_table(columns, as_frame),
        y=y,
        categorical=tuple(n for n, column in columns.items() if is_category(column)),
        _columns=columns,
        **rest,
    )
