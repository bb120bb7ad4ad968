"""What all losses share, and what is asked of a user's own."""

import numpy as np
import pytest

from costboost.boosting.gradient.losses import (
    BuiltIn,
    ExponentialLoss,
    LogLoss,
    OwnLoss,
    SquaredLoss,
    own_loss,
)
from costboost.boosting.gradient.losses.base import newton_constant
from costboost.boosting.gradient.rows import LossRows
from gradient_losses import derive
from gradient_shards import cut_rows
from odd import OddLoss


def test_a_users_hessian_must_not_be_negative():
    class Bad(SquaredLoss):
        def hessian(self, y, raw):
            return -np.ones_like(raw)

    with pytest.raises(ValueError, match="negative in row 0"):
        OwnLoss(Bad()).derivatives(LossRows(np.zeros(3)), np.zeros((3, 1)))


class Cosh:
    """A user's loss: the logarithm of cosh."""

    def value(self, y, raw):
        return np.logaddexp(raw - y, y - raw) - np.log(2)

    def gradient(self, y, raw):
        return np.tanh(raw - y)

    def hessian(self, y, raw):
        return 1 - np.tanh(raw - y) ** 2


class Quadratic(BuiltIn):
    """A loss with three methods and nothing else: squared errors of an odd unit."""

    kind = "quadratic"

    def value(self, y, raw):
        return 1.5 * (raw - y) ** 2

    def gradient(self, y, raw):
        return 3.0 * (raw - y)

    def hessian(self, y, raw):
        return np.full_like(raw, 3.0)


@pytest.fixture(autouse=True)
def small_deals(monkeypatch):
    monkeypatch.setattr("costboost.shards.layout._DEAL", 4)


@pytest.mark.parametrize("loss", [OwnLoss(Cosh()), Quadratic(), OwnLoss(Quadratic())])
@pytest.mark.parametrize("n_shards", [1, 3])
def test_rows_hold_what_a_loss_says_of_them(loss, n_shards):
    rng = np.random.default_rng(0)
    rows = LossRows(rng.normal(size=13), 1, rng.uniform(0.0, 2, 13))
    raw = rng.normal(size=(13, 1))
    largest, *found = derive(loss, rows, raw, n_shards)
    expected = loss.derivatives(rows, raw)
    for part, own in zip(found, expected, strict=True):
        np.testing.assert_array_equal(part, own)
    assert largest.tolist() == [[np.abs(expected[0]).max(), expected[1].max()]]


@pytest.mark.parametrize("n_shards", [1, 3])
def test_the_best_constant_needs_no_formula(n_shards):
    rng = np.random.default_rng(1)
    y, weights = rng.normal(size=13) + 5.0, rng.uniform(0.1, 2, 13)
    for loss in (Quadratic(), OwnLoss(Quadratic())):
        with cut_rows(LossRows(y, 1, weights), n_shards=n_shards) as shards:
            (found,) = loss.constant(shards, 1)
        assert found == pytest.approx(np.average(y, weights=weights), rel=1e-12)


def test_values_of_rows_are_written_times_their_weights():
    rows = LossRows(np.array([1.0, 2.0, 5.0]), 1, np.array([1.0, 0.0, 2.0]))
    out = np.zeros(3)
    terms = Quadratic().bind(rows)
    assert terms.write_values(np.zeros((3, 1)), out) == 75.0
    assert out.tolist() == [1.5, 0.0, 75.0]
    none = Quadratic().bind(LossRows(np.zeros(0)))
    assert none.write_values(np.zeros((0, 1)), np.zeros(0)) == 0.0
    assert none.derive(np.zeros((0, 1)), 0.0, np.zeros((2, 1, 0))).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("change", ["one nan", "one inf", "too short", "nothing", "words"])
@pytest.mark.parametrize("where", ["value", "gradient", "hessian"])
def test_odd_answers_of_a_users_loss_are_refused_by_name(change, where):
    loss, rows = OwnLoss(OddLoss(change, where)), LossRows(np.arange(4.0))
    ask = loss.mean_value if where == "value" else loss.derivatives
    with pytest.raises(ValueError, match=rf"OddLoss\.{where}"):
        ask(rows, np.zeros((4, 1)))


