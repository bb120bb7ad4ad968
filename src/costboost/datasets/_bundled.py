"""Two sets that need no files: made-up card transactions, and breast cancer from scikit-learn.

`make_card_fraud` is for examples and tests that need money.

What it copies from life: about one fraud in a hundred; amounts that spread over four orders of
magnitude; cells that are missing, some for a reason; honest customers who look odd (travellers,
night shifts, shopping sprees); and three kinds of fraud, of which boosting finds one almost always,
one often, and one hardly ever:

- *testing* a stolen number by many tiny purchases: plain to see, and worth less than an
  investigation;
- *spending* a stolen number online, on what can be sold again: costly, and between the honest and
  the odd;
- *finding* a lost card and using it in shops nearby: like the owner, but for the pace.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets as sklearn_datasets
from sklearn.utils import check_random_state

from costboost.costs import Costs
from costboost.datasets._dataset import Dataset, FrameKind, make_dataset
from costboost.inputs.checks import check_number
from costboost.typing import Floats, Int64

Strings = NDArray[Any]
Rng = np.random.RandomState


class _Merchant(NamedTuple):
    """Shares of honest and of the three kinds of fraudulent purchases; usual size; online share."""

    honest: float
    testing: float
    spending: float
    finding: float
    median: float
    online: float


MERCHANTS = {
    "groceries": _Merchant(0.27, 0.00, 0.02, 0.25, 32.0, 0.08),
    "restaurant": _Merchant(0.17, 0.02, 0.02, 0.15, 28.0, 0.05),
    "fuel": _Merchant(0.11, 0.00, 0.00, 0.20, 48.0, 0.00),
    "clothing": _Merchant(0.10, 0.03, 0.12, 0.13, 55.0, 0.45),
    "digital goods": _Merchant(0.10, 0.55, 0.12, 0.00, 11.0, 1.00),
    "pharmacy": _Merchant(0.07, 0.02, 0.02, 0.07, 19.0, 0.10),
    "charity": _Merchant(0.03, 0.33, 0.00, 0.00, 20.0, 0.90),
    "electronics": _Merchant(0.06, 0.05, 0.36, 0.17, 110.0, 0.50),
    "gift cards": _Merchant(0.03, 0.00, 0.18, 0.03, 40.0, 0.55),
    "travel": _Merchant(0.06, 0.00, 0.16, 0.00, 160.0, 0.80),
}
HONEST, TESTING, SPENDING, FINDING = range(4)
KINDS_OF_FRAUD = (0.3, 0.4, 0.3)  # shares of testing, spending, finding


def make_card_fraud(
    n_samples: int = 20_000,
    *,
    fraud_rate: float = 0.01,
    fee: float = 8.0,
    as_frame: FrameKind = "auto",
    random_state: int | Rng | None = 0,
) -> Dataset:
    """Make a table of card transactions, about one in a hundred of them fraudulent.

    Nothing in it is real. An investigation costs a fee and always finds the truth; a fraud that is
    not investigated costs its amount: ``Costs(fp=fee, tp=fee, fn=amount)``. A fraud that is smaller
    than the fee is not worth an investigation.

    Parameters
    ----------
    n_samples : int, default=20_000
    fraud_rate : float, default=0.01
        The chance of each transaction to be a fraud.
    fee : float, default=8.0
        What an investigation costs, in the currency of the amounts.
    as_frame : {"auto", "pandas", "polars", "numpy"}, default="auto"
        As for `load`.
    random_state : int, RandomState or None, default=0
        The same number gives the same table everywhere.

    Returns
    -------
    Dataset
        `y` is 1 for fraud, `amount` the money at stake. The features are amount, hour, weekday,
        merchant and channel (categories), distance_km from home, transactions in the last hour and
        in the last day, minutes since the last one, the amount relative to the customer's usual
        one, and the age of the account in days.

    Examples
    --------
    >>> from costboost.datasets import make_card_fraud
    >>> data = make_card_fraud(5000)
    >>> data.feature_names[:5]
    ('amount', 'hour', 'weekday', 'merchant', 'channel')
    >>> nothing_done = data.costs.bind([0, 1]).total(data.y, [0] * 5000)
    >>> round(nothing_done, 2) == round(float(data.amount[data.y == 1].sum()), 2)
    True
    """
    check_number("n_samples", n_samples, low=1, whole=True)
    check_number("fraud_rate", fraud_rate, low=0.0, high=1.0)
    check_number("fee", fee, low=0.0)
    rng = check_random_state(random_state)
    kind = _draw_kinds(rng, n_samples, fraud_rate)
    columns = _draw_columns(rng, kind)
    amount = columns["amount"]
    return make_dataset(
        "card_fraud",
        columns,
        (kind != HONEST).astype(np.int64),
        as_frame,
        positive=1,
        costs=Costs(fp=fee, fn=amount, tp=fee, positive=1),
        amount=amount,
        description="Card transactions: a missed fraud costs its amount, an investigation a fee",
        source="made up: costboost.datasets.make_card_fraud",
    )


def _draw_kinds(rng: Rng, n: int, fraud_rate: float) -> Int64:
    is_fraud = rng.random_sample(n) < fraud_rate
    kind = rng.choice([TESTING, SPENDING, FINDING], size=n, p=KINDS_OF_FRAUD)
    return np.where(is_fraud, kind, HONEST).astype(np.int64)


def _draw_columns(rng: Rng, kind: Int64) -> dict[str, NDArray[Any]]:
    merchant = _draw_merchants(rng, kind)
    channel = _draw_channels(rng, kind, merchant)
    amount, ratio = _draw_amounts(rng, kind, merchant)
    last_hour, last_day = _draw_pace(rng, kind)
    return {
        "amount": amount,
        "hour": _draw_hours(rng, kind),
        "weekday": rng.randint(7, size=len(kind)).astype(np.float64),
        "merchant": merchant,
        "channel": channel,
        "distance_km": _draw_distances(rng, kind, channel),
        "transactions_last_hour": last_hour,
        "transactions_last_day": last_day,
        "minutes_since_last": _draw_pauses(rng, last_hour, last_day),
        "amount_to_usual": ratio,
        "account_age_days": _draw_ages(rng, kind),
    }


def _by_kind(kind: Int64, *values: float) -> Floats:
    """Return the value of each row's kind: honest, testing, spending, finding."""
    return np.array(values, dtype=np.float64)[kind]


