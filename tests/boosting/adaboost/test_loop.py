"""The loop itself: rounds that are asked for, taken, replayed, and refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from costboost import Costs
from costboost.binning.binner import fit_binner
from costboost.boosting.adaboost.learner import TreeLearner
from costboost.boosting.adaboost.loop import LARGEST, Boosting
from costboost.boosting.adaboost.rows import TrainingRows
from costboost.boosting.adaboost.rules import RULES
from costboost.boosting.adaboost.weights import Setting
from costboost.shards.layout import RowData, plan_layout
from costboost.trees.tree import Limits
from naive import rules as naive

RNG = np.random.default_rng(0)
N = 150
X = RNG.normal(size=(N, 3))
Y = (X @ [1.0, -1.0, 0.5] + RNG.normal(size=N) > 0.3).astype(int)
FN = RNG.uniform(1.0, 1.5, N)
WEIGHTS = RNG.uniform(0.5, 2.0, N)


class Fit:
    """A loop on shards of a table; closed by `with`."""

    def __init__(self, method, X=X, y=Y, fn=2.0, weights=None, n_shards=1, depth=2, **setting):
        binner = fit_binner(X)
        costs = Costs(fp=1.0, fn=fn).bind([0, 1], len(y))
        objective = setting.get("objective")
        self.given = TrainingRows(RowData(y, weights, costs), 2, y, objective=objective)
        layout = plan_layout(y, len(y), 2, n_shards)
        codes = binner.encode(X, positions=layout.positions)
        self.shards = layout.cut(codes, self.given.load)
        votes = setting.get("votes", "discrete")
        learner = TreeLearner(binner, 2, Limits(max_depth=depth), votes=votes)
        setting = Setting(**{"n_rounds": 5, **setting})
        self.loop = Boosting(self.shards, RULES[method], learner, self.given, setting)

    def __enter__(self):
        return self.loop

    def __exit__(self, *raised):
        self.shards.__exit__(*raised)

    def margins(self):
        return self.shards.fetch(lambda shard: shard.state.margins.copy())[:, 0]


def told(rounds):
    return [(done.alpha, done.error, done.normalizer, done.train_cost) for done in rounds]


@pytest.mark.parametrize("method", ["adaboost", "adacost", "csb2", "adac2", "csada", "asymada"])
@pytest.mark.parametrize("fn", [2.0, FN], ids=["constant", "rows"])
def test_rounds_are_those_of_a_plain_run_of_the_same_votes(method, fn):
    fit = Fit(method, fn=fn, weights=WEIGHTS)
    margins, rounds = [], []
    with fit as loop:
        for done in loop.rounds():
            rounds.append(done)
            margins.append(fit.margins())
        assert loop.stop == "rounds"
    votes = np.sign(np.diff(margins, axis=0, prepend=np.zeros((1, N))))
    cost, signs = np.where(Y == 1, fn, 1.0), np.where(Y == 1, 1.0, -1.0)
    given = {"sample_weight": WEIGHTS, "n_rounds": 5, "cost_scale": "auto", "c_fp": 1.0, "c_fn": fn}
    run = naive.boost(method, signs, cost, votes, **given)
    expected = zip(run.alphas, run.errors, run.normalizers, run.train_cost, strict=True)
    assert_allclose(told(rounds), list(expected), rtol=1e-9, atol=1e-11)
    assert [done.number for done in rounds] == list(range(5))


@pytest.mark.parametrize("method", ["adaboost", "adacost", "csb2", "rareboost", "csada"])
@pytest.mark.parametrize("fn", [2.0, FN], ids=["constant", "rows"])
def test_rounds_that_are_replayed_are_gone_on_with(method, fn):
    whole = Fit(method, fn=fn)
    with whole as loop:
        rounds = list(loop.rounds())
        margins = whole.margins()
    again = Fit(method, fn=fn)
    with again as loop:
        loop.replay(rounds[:3])
        rest = list(loop.rounds(3))
        assert_array_equal(again.margins(), margins)
    assert told(rest) == told(rounds[3:])
    assert [done.number for done in rest] == [3, 4]


@pytest.mark.parametrize("method", ["adaboost", "adacost", "adac3", "gradient-csb"])
def test_shards_change_no_bit_of_a_round(method, monkeypatch):
    monkeypatch.setattr("costboost.shards.layout._DEAL", 8)
    found = []
    for n_shards in (1, 2, 5):
        # Gradient-CSB's asymboost.
        own = {"objective": asymboost} if method == "gradient-csb" else {}
        fit = Fit(method, fn=FN, weights=WEIGHTS, n_shards=n_shards, **own)
        with fit as loop:
            found.append((told(loop.rounds()), fit.margins().tolist()))
    assert found[0] == found[1] == found[2]


def asymboost(at, rows):
    return at.cost * at.sign, np.zeros_like(at.cost), np.ones_like(at.cost)


def test_a_perfect_learner_ends_training_also_when_replayed():
    fit = Fit("adaboost", X=Y[:, None].astype(float))
    with fit as loop:
        rounds = list(loop.rounds())
        assert loop.stop == "perfect"
    assert len(rounds) == 1
    assert rounds[0].last
    assert rounds[0].error == 0.0
    with Fit("adaboost", X=Y[:, None].astype(float)) as loop:
        loop.replay(rounds)
        assert list(loop.rounds(1)) == []
        assert loop.stop == "perfect"


def test_no_step_forward_ends_training():
    y = np.arange(N) % 2  # independent of a column that is alone
    with Fit("adaboost", X=np.zeros((N, 1)), y=y, fn=1.0) as loop:
        assert list(loop.rounds()) == []
        assert loop.stop == "alpha"


def test_a_learning_rate_shortens_steps():
    for rate in (1.0, 0.25):
        with Fit("adaboost", learning_rate=rate, n_rounds=1) as loop:
            (done,) = loop.rounds()
        whole = 0.5 * np.log((1 - done.error) / done.error)
        assert done.alpha == pytest.approx(rate * whole, rel=1e-12)


@pytest.mark.parametrize("fn", [2.0, FN], ids=["constant", "rows"])
@pytest.mark.parametrize("method", ["adacost", "cgada"])
def test_the_bound_is_the_price_of_all_mistakes_times_the_product_of_z(method, fn):
    with Fit(method, fn=fn, weights=WEIGHTS) as loop:
        rounds = list(loop.rounds())
        found = loop.cost_bound(rounds)
    price = np.sum(WEIGHTS * np.where(Y == 1, fn, 1.0))
    assert_allclose(found, price * np.cumprod([done.normalizer for done in rounds]), rtol=1e-12)
    assert np.all([done.train_cost <= bound for done, bound in zip(rounds, found, strict=True)])


def test_what_the_answer_aimed_at_costs_is_paid_in_any_case():
    costs = Costs(fp=1.0, fn=4.0, tp=0.5).bind([0, 1])
    binner, layout = fit_binner(X), plan_layout(Y, N, 2, 1)
    given = TrainingRows(RowData(Y, None, costs), 2, Y)
    codes = binner.encode(X, positions=layout.positions)
    with layout.cut(codes, given.load) as shards:
        learner = TreeLearner(binner, 2, Limits(max_depth=2))
        loop = Boosting(shards, RULES["cgada"], learner, given, Setting(3))
        rounds = list(loop.rounds())
        found = loop.cost_bound(rounds)
    price = np.sum(np.where(Y == 1, 3.5, 1.0))
    expected = 0.5 * Y.sum() + price * np.cumprod([done.normalizer for done in rounds])
    assert_allclose(found, expected, rtol=1e-12)


def test_adacost_chooses_a_scale_at_which_the_first_step_is_positive():
    with Fit("adacost", fn=50.0, depth=1) as loop:
        (first, *_) = loop.rounds()
        largest = loop.terms.prices.largest
    assert 0.0 < largest <= LARGEST
    assert isinstance(first.alpha, float)
    assert first.alpha > 0.0


def test_steps_beyond_what_margins_hold_are_refused_with_a_remedy():
    def tiny(at, rows):
        return 1e-300 * at.sign, np.zeros_like(at.cost), np.ones_like(at.cost)

    with (
        Fit("gradient-csb", objective=tiny) as loop,
        pytest.raises(
            ValueError, match=r"method='gradient-csb' asks for a step of .*Scale them up"
        ),
    ):
        list(loop.rounds())
    for rate in (1e300, 1.7e308):
        with (
            Fit("adaboost", learning_rate=rate) as loop,
            pytest.raises(ValueError, match=r"'adaboost' asks .*learning_rate=1.*e\+30.*Lower it"),
        ):
            list(loop.rounds())
