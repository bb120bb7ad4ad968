"""Prices of numbers, slow and obvious: errors one by one, distributions as many points."""

from __future__ import annotations

import numpy as np


def paid(prices, y, a):
    """Return what answering `a` costs where the truth is `y`; prices are a plain dict."""
    error = a - y
    cost = prices.get("fixed", 0.0)
    if error > 0:
        cost += prices.get("over", 0.0) * error + prices.get("over_squared", 0.0) * error**2
        steps = prices.get("over_steps") or {}
    else:
        error = -error
        cost += prices.get("under", 0.0) * error + prices.get("under_squared", 0.0) * error**2
        steps = prices.get("under_steps") or {}
    for distance, price in steps.items():
        far = float(distance.strip("%")) / 100 * abs(y) if isinstance(distance, str) else distance
        cost += price if error > far else 0.0
    return cost


def points(spread, location, scale, n=200_000):
    """Return equally likely values of location + scale Z."""
    return location + scale * spread.quantile((np.arange(n) + 0.5) / n)


def expected(prices, values, a):
    """Return the mean cost of an answer over equally likely truths."""
    error = a - values
    size = np.abs(error)
    high = error > 0
    cost = np.full(len(values), prices.get("fixed", 0.0))
    cost += size * np.where(high, prices.get("over", 0.0), prices.get("under", 0.0))
    squares = np.where(high, prices.get("over_squared", 0.0), prices.get("under_squared", 0.0))
    cost += squares * size**2
    for side in ("over", "under"):
        for distance, price in (prices.get(f"{side}_steps") or {}).items():
            share = isinstance(distance, str)
            far = float(distance.strip("%")) / 100 * np.abs(values) if share else distance
            cost += price * ((error if side == "over" else -error) > far)
    return cost.mean()
