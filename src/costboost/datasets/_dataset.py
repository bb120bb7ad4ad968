"""`Dataset`, which every loader returns, and the tables that it can hold.

A set is read as named columns, each an array of float64 (NaN where missing) or of strings (None
where missing). They become a pandas or polars DataFrame, or an array.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from costboost.costs import Costs
from costboost.runtime.machine import need
from costboost.typing import Floats

Columns: TypeAlias = Mapping[str, NDArray[Any]]
FrameKind: TypeAlias = Literal["auto", "pandas", "polars", "numpy"]
KINDS = ("auto", "pandas", "polars", "numpy")


def is_category(column: NDArray[Any]) -> bool:
    """Return whether a column holds strings rather than numbers."""
    return column.dtype == object


def categories_of(column: NDArray[Any]) -> list[str]:
    """Return the sorted categories of a column of strings."""
    return sorted({value for value in column.tolist() if value is not None})


def codes_of(column: NDArray[Any]) -> Floats:
    """Return the position of each value among the sorted categories, NaN where missing."""
    position: dict[str | None, float] = {c: float(i) for i, c in enumerate(categories_of(column))}
    position[None] = np.nan
    return np.array([position[value] for value in column.tolist()], dtype=np.float64)


def check_kind(as_frame: str) -> None:
    """Raise unless a kind of table is known."""
    if as_frame not in KINDS:
        listed = ", ".join(repr(kind) for kind in KINDS)
        raise ValueError(f"as_frame={as_frame!r} is not known; allowed: {listed}.")


def to_table(columns: Columns, as_frame: str) -> Any:
    """Return the columns as a table of the kind asked for.

    "auto" is the first of pandas and polars that is installed, else numpy.
    """
    check_kind(as_frame)
    if as_frame == "auto":
        as_frame = next((kind for kind in ("pandas", "polars") if find_spec(kind)), "numpy")
    if as_frame == "numpy":
        return to_array(columns)
    library = need(as_frame, f"as_frame={as_frame!r}")
    return (_to_pandas if as_frame == "pandas" else _to_polars)(library, columns)


def to_array(columns: Columns) -> NDArray[Any]:
    """Return float64 if all columns are numbers, else objects: floats, strings, None."""
    mixed = any(is_category(column) for column in columns.values())
    return np.column_stack([c.astype(object) if mixed else c for c in columns.values()])


def to_codes(columns: Columns) -> Floats:
    """Return float64, categories replaced by their codes."""
    return np.column_stack([codes_of(c) if is_category(c) else c for c in columns.values()])


def _to_pandas(pd: Any, columns: Columns) -> Any:
    made = {
        name: pd.Categorical(c, categories=categories_of(c)) if is_category(c) else c
        for name, c in columns.items()
    }
    return pd.DataFrame(made)


def _to_polars(pl: Any, columns: Columns) -> Any:
    made = [
        pl.Series(name, c.tolist(), dtype=pl.Enum(categories_of(c)))
        if is_category(c)
        else pl.Series(name, c, nan_to_null=True)
        for name, c in columns.items()
    ]
    return pl.DataFrame(made)


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
    """Return a `Dataset` of named columns."""
    return Dataset(
        name=name,
        X=to_table(columns, as_frame),
        y=y,
        categorical=tuple(n for n, column in columns.items() if is_category(column)),
        _columns=columns,
        **rest,
    )
