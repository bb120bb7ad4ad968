"""Laws of factors: what is known of a number that a price is multiplied by.

A law has a finite mean, is never both above and below zero, and is one of

    Range         between two ends, with a mean; uniform on either side of it
    Distribution  of scipy.stats, by its name and parameters, so that files hold no code
    Draws         values that are equally likely

`quantile(u)` turns a number from 0 to 1 into a value. Draws are not sorted by it: two laws of draws
at the same `u` are the same draw. `below(x)` returns ``P(F <= x)`` and ``E[F; F <= x]``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost.inputs.arrays import freeze
from costboost.typing import Floats

__all__ = [
    "COVERED",
    "Distribution",
    "Draws",
    "Law",
    "Range",
    "law_of",
    "named_distribution",
    "read_law",
]

COVERED = 0.95  # share of a distribution between its two ends


@dataclass(frozen=True)
class Range:
    """A number between two ends, uniform below its mean and uniform above it.

    With the mean in the middle, as it is unless another is named, that is one uniform distribution.
    """

    low: float
    high: float
    mean: float

    @property
    def _share_below(self) -> float:
        return (self.high - self.mean) / (self.high - self.low)

    def quantile(self, u: Floats) -> Floats:
        """Return the values at some probabilities."""
        below = self._share_below
        left = self.low + (self.mean - self.low) * np.minimum(u / below, 1.0)
        right = self.mean + (self.high - self.mean) * (u - below) / (1.0 - below)
        return np.asarray(np.where(u < below, left, right))

    def below(self, x: Floats) -> tuple[Floats, Floats]:
        """Return ``P(F <= x)`` and ``E[F; F <= x]``."""
        share = self._share_below
        left, right = np.clip(x, self.low, self.mean), np.clip(x, self.mean, self.high)
        p_left = share * (left - self.low) / (self.mean - self.low)
        p_right = (1.0 - share) * (right - self.mean) / (self.high - self.mean)
        means = p_left * (self.low + left) / 2 + p_right * (self.mean + right) / 2
        return p_left + p_right, means

    @property
    def parts(self) -> dict[str, Any]:
        """The law as plain values, to be saved."""
        return {"kind": "range", "low": self.low, "high": self.high, "mean": self.mean}

    def __str__(self) -> str:
        middle = self.low + 0.5 * (self.high - self.low)
        mean = "" if self.mean == middle else f", mean={self.mean:g}"
        return f"low={self.low:g}, high={self.high:g}{mean}"


@dataclass(frozen=True)
class Distribution:
    """A distribution of scipy.stats, by name and parameters."""

    name: str
    args: tuple[float, ...]
    kwds: tuple[tuple[str, float], ...]

    @property
    def frozen(self) -> Any:
        """The distribution itself."""
        from scipy import stats  # slow to import, and rarely needed

        return getattr(stats, self.name)(*self.args, **dict(self.kwds))

    @property
    def mean(self) -> float:
        """The mean."""
        return float(self.frozen.mean())

    @property
    def low(self) -> float:
        """The lower end of the central 95 %."""
        return float(self.frozen.ppf((1.0 - COVERED) / 2))

    @property
    def high(self) -> float:
        """The upper end of the central 95 %."""
        return float(self.frozen.ppf((1.0 + COVERED) / 2))

    def quantile(self, u: Floats) -> Floats:
        """Return the values at some probabilities."""
        law = self.frozen
        return np.asarray(
            np.clip(law.ppf(u), *law.support())
        )  # a discrete one begins a step below, at 0

    def below(self, x: Floats) -> tuple[Floats, Floats]:
        """Return ``P(F <= x)`` and ``E[F; F <= x]``, the latter by adaptive quadrature."""
        law = self.frozen
        p = np.asarray(law.cdf(x), dtype=np.float64)
        least, most = (float(end) for end in law.support())
        means = np.where(x < least, 0.0, self.mean)
        inside = np.flatnonzero((x >= least) & (x < most))
        at, total = -math.inf, 0.0
        for i in inside[np.argsort(x[inside], kind="stable")].tolist():  # piece by piece
            if x[i] > at:
                total += _partial_mean(law, max(at, least), float(x[i]), at < least)
                at = float(x[i])
            means[i] = total
        return p, means

    @property
    def parts(self) -> dict[str, Any]:
        """The law as plain values, to be saved."""
        return {
            "kind": "distribution",
            "name": self.name,
            "args": self.args,
            "kwds": dict(self.kwds),
        }

    def __str__(self) -> str:
        given = [f"{value:g}" for value in self.args]
        given += [f"{name}={value:g}" for name, value in self.kwds]
        return f"distribution={self.name}({', '.join(given)})"


def _partial_mean(law: Any, low: float, high: float, closed: bool) -> float:
    """Return ``E[F; low < F <= high]``, with `low` itself where the interval is closed."""
    if hasattr(law.dist, "pmf"):
        last = min(math.floor(high), float(law.isf(1e-16)))  # what is beyond adds nothing
        points = np.arange(math.floor(low), last + 1, dtype=np.float64)
        points = points[points >= low] if closed else points[points > low]
        return float(np.sum(points * law.pmf(points)))
    return float(law.expect(lb=low, ub=high, epsabs=1e-13, epsrel=1e-12, limit=200))


@dataclass(frozen=True, eq=False)
class Draws:
    """Values that are equally likely."""

    values: Floats

    @property
    def mean(self) -> float:
        """The mean."""
        return float(np.mean(self.values))

    @property
    def low(self) -> float:
        """The least value."""
        return float(np.min(self.values))

    @property
    def high(self) -> float:
        """The largest value."""
        return float(np.max(self.values))

    def quantile(self, u: Floats) -> Floats:
        """Return the draws that some numbers from 0 to 1 stand for, in their own order."""
        n = self.values.size
        at = np.minimum((u * n).astype(np.intp), n - 1)
        return np.asarray(self.values[at])

    def below(self, x: Floats) -> tuple[Floats, Floats]:
        """Return ``P(F <= x)`` and ``E[F; F <= x]``."""
        ordered = np.sort(self.values)
        n = np.searchsorted(ordered, x, side="right")
        sums = np.concatenate([[0.0], np.cumsum(ordered)])
        return n / ordered.size, sums[n] / ordered.size

    @property
    def parts(self) -> dict[str, Any]:
        """The law as plain values, to be saved."""
        return {"kind": "draws", "values": self.values}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Draws) and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash((self.values.size, float(self.values[0])))

    def __str__(self) -> str:
        return f"draws=<{self.values.size} values from {self.low:g} to {self.high:g}>"


Law = Range | Distribution | Draws


def read_law(low: Any, high: Any, mean: Any, distribution: Any, draws: Any) -> Law:
    """Return the law that is given in one of three ways; see `costboost.costs.uncertain`."""
    given = [
        name
        for name, value in (("low and high", low), ("distribution", distribution), ("draws", draws))
        if value is not None
    ]
    if low is None and high is not None:
        given.insert(0, "low and high")
    if len(given) != 1:
        what = " and ".join(given) or "none of them"
        raise ValueError(
            "An uncertain price has a range (low= and high=), a distribution= or draws=, one of "
            f"the three, but {what} was given."
        )
    if mean is not None and given[0] != "low and high":
        raise ValueError(f"mean= belongs to low= and high=; the mean of {given[0]}= is its own.")
    if distribution is not None:
        return _read_distribution(distribution)
    return _read_range(low, high, mean) if draws is None else _read_draws(draws)


def law_of(parts: dict[str, Any]) -> Law:
    """Return the law that was saved as `parts`, checked as what users give is."""
    kind = parts["kind"]
    if kind == "range":
        return _read_range(parts["low"], parts["high"], parts["mean"])
    if kind == "draws":
        return _read_draws(parts["values"])
    if kind != "distribution":
        raise ValueError(f"There is no law of the kind {kind!r}.")
    return named_distribution(str(parts["name"]), tuple(parts["args"]), dict(parts["kwds"]))


def _read_range(low: Any, high: Any, mean: Any) -> Range:
    if low is None or high is None:
        raise ValueError(
            f"A range has two ends, but low={low!r} and high={high!r} were given: give both."
        )
    ends = _number(low, "low"), _number(high, "high")
    if ends[0] > ends[1]:
        raise ValueError(f"low={low!r} is above high={high!r}: swap them.")
    if ends[0] == ends[1]:
        raise ValueError(
            f"low and high are both {low!r}: such a price is certain; give it without uncertain()."
        )
    _check_sign(*ends, f"The range from {ends[0]:g} to {ends[1]:g}")
    middle = ends[0] + 0.5 * (ends[1] - ends[0])
    centre = middle if mean is None else _number(mean, "mean")
    if not ends[0] < centre < ends[1]:
        raise ValueError(
            f"mean={mean!r} is not between low={low!r} and high={high!r}: give a mean inside the "
            "range, or none for its middle."
        )
    return Range(ends[0], ends[1], centre)


def _number(value: Any, name: str) -> float:
    is_number = isinstance(value, Real | np.number) and not isinstance(value, bool | np.bool_)
    if not is_number or not math.isfinite(float(value)):
        raise ValueError(f"{name} must be a finite number, but {value!r} was given.")
    return float(value)


def _check_sign(low: float, high: float, what: str) -> None:
    if low < 0.0 < high:
        raise ValueError(
            f"{what} crosses zero, so that a cost might turn into a benefit. Give a factor that is "
            "positive wherever it may lie (such as low=0, or lognorm, gamma, beta or truncnorm for "
            "norm), or split the price into a cost and a benefit in two cells."
        )


def _read_draws(draws: ArrayLike) -> Draws:
    values = np.array(draws, dtype=object)
    try:
        numbers = np.array(draws, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"draws must be numbers, but {draws!r} was given.") from None
    if values.dtype == np.bool_ or numbers.ndim != 1 or numbers.size < 2:
        raise ValueError(
            f"draws has shape {numbers.shape}; give at least two values, in one dimension. (Draws "
            "of one factor are what they may be, not one value per row.)"
        )
    if not np.isfinite(numbers).all():
        raise ValueError("draws hold infinite or missing values: leave them out.")
    low, high = float(numbers.min()), float(numbers.max())
    if low == high:
        raise ValueError(f"All draws are {low:g}: such a price is certain; give it as it is.")
    _check_sign(low, high, f"The range of the draws, from {low:g} to {high:g},")
    return Draws(freeze(numbers))


def _read_distribution(distribution: Any) -> Distribution:
    from scipy import stats

    made = getattr(distribution, "dist", None)
    name = getattr(made, "name", None)
    known = getattr(stats, name, None) if isinstance(name, str) else None
    if made is None or known is None or type(known) is not type(made):
        raise ValueError(
            f"distribution={distribution!r} is no frozen distribution of scipy.stats, such as "
            "scipy.stats.beta(6, 14) or scipy.stats.lognorm(0.3). For any other give draws=, "
            "an array of values drawn from it."
        )
    return named_distribution(str(name), tuple(distribution.args), dict(distribution.kwds))


def named_distribution(name: str, args: tuple[Any, ...], kwds: dict[str, Any]) -> Distribution:
    """Return a distribution of scipy.stats by name.

    Raises unless its parameters are numbers that it takes, its mean is finite and its sign known.
    """
    from scipy import stats

    kinds = stats.rv_continuous, stats.rv_discrete
    made = getattr(stats, name, None)
    if not isinstance(made, kinds):
        names = [known for known in dir(stats) if isinstance(getattr(stats, known), kinds)]
        close = get_close_matches(name, names, n=1)
        meant = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(
            f"scipy.stats has no distribution {name!r}.{meant} Often used are beta, gamma, "
            "lognorm, triang, truncnorm and uniform."
        )
    numbers = tuple(_number(value, f"A parameter of {name}") for value in args)
    named = tuple((str(key), _number(value, f"{key} of {name}")) for key, value in kwds.items())
    law = Distribution(name, numbers, named)
    try:
        made(*numbers, **dict(named))
    except TypeError:
        shapes = made.shapes.split(", ") if made.shapes else []
        places = ["loc"] if isinstance(made, stats.rv_discrete) else ["loc", "scale"]
        raise ValueError(
            f"{str(law)[13:]}: {name} takes the parameters {', '.join(shapes + places)}, in that "
            f"order or by name; {' and '.join(places)} may be left out."
        ) from None
    with np.errstate(all="ignore"):
        mean, (low, high) = law.mean, law.frozen.support()
    if not math.isfinite(mean):
        raise ValueError(
            f"The mean of {str(law)[13:]} is {mean:g}, so no decision minimises the expected cost. "
            "Give a distribution with a finite mean (a bounded one, such as beta or truncnorm), "
            "and check its parameters."
        )
    _check_sign(float(low), float(high), f"The distribution {str(law)[13:]}")
    if mean == 0.0 or law.low == law.high:
        raise ValueError(f"The distribution {str(law)[13:]} is one number: give a certain price.")
    return law
