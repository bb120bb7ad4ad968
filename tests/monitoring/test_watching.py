"""`Monitor`: bills against sums by hand, late labels, states, alarms, and what it refuses."""

import json

import numpy as np
import pytest

from costboost import Costs, GradientBoostClassifier
from costboost.datasets import make_card_stream
from costboost.monitoring import Monitor, watch_page
from costboost.monitoring.betting import Ratio

DAYS = range(12, 32)


@pytest.fixture(scope="module")
def stream():
    return make_card_stream(120, 240, 32, label_delay=2, as_frame="pandas")


@pytest.fixture(scope="module")
def model(stream):
    past = stream.day < 10
    made = GradientBoostClassifier(n_estimators=10, random_state=0)
    return made.fit(stream.X[past], stream.y[past])


@pytest.fixture
def monitor(model):
    return Monitor(model, reference=5, drift_rows=100)


def feed(monitor, stream, day, labels=True, **more):
    at = np.flatnonzero(stream.day == day)
    given = {"period": day, "costs": stream.costs[at], **more}
    return monitor.update(stream.X.iloc[at], stream.y[at] if labels else None, **given)


def test_figures_are_the_sums_of_rows(monitor, model, stream):
    for day in DAYS:
        found = feed(monitor, stream, day)
        at = np.flatnonzero(stream.day == day)
        p = np.asarray(model.predict_proba(stream.X.iloc[at]))[:, 1]
        amount, fee, y = stream.amount[at], stream.fee[at], stream.y[at]
        checked = p * amount > fee
        assert found.expected == pytest.approx(np.where(checked, fee, p * amount).sum())
        assert found.billed["paid"] == pytest.approx(np.where(checked, fee, y * amount).sum())
        assert found.constant == pytest.approx(
            {"do nothing": (p * amount).sum(), "do everything": fee.sum()}
        )
        assert found.billed["constant"]["do nothing"] == pytest.approx((y * amount).sum())
        assert found.decisions == {"0": int((~checked).sum()), "1": int(checked.sum())}
        assert found.billed["seen"] == {"0": int((y == 0).sum()), "1": int(y.sum())}
        assert found.classes["1"] == pytest.approx(p.sum())


def test_late_labels_give_what_labels_at_once_give(model, stream):
    at_once, late = (Monitor(model, reference=5, drift_rows=0) for _ in range(2))
    for day in DAYS:
        feed(at_once, stream, day)
        feed(late, stream, day, labels=False)
        assert late.periods[-1].billed is None
        if day - 3 in DAYS:
            feed(late, stream, day - 3)
    for one, other in zip(at_once.periods[:-3], late.periods, strict=False):
        assert one.billed == other.billed
        assert one.wealth == other.wealth


def test_the_order_of_rows_and_labels_that_never_come(model, stream):
    at = np.flatnonzero(stream.day == 12)
    turned = at[::-1]
    found = []
    for rows in (at, turned):
        y = stream.y[rows].astype(float)
        y[rows % 3 == 0] = np.nan
        watched = Monitor(model, reference=5)
        kept = watched.update(stream.X.iloc[rows], y, period=12, costs=stream.costs[rows])
        found.append(kept.billed)
    assert found[0]["open"] == int(np.sum(at % 3 == 0))
    assert found[0] == {k: pytest.approx(v) for k, v in found[1].items()}


def test_a_state_goes_on_where_it_was(monitor, model, stream, tmp_path):
    whole = Monitor(model, reference=5, drift_rows=100)
    file = tmp_path / "state.json"
    for day in DAYS[:10]:
        feed(whole, stream, day)
        feed(monitor, stream, day)
        monitor.save(file)
        monitor = Monitor.load(file, model)
    assert monitor.periods == whole.periods
    assert monitor.alarms == whole.alarms
    assert watch_page(monitor) == watch_page(whole)
    assert [p.name for p in tmp_path.iterdir()] == ["state.json"]


