"""How a set of the catalogue is described."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from costboost.datasets._prices import Priced, unpriced

Pricing: TypeAlias = Callable[..., Priced]


class OpenML(NamedTuple):
    """Where OpenML keeps a set, and how its copy differs from ours.

    `labels` maps its labels to ours, where they differ; `columns` are our names for its columns,
    in order, where its own are mere numbers or spelt otherwise than the entry needs them.
    """

    data_id: int
    labels: Mapping[str, Any] = {}
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What is known of a set before it is read.

    Attributes
    ----------
    classes : dict
        The number of rows of each label; what was read is checked against it.
    n_features : int
        Columns of the file beside the target.
    description, source : str
    positive : label or None
    coded : tuple of str
        Columns whose digits are codes of categories. "*" is all, a leading "-" excepts one.
    not_features : tuple of str
        Columns that are outcomes or identifiers, or known only after the decision.
    missing_category : str or None
        What an empty cell of a category column means, where it is an answer of its own.
    above : (str, float) or None
        Only rows where this column exceeds this number belong to the set.
    one_against_rest : bool
        Label 1 is the positive class, every other label becomes 0.
    n_train : int or None
        Rows of the source's own training part, which come first.
    pricing : dict
        Cost models by name; the first is the default.
    openml : OpenML or None
    """

    classes: Mapping[Any, int]
    n_features: int
    description: str
    source: str
    positive: Any = None
    coded: tuple[str, ...] = ()
    not_features: tuple[str, ...] = ()
    missing_category: str | None = None
    above: tuple[str, float] | None = None
    one_against_rest: bool = False
    n_train: int | None = None
    pricing: Mapping[str, Pricing] = field(default_factory=lambda: {"none": unpriced})
    openml: OpenML | None = None

    def is_coded(self, column: str) -> bool:
        """Whether the digits of a column are codes of categories."""
        return column in self.coded or ("*" in self.coded and f"-{column}" not in self.coded)
