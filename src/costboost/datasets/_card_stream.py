"""A made-up stream of card payments over half a year, whose frauds are known only days later.

It follows the simulator of Le Borgne, Siblini, Lebichot and Bontempi, "Reproducible Machine
Learning for Credit Card Fraud Detection - Practical Handbook" (2022), chapter 3: customers pay at
terminals near them, and three things go wrong:

1. every payment above 220 is a fraud, the plain kind;
2. terminals are compromised for four weeks, in which every payment there is a fraud;
3. customers' cards are stolen for two weeks, in which a third of their payments are frauds of five
   times the usual amount.

Rows are in the order of time. Windows of the past are sums between two places in a sorted array:
payments of one customer (or terminal) are laid on a line of their own stretch, so that one search
finds the border of a window for all rows at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from sklearn.utils import check_random_state

from costboost.costs import Costs
from costboost.datasets._dataset import Dataset, FrameKind, to_table
from costboost.inputs.checks import check_choice, check_number
from costboost.typing import Floats, Int64, Mask

Rng = np.random.RandomState

START = np.datetime64("2018-04-01", "ms")  # that of the handbook
_SECONDS = 86_400
_WINDOWS = (1, 7, 30)  # days
_LARGE = 220.0
_CHANGES = (None, "prevalence", "column", "prices", "adapt")

# Terminals and customers that are newly compromised on a day, of 10,000 and of 5,000.
_TERMINALS_A_DAY, _CUSTOMERS_A_DAY = 2 / 10_000, 3 / 5_000
_TERMINAL_DAYS, _CUSTOMER_DAYS = 28, 14


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CardStream(Dataset):
    """Card payments in the order of time.

    Beside what every `Dataset` has:

    Attributes
    ----------
    time, label_time : datetime64 array of shape (n_samples,)
        When each payment was made, and when it is known whether it was a fraud.
    day : int array of shape (n_samples,)
        The day of each payment, from 0 on.
    customer, terminal : int array of shape (n_samples,)
        Who paid, and where.
    scenario : int array of shape (n_samples,)
        0 for an honest payment; 1 a large amount, 2 a compromised terminal, 3 a stolen card.
    fee : ndarray of shape (n_samples,)
        What it costs to investigate each payment.

    Examples
    --------
    >>> from costboost.datasets import make_card_stream
    >>> stream = make_card_stream(20, 40, n_days=30)
    >>> int(stream.day.max()), list(stream.to_table("pandas").columns[:4])
    (29, ['time', 'customer', 'terminal', 'amount'])
    """

    time: NDArray[Any]
    label_time: NDArray[Any]
    day: Int64
    customer: Int64
    terminal: Int64
    scenario: Int64
    fee: Floats

    def to_table(self, as_frame: FrameKind = "auto") -> Any:
        """Return one table of everything, as a file for the command line would hold it.

        Parameters
        ----------
        as_frame : {"auto", "pandas", "polars"}, default="auto"

        Returns
        -------
        DataFrame
            The columns time, customer and terminal, the features, fee, label_time, and fraud.
        """
        check_choice("as_frame", as_frame, ("auto", "pandas", "polars"))
        columns = {
            "time": self.time,
            "customer": self.customer,
            "terminal": self.terminal,
            **self._columns,
            "fee": self.fee,
            "label_time": self.label_time,
            "fraud": self.y,
        }
        return to_table(columns, as_frame)


class _World(NamedTuple):
    """Customers, and the terminals that they use."""

    mean_amount: Floats
    payments_a_day: Floats
    near: list[Int64]


class _Payments(NamedTuple):
    """Payments in the order of time; seconds from the start of the stream."""

    second: Int64
    customer: Int64
    terminal: Int64
    amount: Floats


def make_card_stream(
    n_customers: int = 5000,
    n_terminals: int = 10_000,
    n_days: int = 183,
    *,
    fee: float = 5.0,
    label_delay: int = 7,
    change: str | None = None,
    change_day: int | None = None,
    as_frame: FrameKind = "auto",
    random_state: int | Rng | None = 0,
) -> CardStream:
    """Make a stream of card payments, about one in a hundred of them fraudulent.

    Nothing in it is real. It is made as in the handbook of Le Borgne et al. (2022), whose numbers
    are the defaults: about 9,600 payments a day. Fewer customers and terminals give a smaller
    stream of the same kind. An investigation costs a fee and finds the truth; a fraud that is not
    investigated costs its amount: ``Costs(fp=fee, tp=fee, fn=amount)``.

    Parameters
    ----------
    n_customers, n_terminals : int, default=5000 and 10_000
    n_days : int, default=183
    fee : float, default=5.0
        What an investigation costs, in the currency of the amounts.
    label_delay : int, default=7
        Days until it is known whether a payment was a fraud. The share of frauds at a terminal, a
        feature, is of what was known by then.
    change : {"prevalence", "column", "prices", "adapt"} or None, default=None
        What is different from ``change_day`` on: three times as many terminals and cards are
        compromised; the columns ``terminal_fraud_share_*`` come in percent; an investigation costs
        four times as much; or fraudsters adapt: no large amounts, stolen cards pay what is usual,
        and terminals are given up after a week, before they are known.
    change_day : int, default=None
        None is the middle of the stream.
    as_frame : {"auto", "pandas", "polars", "numpy"}, default="auto"
        As for `load`.
    random_state : int, RandomState or None, default=0
        The same number gives the same stream everywhere. Up to ``change_day`` a stream with a
        change is the same as one without.

    Returns
    -------
    CardStream
        `y` is 1 for fraud. The features are amount, hour, weekend, and of the last 1, 7 and 30
        days: payments and mean amount of the customer, payments and share of frauds at the
        terminal (of those that were known).

    Examples
    --------
    >>> from costboost.datasets import make_card_stream
    >>> stream = make_card_stream(50, 100, n_days=60)
    >>> stream.feature_names[:5]
    ('amount', 'hour', 'weekend', 'customer_payments_1d', 'customer_payments_7d')
    >>> str(stream.label_time[0] - stream.time[0])
    '604800000 milliseconds'
    """
    check_number("n_customers", n_customers, low=1, whole=True)
    check_number("n_terminals", n_terminals, low=1, whole=True)
    check_number("n_days", n_days, low=1, whole=True)
    check_number("fee", fee, low=0.0)
    check_number("label_delay", label_delay, low=0, whole=True)
    check_choice("change", change, _CHANGES)
    changed = _read_change_day(change, change_day, n_days)
    rng = check_random_state(random_state)
    world = _make_world(rng, n_customers, n_terminals)
    paid = _draw_payments(rng, world, n_days)
    day = paid.second // _SECONDS
    is_after = day >= changed
    amount, scenario = _commit_frauds(rng, paid, n_customers, n_terminals, n_days, change, changed)
    paid = paid._replace(amount=amount)
    y = (scenario > 0).astype(np.int64)
    columns = _features(paid, y, label_delay)
    if change == "column":
        for w in _WINDOWS:
            name = f"terminal_fraud_share_{w}d"
            columns[name] = np.where(is_after, 100 * columns[name], columns[name])
    fees = np.where(is_after & (change == "prices"), 4.0 * fee, fee)
    time = START + paid.second.astype("timedelta64[s]")
    return CardStream(
        name="card_stream",
        X=to_table(columns, as_frame),
        y=y,
        positive=1,
        costs=Costs(fp=fees, fn=amount, tp=fees, positive=1),
        amount=amount,
        description="Card payments in time: a missed fraud costs its amount, a check a fee",
        source="made up: costboost.datasets.make_card_stream",
        _columns=columns,
        time=time,
        label_time=time + np.timedelta64(label_delay, "D"),
        day=day,
        customer=paid.customer,
        terminal=paid.terminal,
        scenario=scenario,
        fee=fees,
    )


def _read_change_day(change: str | None, change_day: int | None, n_days: int) -> int:
    """Return the first day that is different; beyond the last one where none is."""
    if change is None:
        if change_day is not None:
            raise ValueError(
                f"change_day={change_day!r}, but change=None: say what changes on that day, such "
                "as change='prevalence'."
            )
        return n_days
    if change_day is None:
        return n_days // 2
    check_number("change_day", change_day, low=0, high=n_days - 1, whole=True)
    return change_day


# ---- Customers, terminals, payments


def _make_world(rng: Rng, n_customers: int, n_terminals: int) -> _World:
    at = rng.uniform(0, 100, size=(n_customers, 2))
    terminals = cKDTree(rng.uniform(0, 100, size=(n_terminals, 2)))
    # 5 in the handbook, which makes some 78 terminals: as many among fewer.
    radius = 5.0 * np.sqrt(10_000 / n_terminals)
    near = terminals.query_ball_point(at, radius, return_sorted=True)
    closest = terminals.query(at)[1]
    return _World(
        rng.uniform(5, 100, size=n_customers),
        rng.uniform(0, 4, size=n_customers),
        [np.array(found or [only]) for found, only in zip(near, closest.tolist(), strict=True)],
    )


def _draw_payments(rng: Rng, world: _World, n_days: int) -> _Payments:
    n_customers = len(world.near)
    counts = rng.poisson(world.payments_a_day[:, None], size=(n_customers, n_days))
    counts[0, 0] = max(int(counts[0, 0]), 1)  # a stream is never empty
    customer = np.repeat(np.arange(n_customers), counts.sum(axis=1))
    day = np.repeat(np.tile(np.arange(n_days), n_customers), counts.reshape(-1))
    # Around noon; what would fall on another day is moved into its own.
    within = np.floor(rng.normal(_SECONDS / 2, 20_000, size=len(day)))
    second = (day * _SECONDS + within.astype(np.int64) % _SECONDS).astype(np.int64)
    mean = world.mean_amount[customer]
    amount = mean * (1 + 0.5 * rng.normal(size=len(day)))
    amount = np.where(amount < 0, rng.uniform(size=len(day)) * 2 * mean, amount)
    sizes = np.array([len(found) for found in world.near])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    chosen = starts[customer] + (rng.uniform(size=len(day)) * sizes[customer]).astype(np.int64)
    terminal = np.concatenate(world.near)[chosen]
    order = np.argsort(second, kind="stable")
    return _Payments(
        second[order],
        customer[order].astype(np.int64),
        terminal[order].astype(np.int64),
        np.maximum(np.round(amount[order], 2), 0.01),
    )


def _commit_frauds(
    rng: Rng,
    paid: _Payments,
    n_customers: int,
    n_terminals: int,
    n_days: int,
    change: str | None,
    changed: int,
) -> tuple[Floats, Int64]:
    """Return amounts, some of them raised by fraudsters, and the scenario of each payment."""
    day = paid.second // _SECONDS
    after = day >= changed
    adapted = after & (change == "adapt")
    rate = np.where((np.arange(n_days) >= changed) & (change == "prevalence"), 3.0, 1.0)
    # One generator for each part: what one draws more changes nothing of the others.
    seeds = rng.randint(2**31 - 1, size=4)
    first, adapting, second, third = (np.random.RandomState(seed) for seed in seeds)
    terminals = _compromise(first, rate * _TERMINALS_A_DAY, n_terminals, _TERMINAL_DAYS)
    if change == "adapt":  # as many payments, from four times as many terminals for a week each
        adapt = np.where(np.arange(n_days) >= changed, 4.0, 0.0)
        shorter = _compromise(adapting, adapt * _TERMINALS_A_DAY, n_terminals, _TERMINAL_DAYS // 4)
        terminals[:, changed:] = shorter[:, changed:]
    customers = _compromise(second, rate * _CUSTOMERS_A_DAY, n_customers, _CUSTOMER_DAYS)
    stolen = customers[paid.customer, day] & (third.uniform(size=len(day)) < 1 / 3)
    at_terminal = terminals[paid.terminal, day]
    amount = np.where(stolen & ~adapted, np.round(5 * paid.amount, 2), paid.amount)
    large = (paid.amount > _LARGE) & ~adapted
    scenario = np.where(large, 1, 0)
    scenario = np.where(at_terminal, 2, scenario)
    return amount, np.where(stolen, 3, scenario).astype(np.int64)


def _compromise(rng: Rng, rate: Floats, n: int, days: int) -> Mask:
    """Return on which days each of `n` is compromised; `rate` is the share that begins on a day."""
    n_days = len(rate)
    found = np.zeros((n, n_days), dtype=np.bool_)
    for day, begins in enumerate(rng.uniform(size=(n_days, n)) < rate[:, None]):
        found[begins, day : day + days] = True
    return found


# ---- What was known at each payment


def _features(paid: _Payments, y: Int64, delay: int) -> dict[str, NDArray[Any]]:
    day = paid.second // _SECONDS
    customer = _Past(paid.customer, paid.second)
    terminal = _Past(paid.terminal, paid.second)
    cents = np.rint(100 * paid.amount).astype(np.int64)
    columns: dict[str, NDArray[Any]] = {
        "amount": paid.amount,
        "hour": (paid.second % _SECONDS // 3600).astype(np.float64),
        # 2018-04-01 was a Sunday.
        "weekend": np.isin(day % 7, (0, 6)).astype(np.float64),
    }
    wanted: dict[str, list[Floats]] = {"payments": [], "amounts": [], "at": [], "share": []}
    for w in _WINDOWS:
        n, total = customer.sums(cents, w)
        wanted["payments"].append(n.astype(np.float64))
        wanted["amounts"].append(total / (100.0 * n))
        n, frauds = terminal.sums(y, w, delay)
        wanted["at"].append(n.astype(np.float64))
        wanted["share"].append(frauds / np.maximum(n, 1.0))
    names = {
        "payments": "customer_payments",
        "amounts": "customer_mean_amount",
        "at": "terminal_payments",
        "share": "terminal_fraud_share",
    }
    for part, name in names.items():
        for w, values in zip(_WINDOWS, wanted[part], strict=True):
            columns[f"{name}_{w}d"] = values
    return columns


class _Past:
    """Sums over the past of the same customer, or of the same terminal.

    All is kept in the order of owner and time, in which searches are fast, and sums are whole
    numbers: what comes later in the stream changes nothing earlier, not even by a rounding.
    """

    def __init__(self, owner: Int64, second: Int64) -> None:
        # The stretch of each owner is twice as long as all time: windows end before the next one's.
        stretch = int(second.max()) + 1
        key = owner * (2 * stretch) + stretch + second
        self._order = np.argsort(key, kind="stable")
        self._key = key[self._order]
        self._first = owner[self._order] * (2 * stretch)

    def sums(self, values: Int64, days: int, delay: int = 0) -> tuple[Int64, Int64]:
        """Return how many payments there were in the window that ended `delay` days ago, and a sum.

        Without a delay the payment itself is among them.
        """
        added = np.concatenate([[0], np.cumsum(values[self._order])])
        until = np.maximum(self._key - delay * _SECONDS, self._first)
        since = np.maximum(until - days * _SECONDS, self._first)
        high = np.searchsorted(self._key, until, side="right")
        low = np.searchsorted(self._key, since, side="right")
        n, total = np.empty_like(values), np.empty_like(values)
        n[self._order], total[self._order] = high - low, added[high] - added[low]
        return n, total