def test_the_row_of_a_negative_hessian_is_named():
    class Wavy(Cosh):
        def hessian(self, y, raw):
            return np.where(np.arange(raw.size).reshape(raw.shape) == 7, -1.0, 1.0)

    with pytest.raises(ValueError, match=r"Wavy\.hessian is negative in row 2: return a positive"):
        OwnLoss(Wavy()).derivatives(LossRows(np.zeros((5, 1)), 3), np.zeros((5, 3)))


def test_users_losses_may_take_prices_and_have_a_link():
    class Priced(Cosh):
        uses_costs = True
        odds = 2.0

        def value(self, y, raw, prices):
            return prices[:, 0] * raw

        def proba(self, raw):
            return np.column_stack([1 - raw, raw])

    loss = OwnLoss(Priced())
    rows = LossRows(np.array([0, 1]), prices=np.array([[2.0, 0.0], [4.0, 0.0]]))
    assert loss.mean_value(rows, np.ones((2, 1))) == 3.0
    assert loss.proba(np.array([0.25])).tolist() == [[0.75, 0.25]]
    assert (loss.odds, loss.link_scale) == (2.0, None)
    with pytest.raises(ValueError, match=r"Priced\.proba"):
        loss.proba(np.array([1.5]))
    plain = OwnLoss(Cosh())
    assert (plain.uses_costs, plain.odds, plain.link_scale) == (False, 1.0, 1.0)
    np.testing.assert_array_equal(plain.proba(np.zeros(1)), [[0.5, 0.5]])


def test_what_is_no_loss_is_refused():
    assert own_loss(Cosh()).loss.__class__ is Cosh
    for odd in (3, object(), np.mean):
        with pytest.raises(ValueError, match="neither a name nor an object with the methods value"):
            own_loss(odd)


def test_probabilities_are_the_logistic_function_of_f_times_odds():
    for loss, scale in ((LogLoss(), 1.0), (ExponentialLoss(), 2.0)):
        raw = np.array([-3.0, 0.0, 0.7])
        np.testing.assert_allclose(loss.proba(raw)[:, 1], 1 / (1 + np.exp(-scale * raw)))
        wide = np.array([[0.0, 1.0, -1.0]])
        powers = np.exp(scale * wide)
        np.testing.assert_allclose(loss.proba(wide), powers / powers.sum())
        assert loss.link_scale == scale


def test_constants_of_outputs_are_found_one_after_the_other():
    # A bowl whose minima depend on each other; only differences count.
    A, b = np.array([[3.0, 1.0, 0.0], [1.0, 4.0, 1.0], [0.0, 1.0, 5.0]]), np.array([1.0, -2.0, 4.0])

    def sums_at(f0, output):
        return float(A[output] @ f0 - b[output]), float(A[output, output])

    alone = newton_constant(lambda f0, output: (2 * f0[0] - 6.0, 2.0), 1, 1e300)
    assert alone.tolist() == [3.0]
    limited = newton_constant(lambda f0, output: (2 * f0[0] - 6.0, 2.0), 1, 2.5)
    assert limited.tolist() == [2.5]
    found = newton_constant(sums_at, 3, 100.0)
    assert found.mean() == pytest.approx(0.0, abs=1e-12)


def test_constants_take_a_bounded_number_of_evaluations():
    """Outputs that hardly differ: one after the other, each turn does next to nothing."""
    asked = []

    def sums_at(f0, output):
        asked.append(output)
        return float(f0.sum() + 1e-9 * f0[output] - output), 1.0 + 1e-9

    assert np.isfinite(newton_constant(sums_at, 4, 1e9)).all()
    assert len(asked) < 2_500


@pytest.mark.parametrize("power", [-300, 0, 300])
def test_a_constant_is_as_exact_in_any_unit(power):
    a = 2.0**power

    def sums_at(f0, output):
        z = 3.0 * np.exp(-a * f0[0]), 5.0 * np.exp(2.0 * a * f0[0])
        return float(a * (2.0 * z[1] - z[0])), float(a * a * (4.0 * z[1] + z[0]))

    (found,) = newton_constant(sums_at, 1, 18.0 / a, 1.0 / a)
    assert a * found == pytest.approx(np.log(0.3) / 3.0, rel=1e-9)
