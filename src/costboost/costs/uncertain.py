"""`uncertain`: a price times a factor that is not known exactly.

A cell of costs holds its price at the mean of the factor, and beside it the `Factor`: its law and
its name. So whatever does not ask for factors sees ordinary costs, and what does sees for every
cell a number with mean one by which its price may differ. Factors of one name are one number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from costboost.costs.laws import Draws, Law, read_law
from costboost.costs.state import Cell, State, TablePrice
from costboost.inputs.arrays import freeze
from costboost.typing import Floats

__all__ = [
    "N_POINTS",
    "Uncertain",
    "at",
    "check_together",
    "draw",
    "effects",
    "price_of",
    "quasi_random",
    "relative",
    "renamed",
    "uncertain",
]

N_POINTS = 4096  # at which several factors are looked at together


@dataclass(frozen=True)
class Uncertain:
    """A price times a factor that is not known exactly; made by `uncertain`.

    Attributes
    ----------
    price : float, ndarray, str, expression or callable
    law : Range, Distribution or Draws
    together : str or None

    Examples
    --------
    >>> from costboost.costs import uncertain
    >>> price = uncertain("amount", low=0.6, high=1.0)
    >>> price, price.law.mean
    (uncertain('amount', low=0.6, high=1), 0.8)
    """

    price: Any
    law: Law
    together: str | None = None

    def __repr__(self) -> str:
        together = "" if self.together is None else f", together={self.together!r}"
        return f"uncertain({self.price!r}, {self.law}{together})"


def uncertain(
    price: Any,
    *,
    low: float | None = None,
    high: float | None = None,
    mean: float | None = None,
    distribution: Any = None,
    draws: Any = None,
    together: str | None = None,
) -> Uncertain:
    """Return a price that is not known exactly: a price times a factor between two ends.

    Give the factor in one of three ways: a range, a distribution or draws. Costs with such a price
    train and decide by its mean, which is optimal as long as nothing else is learnt about the
    factor before deciding: an expected cost is linear in every price.

    Parameters
    ----------
    price : float, array-like of shape (n_samples,), str, expression or callable
        What is multiplied, as any price of `Costs`.
    low, high : float, default=None
        The ends of the range of the factor, which may not cross zero.
    mean : float, default=None
        The mean within the range: the factor is uniform on either side of it. None: the middle.
    distribution : frozen distribution of scipy.stats, default=None
        With a finite mean, on one side of zero.
    draws : array-like of shape (n_draws,), default=None
        Values of the factor that are equally likely, such as those of a bootstrap.
    together : str, default=None
        A name. Prices of one name have the same factor: the same law, or draws that belong
        together one by one. Without it every price of a cell has a factor of its own.

    Returns
    -------
    Uncertain
        For any cell of `Costs`.

    Examples
    --------
    Between 60 % and all of a fraud's amount is lost:

    >>> import pandas as pd
    >>> from costboost import Costs
    >>> from costboost.costs import uncertain
    >>> costs = Costs(fp=8, fn=uncertain("amount", low=0.6, high=1.0))
    >>> costs
    Costs(fp=8, fn=uncertain('amount', low=0.6, high=1))
    >>> X = pd.DataFrame({"amount": [100.0, 40.0]})
    >>> costs.at({"fn": 0.6}).bind_table(X).fn.round(2).tolist()
    [60.0, 24.0]
    """
    if isinstance(price, Uncertain):
        raise ValueError(
            f"{price!r} is uncertain already: multiply its ends, or give draws= of the product."
        )
    if together is not None and (not isinstance(together, str) or not together):
        raise ValueError(
            f"together must be a name, the same for all prices that move together, but "
            f"{together!r} was given."
        )
    return Uncertain(price, read_law(low, high, mean, distribution, draws), together)


def price_of(value: Any) -> Any:
    """Return what a price is made of: that which is multiplied, if it is uncertain."""
    return value.price if isinstance(value, Uncertain) else value


def renamed(value: Any, name: str) -> Any:
    """Give an uncertain price a name, unless it has one; what is certain comes back as it is."""
    named = not isinstance(value, Uncertain) or value.together is not None
    return value if named else replace(value, together=name)


def check_together(cells: tuple[Cell, ...]) -> None:
    """Check that factors of one name have one law, or draws that belong together."""
    first: dict[str, Law] = {}
    for factor in (cell.factor for cell in cells if cell.factor is not None):
        law = first.setdefault(factor.name, factor.law)
        both = isinstance(law, Draws) and isinstance(factor.law, Draws)
        if both and law.values.size != factor.law.values.size:  # type: ignore[union-attr]
            raise ValueError(
                f"together={factor.name!r} has {law.values.size} draws for one price and "  # type: ignore[union-attr]
                f"{factor.law.values.size} for another: give as many, in the same order."  # type: ignore[union-attr]
            )
        if not both and law != factor.law:
            raise ValueError(
                f"together={factor.name!r} is given with {law} and with {factor.law}. Prices of "
                "one name have one factor: give the same law to each, or draws= of both, one for "
                "one."
            )


# ---- Certain costs at some values of the factors


def at(state: State, values: Mapping[str, Any]) -> State:
    """Return certain costs at these values of the factors, others at their means."""
    known = state.factors
    unknown = [name for name in values if name not in known]
    if unknown:
        names = ", ".join(map(repr, known)) or "none: every price is certain"
        raise ValueError(
            f"There is no uncertain price {unknown[0]!r}; those of these costs: {names}."
        )
    shares: dict[str, float] = {}
    for name, value in values.items():
        laws = [c.factor.law for c in state.cells if c.factor and c.factor.name == name]
        if any(law != laws[0] for law in laws):
            raise ValueError(
                f"The prices of {name!r} have draws of their own, so one number does not say what "
                "each of them is: use draw(n)."
            )
        number = float(value) if np.ndim(value) == 0 else np.nan
        if not np.isfinite(number) or number * laws[0].mean < 0:
            raise ValueError(
                f"{name!r} is {value!r}, which is no value of its factor: give one number, such "
                f"as its mean {laws[0].mean:g}."
            )
        shares[name] = number / laws[0].mean
    ratios = [shares.get(c.factor.name, 1.0) if c.factor else 1.0 for c in state.cells]
    return _times(state, np.array(ratios))


def _times(state: State, ratios: Floats) -> State:
    pairs = zip(state.cells, ratios.tolist(), strict=True)
    return state._replace(cells=tuple(_certain(cell, ratio) for cell, ratio in pairs))


def _certain(cell: Cell, ratio: float) -> Cell:
    if cell.factor is None or ratio == 1.0:
        return cell._replace(factor=None)
    if isinstance(cell.value, TablePrice):
        source = cell.value._replace(steps=(*cell.value.steps, ("*", ratio)))
        return Cell(source, cell.name)
    return Cell(freeze(np.asarray(cell.value * ratio)), cell.name)


def draw(state: State, n: int, random_state: Any) -> list[State]:
    """Return certain costs at `n` draws of the factors."""
    from sklearn.utils import check_random_state

    u = check_random_state(random_state).uniform(size=(n, len(state.factors)))
    return [_times(state, row) for row in relative(state, u)]


# ---- Ratios of prices to their means


def quasi_random(n_factors: int, n: int) -> Floats:
    """Return `n` points of the unit cube, spread evenly and the same every time.

    They are the middles of `n` equal intervals for one factor, and Sobol's for more.
    """
    if n_factors <= 1:
        return np.tile(((np.arange(n) + 0.5) / n)[:, None], (1, n_factors))
    from scipy.stats import qmc

    made = qmc.Sobol(n_factors, scramble=True, seed=0).random(n)
    return np.asarray(np.clip(made, 1e-12, 1.0 - 1e-12))


def relative(state: State, u: Floats) -> Floats:
    """Return what each cell is multiplied by at some points of the cube, shape (n, n_cells)."""
    columns = dict(zip(state.factors, u.T, strict=True))
    ratios = np.ones((len(u), len(state.cells)))
    for i, cell in enumerate(state.cells):
        if cell.factor is not None:
            law = cell.factor.law
            ratios[:, i] = law.quantile(columns[cell.factor.name]) / law.mean
    return ratios


def effects(state: State) -> dict[str, Floats]:
    """Return by factor what cells gain, relative to their means, at every point it may be at.

    Of shape (n_points, n_cells): a factor with one law has two points, the ends of its range, for
    whatever is asked is linear in it; draws that belong together have one point each.
    """
    found = {}
    for name, factor in state.factors.items():
        laws = [c.factor.law if c.factor and c.factor.name == name else None for c in state.cells]
        if all(law is None or law == factor.law for law in laws):
            ends = np.array([factor.law.low, factor.law.high]) / factor.law.mean - 1.0
            found[name] = np.outer(ends, [law is not None for law in laws])
        else:
            given = [None if law is None else law.values / law.mean - 1.0 for law in laws]  # type: ignore[union-attr]
            size = next(part.size for part in given if part is not None)
            found[name] = np.stack([np.zeros(size) if p is None else p for p in given], axis=1)
    return found
