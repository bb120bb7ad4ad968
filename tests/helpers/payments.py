"""A table of payments as people have them, for the tests of the command line."""

import datetime

import numpy as np

from costboost.datasets import make_card_fraud

PRICES = ("--positive", "yes", "--fp", "8", "--tp", "8", "--fn", "amount")
QUICK = ("--method", "adamec", "--rounds", "10")
TRAIN = ("--target", "fraud", *PRICES, *QUICK)


def payments(n=1500, seed=3):
    """Made-up payments with an identifier, a day, a customer, a constant, and today's decisions."""
    import polars as pl

    data = make_card_fraud(n, fraud_rate=0.08, as_frame="polars", random_state=seed)
    rng = np.random.default_rng(seed)
    days = np.sort(rng.integers(0, 60, n))
    today = (data.amount > 150) | (rng.uniform(size=n) < 0.02)
    return data.X.with_columns(
        transaction_id=pl.Series([f"tx{i:06d}" for i in range(n)]),
        day=pl.Series([datetime.date(2026, 1, 1) + datetime.timedelta(int(d)) for d in days]),
        customer_id=pl.Series(rng.integers(0, n // 4, n)),
        currency=pl.lit("EUR"),
        blocked=pl.Series(np.where(today, "yes", "no")),
        fraud=pl.Series(np.where(data.y == 1, "yes", "no")),
    )