def test_prices_that_change_ring_at_once_and_only_once(monitor, stream):
    for day in (12, 13, 14):
        feed(monitor, stream, day, labels=False)
    at = np.flatnonzero(stream.day == 15)
    dear = Costs(fp=9, tp=9, fn=stream.amount[at], positive=1)
    feed(monitor, stream, 15, labels=False, costs=dear)
    (alarm,) = monitor.alarms
    assert (alarm.signal, alarm.period) == ("prices", "15")
    assert "was 5 in all periods before, and is 9" in alarm.text
    feed(monitor, stream, 16, labels=False)
    assert monitor.alarms == [alarm]


@pytest.mark.parametrize(("wrong", "signal"), [(True, "more: 1"), (False, None)])
def test_more_of_a_class_than_expected_rings(model, stream, wrong, signal):
    monitor = Monitor(model, reference=5, drift_rows=0)
    rng = np.random.default_rng(0)
    for day in DAYS:
        at = np.flatnonzero(stream.day == day)
        p = np.asarray(model.predict_proba(stream.X.iloc[at]))[:, 1]
        y = (rng.random(len(at)) < p).astype(int)
        if wrong and day > 22:
            y = np.maximum(y, rng.random(len(at)) < 0.2)
        monitor.update(stream.X.iloc[at], y, period=day, costs=stream.costs[at])
    assert (signal is None) == (not monitor.alarms)
    assert signal is None or signal in {alarm.signal for alarm in monitor.alarms}


def test_the_column_that_moved_is_worth_most(model, stream):
    monitor = Monitor(model, reference=5)
    for day in range(12, 18):
        feed(monitor, stream, day, labels=False)
    at = np.flatnonzero(stream.day == 18)
    X = stream.X.iloc[at].copy()
    X["amount"] *= 10  # the price is still that of the amount: only the model is misled
    found = monitor.update(X, period=18, costs=stream.costs[at])
    assert found.columns[0]["name"] == "amount"
    assert found.columns[0]["mean"] > 5 * found.columns[0]["mean_before"]
    assert abs(found.columns[0]["worth"]) > 5 * abs(found.columns[1]["worth"])


def test_a_state_does_not_grow_with_the_rows(model, stream, tmp_path):
    sizes = []
    for repeat in (1, 20):
        monitor = Monitor(model, reference=5, drift_rows=50)
        for day in range(12, 19):
            at = np.repeat(np.flatnonzero(stream.day == day), repeat)
            monitor.update(stream.X.iloc[at], stream.y[at], period=day, costs=stream.costs[at])
        monitor.save(tmp_path / "s.json")
        sizes.append((tmp_path / "s.json").stat().st_size)
    assert sizes[1] < 1.1 * sizes[0]


WRONG = {
    "reference=3 must be a whole number at least 4": {"reference": 3},
    "alpha=0 must be a number above 0": {"alpha": 0},
    "alpha=0.9 must be": {"alpha": 0.9},
    "tolerance=-1 must be": {"tolerance": -1},
    "drift_rows=0.5 must be": {"drift_rows": 0.5},
    r"capacity\[1\]=0 must be": {"capacity": {1: 0}},
}


@pytest.mark.parametrize("said", WRONG)
def test_wrong_settings_are_refused(model, said):
    with pytest.raises(ValueError, match=said):
        Monitor(model, **WRONG[said])


