"""Which tests a recipe buys: those that lower the cost of mistakes and tests together.

Every set of tests has a total cost: what the decisions on rows left out of folds cost when models
may look at its columns alone, plus its price. The search adds and drops tests, and groups that
share a fee, one move at a time, from nothing and from everything; the least total wins, and of
equal ones the first found, which is the smaller set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from costboost.costs import ColumnTests

Tests = frozenset[int]
MOST = 120  # sets that are looked at
_SAME = 1e-9  # totals that differ by this share are equal


def price_of_set(tests: ColumnTests, bought: Tests) -> float:
    """Return what a set of tests costs a row; where the model pays, a row's share."""
    asked = np.isin(np.arange(len(tests)), list(bought))
    return float(tests.cost(asked)) / (1.0 if tests.pay == "row" else tests.rows)


def choose_tests(tests: ColumnTests, mistakes: Callable[[Tests], float]) -> Tests:
    """Return the set of tests of least total cost that the search finds.

    Parameters
    ----------
    tests : ColumnTests
    mistakes : callable
        The mean cost of the decisions by a set of tests.
    """
    totals = dict[Tests, float]()

    def total(bought: Tests) -> float:
        if bought not in totals:
            totals[bought] = mistakes(bought) + price_of_set(tests, bought)
        return totals[bought]

    nothing, everything = frozenset[int](), frozenset(range(len(tests)))
    ends = []
    for start in (nothing, everything):
        best = start
        total(best)
        while len(totals) < MOST:
            # A set that costs more than the best total in tests alone needs no model.
            least = min(totals.values())
            near = [m for m in _moves(tests, best) if price_of_set(tests, m) < least]
            found = min(near, key=total, default=best)
            if not total(found) < total(best) - _SAME * abs(total(best)):
                break
            best = found
        ends.append(best)
    return min(ends, key=lambda bought: (total(bought), len(bought)))


def _moves(tests: ColumnTests, bought: Tests) -> Iterator[Tests]:
    """Yield the sets that are one test, or one group, away; smaller ones first."""
    units = [frozenset([test]) for test in range(len(tests))]
    for group in range(len(tests.fees)):
        unit = frozenset(np.flatnonzero(tests.groups == group).tolist())
        units += [unit] if len(unit) > 1 else []
    seen = {bought}
    for found in [bought - unit for unit in units] + [bought | unit for unit in units]:
        if found not in seen:
            seen.add(found)
            yield found
