"""The cost models of the sets with prices; every function returns costs for their rows.

Costs per row are functions of the columns and labels of the *whole* set, as the papers have it:
the credit model contains the mean credit line and the share of defaulters.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.costs import Costs
from costboost.datasets._tables import Columns
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
    """Return what monthly instalments are worth today."""
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
    """Return no costs: the source says nothing, and every mistake costs 1."""
    return Priced(None)