def test_wrong_periods_are_refused(monitor, model, stream, tmp_path):
    at = np.flatnonzero(stream.day == 13)
    X, y = stream.X.iloc[at], stream.y[at]
    how = {"period": 13, "costs": stream.costs[at]}
    with pytest.raises(ValueError, match="MinimumCostClassifier wraps any other"):
        Monitor(object())
    with pytest.raises(ValueError, match="no period was watched: call update"):
        watch_page(monitor)
    with pytest.raises(ValueError, match="the period has no rows: leave it out"):
        monitor.update(X[:0], period=13)
    with pytest.raises(ValueError, match="period is missing: give the date"):
        monitor.update(X, period=np.datetime64("NaT"), costs=stream.costs[at])
    with pytest.raises(ValueError, match="give one label for each"):
        monitor.update(X, y[1:], **how)
    with pytest.raises(ValueError, match="give one decision for each"):
        monitor.update(X, decisions=[1], **how)
    with pytest.raises(ValueError, match="decisions has the label 7"):
        monitor.update(X, decisions=np.full(len(X), 7), **how)
    assert monitor.periods == []
    monitor.update(X, **how)
    with pytest.raises(ValueError, match="was watched before"):
        monitor.update(X, **how)
    with pytest.raises(ValueError, match="give all rows of the period both times"):
        monitor.update(X[1:], y[1:], period=13, costs=stream.costs[at[1:]])
    with pytest.raises(ValueError, match="is before 13, the last one watched"):
        feed(monitor, stream, 12)
    feed(monitor, stream, 14, labels=False)
    with pytest.raises(ValueError, match="give the labels of 13 first"):
        feed(monitor, stream, 14)
    feed(monitor, stream, 13)
    with pytest.raises(ValueError, match="was billed before"):
        feed(monitor, stream, 13)


def test_wrong_states_are_refused(monitor, model, stream, tmp_path):
    file = tmp_path / "state.json"
    feed(monitor, stream, 12)
    monitor.save(file)
    with pytest.raises(ValueError, match=r"begun with alpha=0\.05, and alpha=0\.01 is given"):
        Monitor.load(file, model, alpha=0.01)
    with pytest.raises(ValueError, match="the state of another model"):
        Monitor.load(file, model, key="other")
    kept = json.loads(file.read_text())
    for change, said in (
        ({"format": 9}, "newer version: upgrade"),
        ({"periods": [{"name": "x"}]}, "damaged"),
    ):
        file.write_text(json.dumps({**kept, **change}))
        with pytest.raises(ValueError, match=said):
            Monitor.load(file, model)
    file.write_text("[]")
    with pytest.raises(ValueError, match="is no state of a monitor: name the file"):
        Monitor.load(file, model)


def reference(seen, expected, variance):
    made = Ratio()
    for parts in zip(seen, expected, variance, strict=True):
        made.add(*(np.array([part], dtype=float) for part in parts))
    return made


def test_dependent_rows_are_counted_by_the_variance_of_periods():
    rng = np.random.RandomState(0)
    seen, expected, variance = rng.poisson(30, 12), rng.uniform(20, 40, 12), np.full(12, 9.0)
    ratio = reference(seen, expected, variance)
    off = seen - seen.sum() / expected.sum() * expected
    # By hand, pair by pair: periods further apart count less, and not at all from a week on.
    pairs = [max(0, 1 - abs(i - j) / 7) * off[i] * off[j] for i in range(12) for j in range(12)]
    larger = max(float(off @ off), sum(pairs))
    assert ratio.dependent == pytest.approx(max(1.0, larger / variance.sum() * 12 / 11))
    assert reference([3], [2], [1]).dependent == 1.0
    assert reference([0, 0], [0, 0], [0, 0]).dependent == 1.0


@pytest.mark.parametrize(("size", "days"), [(1, 1), (4, 1), (1, 4)])
def test_as_many_rows_depend_on_each_other_as_belong_together(size, days):
    """Frauds come in clusters of `size` on a day, for some days one after the other."""
    rng = np.random.RandomState(1)
    found = []
    for _ in range(200):
        begun = size * rng.poisson(20 / size / days, 60 + days)
        seen = sum(begun[k : k + 60] for k in range(days))
        found.append(reference(seen, np.full(60, 20.0), np.full(60, 20.0)).dependent)
    assert np.mean(found) == pytest.approx(size * days, rel=0.35)
