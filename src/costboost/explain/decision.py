"""One decision explained: in words, numbers and, as HTML, a picture."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from costboost.explain.changes import Change
from costboost.explain.html import decision_html
from costboost.explain.text import decision_text
from costboost.explain.turning import Interval, TurningPrice


@dataclass(frozen=True)
class Part:
    """What one column added: its name, its value in the row, and the amount."""

    column: str
    value: Any
    added: float


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why a model answers as it does for one row; printed as text, in a notebook as HTML.

    Attributes
    ----------
    model : str
        The name of the estimator.
    decision : label, or None for a regressor
    probabilities : dict of label -> float
        What the decision rests on; empty for a regressor.
    expected_cost : dict of action -> float
        Empty where the method decides without prices.
    stays_within : Interval or None
        Between which probabilities of the second class the decision is the cheapest (two classes).
    turning_prices : tuple of TurningPrice
        At what price of a mistake the decision would turn, the smallest change first.
    output : label or None
        The class whose decision value is explained: of two, the second. None of a regressor.
    unit : str
        What the following are counted in.
    base, total : float
        The decision value of a row of which nothing is known, and this row's.
    parts : tuple of Part
        What every column added, the largest first; base and parts add up to total.
    changes : tuple of Change, or None
        Changes of one column that would turn the decision, the nearest first. Prices that are read
        from the column change with it. None of a model that starts from another model's answers:
        that one sees values, not bins.
    prices_stay : bool
        Whether prices were given as values of the row's own: changes leave those as they are,
        wherever they came from.
    """

    model: str
    decision: Any
    probabilities: dict[Any, float]
    expected_cost: dict[Any, float]
    stays_within: Interval | None
    turning_prices: tuple[TurningPrice, ...]
    output: Any
    unit: str
    base: float
    total: float
    parts: tuple[Part, ...]
    changes: tuple[Change, ...] | None
    prices_stay: bool = False

    def __str__(self) -> str:
        return decision_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return decision_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries, lists and numbers."""
        return asdict(self)
