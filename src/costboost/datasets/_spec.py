"""How a set of the catalogue is described, and the cost models of the sets with prices.

Costs per row are functions of the columns and labels of the *whole* set, as the papers have it:
the credit model contains the mean credit line and the share of defaulters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from costboost.costs import Costs
from costboost.datasets._dataset import Columns
from costboost.typing import Floats


class Priced(NamedTuple):
    """Costs, and the amounts they were made of where they are per row."""

    costs: Costs | None
    amount: Floats | None = None


def five_to_one(columns: Columns, y: NDArray[Any], positive: Any) -> Priced:
    """Statlog's matrix for German credit and heart disease: a missed positive costs 5, else 1."""
    return Priced(Costs(fp=1, fn=5, positive=positive))


def german_amounts(columns: Columns, y: NDArray[Any], positive: Any) -> Priced:
    """Price German loans by their amount: Brefeld, Geibel and Wysotzki (2003).

    A good customer refused costs a yearly interest of 10%, a bad one accepted 75% of the loan.
    """
    amount, years = columns["credit_amount"], columns["duration"] / 12
    return Priced(Costs(fp=0.1 * years * amount, fn=0.75 * amount, positive=positive), amount)


def annuity(line: Floats | float, rate: float, months: int) -> Any:
    """Return the monthly instalment that pays back a credit line."""
    growth = (1 + rate) ** months
    return line * rate * growth / (growth - 1)


def present_value(instalment: Any, rate: float, months: int) -> Any:
    """Return the present value of monthly instalments."""
    return instalment / rate * (1 - (1 + rate) ** -months)


def credit_scoring(
    line: Floats,
    is_default: NDArray[np.bool_],
    positive: Any = None,
    *,
    interest: float = 0.0479,
    funds: float = 0.0294,
    months: int = 24,
    loss_given_default: float = 0.75,
) -> Costs:
    """Return Bahnsen, Aouada and Ottersten's (2014) costs of granting credit lines.

    A default costs the share `loss_given_default` of its line. A good customer refused costs the
    gain on the line, less what the average customer who gets the money instead is worth:
    ``max(0, g(cl) - (1 - pi) g(mean cl) + pi lgd mean cl)``, where ``g`` is the present value of
    the instalments at the price of funds, less the line, and ``pi`` the share of defaulters.
    Rates are yearly, charged monthly.
    """

    def gain(of: Any) -> Any:
        return present_value(annuity(of, interest / 12, months), funds / 12, months) - of

    share, mean = float(np.mean(is_default)), float(np.mean(line))
    instead = (1 - share) * gain(mean) - share * loss_given_default * mean
    refused = np.maximum(0.0, gain(line) - instead)
    return Costs(fp=refused, fn=loss_given_default * line, positive=positive)


def taiwan_lines(columns: Columns, y: NDArray[Any], positive: Any) -> Priced:
    """Price Taiwanese cards by their limit, as Vanderschueren et al. (2022) do."""
    line = columns["LIMIT_BAL"]
    return Priced(credit_scoring(line, y == positive, positive), line)


def south_german_lines(columns: Columns, y: NDArray[Any], positive: Any) -> Priced:
    """Price the corrected German loans by their amount, as Ballegeer et al. (2025) do."""
    line = columns["amount"]
    return Priced(credit_scoring(line, y == positive, positive), line)


def bank_calls(columns: Columns, y: NDArray[Any], positive: Any) -> Priced:
    """Price marketing calls by the customer's balance: Bahnsen et al. (2014).

    A call costs 1; a subscriber not called, the interest margin (2.463333%) on the quarter of the
    balance that would have been deposited, and no less than a call.
    """
    balance = columns["balance"]
    missed = np.maximum(0.25 * 0.02463333 * balance, 1.0)
    return Priced(Costs(fp=1, fn=missed, tp=1, positive=positive), balance)


def card_amounts(columns: Columns, y: NDArray[Any], positive: Any) -> Priced:
    """Price card fraud by the amount, an investigation costing 10: Hoppner et al. (2022)."""
    amount = columns["Amount"]
    return Priced(Costs(fp=10, fn=amount, tp=10, positive=positive), amount)


def unpriced(columns: Columns, y: NDArray[Any], positive: Any) -> Priced:
    """Return no costs: the source gives none, and every mistake costs 1."""
    return Priced(None)


# ---- Costs by class frequency, of the papers on many classes: rare classes are costly to miss.

LARGEST = 2000.0


def frequency_costs(y: ArrayLike, random_state: int | np.random.RandomState | None = None) -> Costs:
    """Draw costs by which rare classes are costly to miss (Domingos 1999; Lozano and Abe 2008).

    To answer class i where the truth is class j costs a uniform number between 0 and
    ``2000 P(i) / P(j)``, where P is the share of a class in `y`; right answers are free. To take a
    class of 2% for one of 60% may cost 60,000, the reverse 67.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels, of two or more classes.
    random_state : int, RandomState or None, default=None
        The same number gives the same costs everywhere.

    Returns
    -------
    costs : Costs
        ``C[true, predicted]``, constant, with the classes of `y` in sorted order.

    Notes
    -----
    Domingos's "class-probability" costs have a random diagonal as well, between 0 and 1000; Abe,
    Zadrozny and Langford (2004), whom Lozano and Abe follow, leave right answers free.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.datasets import frequency_costs
    >>> y = np.repeat(["common", "rare"], [90, 10])
    >>> costs = frequency_costs(y, random_state=0)
    >>> costs.total(["rare"], ["common"]) > costs.total(["common"], ["rare"])
    True
    """
    labels: Any = np.asarray(y)
    if labels.ndim != 1 or len(labels) == 0:
        raise ValueError(f"y has shape {labels.shape}: give one label for each row.")
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) < 2:
        raise ValueError(f"y holds one class only, {classes[0]!r}: give labels of two or more.")
    rng = check_random_state(random_state)
    shares = counts / counts.sum()
    C = rng.uniform(size=(len(classes),) * 2) * LARGEST * shares[None, :] / shares[:, None]
    np.fill_diagonal(C, 0.0)
    return Costs.from_matrix(C, classes=classes)


# ---- The description of a set.

Pricing: TypeAlias = Callable[..., Priced]


class OpenML(NamedTuple):
    """The copy of a set on OpenML, and how it differs from ours.

    `labels` maps its labels to ours, where they differ; `columns` are our names for its columns,
    in order, where its own are mere numbers or spelt otherwise than the entry needs them.
    """

    data_id: int
    labels: Mapping[str, Any] = {}
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Spec:
    """The description of a set in the catalogue.

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
        """Return whether the digits of a column are codes of categories."""
        return column in self.coded or ("*" in self.coded and f"-{column}" not in self.coded)
