"""The card-fraud table: the same everywhere, like card fraud, and learnt in part."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from costboost import CostBoostClassifier
from costboost.datasets import make_card_fraud
from costboost.datasets._bundled import (
    FINDING,
    MERCHANTS,
    SPENDING,
    TESTING,
    _draw_columns,
    _draw_kinds,
)


def test_card_fraud_is_deterministic():
    first, again = make_card_fraud(3000, random_state=5), make_card_fraud(3000, random_state=5)
    pd.testing.assert_frame_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    other = make_card_fraud(3000, random_state=6)
    assert not np.array_equal(first.amount, other.amount)
    # Legacy generators are frozen: these numbers hold on every version of numpy.
    assert first.amount[:3].tolist() == [14.16, 31.3, 20.26]
    assert first.X["merchant"][:2].tolist() == ["digital goods", "digital goods"]


def test_card_fraud_looks_like_card_fraud():
    data = make_card_fraud(40_000)
    assert 0.008 < data.y.mean() < 0.012
    assert data.categorical == ("merchant", "channel")
    assert (data.amount >= 0.5).all()
    np.testing.assert_array_equal(data.amount, data.X["amount"])
    log_amount = np.log(data.amount[data.y == 0])
    skew = np.mean(((log_amount - log_amount.mean()) / log_amount.std()) ** 3)
    assert abs(skew) < 0.3  # log-normal within merchants, nearly so overall
    missing = data.X.isna().mean()
    assert 0.04 < missing["distance_km"] < 0.2
    assert 0.01 < missing["account_age_days"] < 0.03
    assert missing[["amount", "hour", "merchant", "channel"]].sum() == 0
    assert set(data.X["hour"]) <= set(range(24))
    assert (data.X["transactions_last_day"] >= data.X["transactions_last_hour"]).all()
    pause = data.X["minutes_since_last"]
    assert (pause.isna() == (data.X["transactions_last_day"] == 0)).all()
    assert (pause[data.X["transactions_last_hour"] > 0] <= 60).all()
    assert pause.dropna().between(0, 1440).all()


def test_card_fraud_prices_by_hand():
    data = make_card_fraud(2000, fee=12.5)
    costs, y = data.costs.bind([0, 1]), data.y
    honest, fraud = np.flatnonzero(y == 0)[0], np.flatnonzero(y == 1)[0]
    prices = costs.of_labels(y)
    assert prices[honest].tolist() == [0.0, 12.5]
    assert prices[fraud].tolist() == [data.amount[fraud], 12.5]
    assert costs.total(y, np.ones_like(y)) == 12.5 * 2000


def test_card_fraud_can_be_learnt_in_part():
    n = 20_000
    rng = np.random.RandomState(0)
    kind = _draw_kinds(rng, n, 0.05)
    data = make_card_fraud(n, fraud_rate=0.05)  # the same draws
    np.testing.assert_array_equal(data.amount, _draw_columns(rng, kind)["amount"])
    train, test = train_test_split(np.arange(n), stratify=kind, random_state=0)
    model = CostBoostClassifier("adaboost", 60, max_depth=2, random_state=0)
    score = model.fit(data.X.iloc[train], data.y[train]).decision_function(data.X.iloc[test])
    honest = score[kind[test] == 0]

    def found(which):
        return np.mean(score[kind[test] == which] > np.quantile(honest, 0.98))

    assert 0.85 < roc_auc_score(data.y[test], score) < 0.97
    assert found(TESTING) > 0.8 > found(SPENDING) > 0.4 > found(FINDING)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_samples": 0}, "n_samples=0"),
        ({"fraud_rate": 1.5}, "fraud_rate=1.5"),
        ({"fee": -1}, "fee=-1"),
        ({"as_frame": "spark"}, "as_frame='spark'"),
    ],
)
def test_card_fraud_refuses_nonsense(given, message):
    with pytest.raises(ValueError, match=message):
        make_card_fraud(**given)


def test_no_fraud_and_nothing_but_fraud():
    none = make_card_fraud(300, fraud_rate=0.0)
    assert not none.y.any()
    assert none.costs.bind([0, 1]).total(none.y, np.zeros(300, dtype=int)) == 0
    assert make_card_fraud(300, fraud_rate=1.0).y.all()
    one = make_card_fraud(1, as_frame="numpy")
    assert one.X.shape == (1, 11)


def test_shares_of_merchants_are_shares_and_finders_never_buy_online():
    for kind in ("honest", "testing", "spending", "finding"):
        assert sum(getattr(m, kind) for m in MERCHANTS.values()) == pytest.approx(1)
    rng = np.random.RandomState(0)
    kind = np.repeat(np.arange(4), 3000)
    columns = _draw_columns(rng, kind)
    assert not (columns["channel"][kind == FINDING] == "online").any()
    bought = columns["merchant"][kind == TESTING]
    for name, merchant in MERCHANTS.items():
        assert np.mean(bought == name) == pytest.approx(merchant.testing, abs=0.04)
    assert np.median(columns["amount"][kind == TESTING]) == pytest.approx(3.0, rel=0.1)


def test_a_generator_given_goes_on_where_it_is():
    rng = np.random.RandomState(5)
    first, second = (make_card_fraud(50, random_state=rng) for _ in range(2))
    np.testing.assert_array_equal(first.amount, make_card_fraud(50, random_state=5).amount)
    assert not np.array_equal(first.amount, second.amount)