def _draw_merchants(rng: Rng, kind: Int64) -> Strings:
    shares = np.array([[m.honest, m.testing, m.spending, m.finding] for m in MERCHANTS.values()])
    ends = np.cumsum(shares, axis=0)[:, kind]  # (merchants, rows)
    drawn = (rng.random_sample(len(kind)) * ends[-1] > ends).sum(axis=0)
    return np.asarray(np.array(list(MERCHANTS), dtype=object)[drawn])


def _draw_channels(rng: Rng, kind: Int64, merchant: Strings) -> Strings:
    usual = np.array([MERCHANTS[m].online for m in merchant])
    online = np.where(kind == FINDING, 0.0, np.where(kind == HONEST, usual, 0.5 + usual / 2))
    is_online = rng.random_sample(len(kind)) < online
    # A finder rarely knows the PIN.
    by_chip = rng.random_sample(len(kind)) < _by_kind(kind, 0.45, 0.3, 0.4, 0.2)
    channel = np.where(is_online, "online", np.where(by_chip, "chip", "contactless"))
    return np.asarray(channel, dtype=object)


def _draw_amounts(rng: Rng, kind: Int64, merchant: Strings) -> tuple[Floats, Floats]:
    """Draw log-normal amounts, and their ratios to what the customer usually spends."""
    n = len(kind)
    usual = np.array([MERCHANTS[m].median for m in merchant])
    customer = rng.normal(0.0, 0.4, n)
    spread = _by_kind(kind, 0.75, 0.6, 0.7, 0.7)
    factor = _by_kind(kind, 1.0, 0.0, 2.5, 1.5)
    centre = np.where(kind == TESTING, 3.0, usual * factor)
    own = np.where(kind == TESTING, 0.0, customer)
    size = np.log(centre) + own + rng.normal(0.0, 1.0, n) * spread
    amount = np.maximum(np.round(np.exp(size), 2), 0.5)
    # "Usual" is estimated from a short history.
    known = np.log(usual) + customer + rng.normal(0.0, 0.3, n)
    return amount, np.round(amount / np.exp(known), 3)


