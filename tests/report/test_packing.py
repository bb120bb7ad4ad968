"""Packing keeps every bit; rounding keeps probabilities probabilities and says what it does."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost import Costs
from costboost.report.packing import _pack, pack_rows, unpack
from costboost.report.rounding import fit_budget, rounded
from costboost.report.rows import PageRows, read_prices
from report_cases import CASES

floats = st.floats(allow_nan=False, allow_infinity=False, width=64)
cents = st.integers(-(10**9), 10**12).map(lambda n: n / 100)


def bits(values):
    return np.asarray(values, dtype=np.float64).view(np.uint64).tolist()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(floats, cents), min_size=1, max_size=30), st.booleans())
def test_any_numbers_come_back(numbers, is_sorted):
    values = np.array(sorted(numbers) if is_sorted else numbers)
    values = values + 0.0  # -0.0 becomes 0.0: no price and no probability is one
    head, body = _pack("x", values)
    table = np.zeros((len(values), 8), dtype=np.uint8)
    table[:, : head["planes"]] = np.frombuffer(body, np.uint8).reshape(-1, len(values)).T
    from costboost.report.packing import _restore

    assert bits(_restore(head, table.view("<u8")[:, 0])) == bits(values)


def test_amounts_in_cents_are_kept_as_such():
    values = np.array([0.1, 1234.56, 19.99, 0.07])
    head, body = _pack("x", values)
    assert (head["kind"], head["divisor"], head["planes"]) == ("whole", 100.0, 3)
    assert len(body) == 12


@pytest.mark.parametrize("name", CASES)
def test_rows_come_back(name):
    rows = CASES[name]().page_rows
    text, heads = pack_rows(rows)
    arrays = unpack(text, heads, len(rows))
    np.testing.assert_array_equal(arrays["truth"], rows.truth)
    for j, column in enumerate(rows.prices.columns):
        np.testing.assert_array_equal(arrays[f"c{j}"], column)
    for k in range(len(rows.classes)):
        if f"p{k}" in arrays:
            np.testing.assert_array_equal(arrays[f"p{k}"], rows.proba[:, k])
    for j, (labels, codes) in enumerate(rows.groups.values()):
        np.testing.assert_array_equal(arrays[f"g{j}"], codes)
        assert codes.max() < len(labels)


def many(n, n_classes, seed=0):
    rng = np.random.RandomState(seed)
    proba = rng.dirichlet(np.full(n_classes, 0.3), n)
    truth = rng.randint(n_classes, size=n)
    C = rng.gamma(2.0, 5.0, (n, n_classes, n_classes))
    costs = Costs.from_matrix(C).bind(np.arange(n_classes), n)
    return PageRows(bound=costs, prices=read_prices(costs), proba=proba, truth=truth)


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_rounded_probabilities_add_up_and_are_near(level, n_classes):
    rows = many(500, n_classes)
    bits_kept = int(rounded(rows, level).rounding.split("2**-")[1].split(",")[0])
    made = rounded(rows, level).proba
    assert (made.sum(axis=1) == 1.0).all()
    assert (made >= 0).all()
    assert np.abs(made - rows.proba).max() <= n_classes * 2.0**-bits_kept
    whole = made * 2.0**bits_kept
    np.testing.assert_array_equal(whole, np.rint(whole))


def test_levels_are_taken_as_the_budget_asks():
    rows = many(2000, 3)
    size = len(pack_rows(rounded(rows, 0).sorted())[0])
    assert fit_budget(rows, 0, budget=size).rounding == "exact"
    smaller = fit_budget(rows, 0, budget=size - 1)
    assert "2**-24" in smaller.rounding
    assert len(smaller) == 2000
    tiny = fit_budget(rows, 0, budget=size // 20)
    assert 20 < len(tiny) < 1000
    assert len(pack_rows(tiny)[0]) <= size // 20
    again = fit_budget(rows, 0, budget=size // 20)
    np.testing.assert_array_equal(tiny.proba, again.proba)


def test_rounding_moves_only_decisions_at_the_threshold():
    rows = many(3000, 2)
    exact, coarse = rounded(rows, 0), rounded(rows, 1)
    assert (exact.decide_codes() == coarse.decide_codes()).mean() > 0.999


def test_sampled_rows_are_rows_of_the_table():
    rows = dataclasses.replace(many(400, 2), weight=np.arange(400.0))
    kept = rows.take(np.array([5, 3]))
    assert kept.weight.tolist() == [5, 3]
    np.testing.assert_array_equal(kept.prices.columns[0], rows.prices.columns[0][[5, 3]])