def _draw_hours(rng: Rng, kind: Int64) -> Floats:
    n = len(kind)
    at_night = rng.random_sample(n) < _by_kind(kind, 0.06, 0.35, 0.40, 0.12)
    noon = rng.random_sample(n) < 0.45
    day = np.where(noon, rng.normal(12.5, 2.2, n), rng.normal(18.5, 2.4, n))
    hour = np.where(at_night, rng.normal(2.5, 1.8, n), day)
    return np.asarray(np.floor(hour % 24))


def _draw_distances(rng: Rng, kind: Int64, channel: Strings) -> Floats:
    """Draw kilometres from home; online it is the device's, which often is not known."""
    n = len(kind)
    far = rng.random_sample(n) < _by_kind(kind, 0.04, 0.35, 0.60, 0.03)
    median = np.where(far, 700.0, np.where(channel == "online", 9.0, 4.0))
    distance = np.round(median * np.exp(rng.normal(0.0, 1.1, n)), 1)
    unknown = np.where(channel == "online", _by_kind(kind, 0.20, 0.45, 0.40, 0.0), 0.02)
    return np.where(rng.random_sample(n) < unknown, np.nan, distance)


def _draw_pace(rng: Rng, kind: Int64) -> tuple[Floats, Floats]:
    """Draw transactions of the last hour and day; gamma rates, so that some days are busy."""
    n = len(kind)
    busy = rng.gamma(1.2, 1.0 / 1.2, n)
    last_hour = rng.poisson(busy * _by_kind(kind, 0.20, 5.0, 1.5, 2.0))
    last_day = last_hour + rng.poisson(busy * _by_kind(kind, 2.5, 3.0, 3.0, 4.0))
    return last_hour.astype(np.float64), last_day.astype(np.float64)


def _draw_pauses(rng: Rng, last_hour: Floats, last_day: Floats) -> Floats:
    """Draw minutes since the last transaction; not known without one in the last day."""
    n = len(last_hour)
    span = np.where(last_hour > 0, 60.0, 1380.0)
    count = np.where(last_hour > 0, last_hour, np.maximum(last_day, 1.0))
    # The most recent of `count` uniform moments within `span`.
    pause = span * (1 - rng.random_sample(n) ** (1 / count)) + np.where(last_hour > 0, 0.0, 60.0)
    return np.where(last_day > 0, np.round(pause, 1), np.nan)


def _draw_ages(rng: Rng, kind: Int64) -> Floats:
    n = len(kind)
    age = np.round(rng.exponential(1.0, n) * _by_kind(kind, 1800.0, 1300.0, 1200.0, 1800.0))
    return np.where(rng.random_sample(n) < 0.02, np.nan, age)


# ---- A set that comes with scikit-learn, with prices put on its mistakes.


def load_breast_cancer(
    *, fp: float = 1.0, fn: float = 20.0, as_frame: FrameKind = "auto"
) -> Dataset:
    """Load scikit-learn's breast cancer set (Wisconsin, diagnosis) with prices.

    Parameters
    ----------
    fp : float, default=1.0
        What a needless second look at a benign tumour costs.
    fn : float, default=20.0
        What a malignant tumour that is sent home costs. Both are illustrations in the unit of one
        second look, not medical advice.
    as_frame : {"auto", "pandas", "polars", "numpy"}, default="auto"
        As for `load`.

    Returns
    -------
    Dataset
        569 rows, 30 numbers; `y` is "benign" or "malignant", and "malignant" is positive.

    Examples
    --------
    >>> from costboost.datasets import load_breast_cancer
    >>> data = load_breast_cancer()
    >>> data
    Dataset('breast_cancer': 569 rows, 30 features (0 categorical), classes benign: 357, \
malignant: 212)
    >>> data.costs
    Costs(fp=1, fn=20, positive='malignant')
    """
    bunch = sklearn_datasets.load_breast_cancer()
    table = np.asarray(bunch.data, dtype=np.float64)
    columns = {str(name): table[:, j].copy() for j, name in enumerate(bunch.feature_names)}
    return make_dataset(
        "breast_cancer",
        columns,
        np.asarray(bunch.target_names)[bunch.target],
        as_frame,
        positive="malignant",
        costs=Costs(fp=fp, fn=fn, positive="malignant"),
        description="Breast cancer, Wisconsin, diagnosis, with a price for each mistake",
        source="scikit-learn (UCI 17, CC BY 4.0); the prices are illustrations",
    )
