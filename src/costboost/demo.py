"""The whole story in under a minute: ``python -m costboost.demo``.

Card transactions, each with its amount; an investigation costs a fee, a missed fraud its amount.
Several policies decide which payments of the test rows to investigate, and are compared by what
they would have cost. All learn from the same training rows; none sees the test rows before it
decides, and prices of the test rows are used as they would be in life: the amount is known, the
truth is not.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_predict, train_test_split
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from costboost.costs import Costs
from costboost.datasets import Dataset, make_card_fraud
from costboost.estimators.adaboost.classifier import CostBoostClassifier
from costboost.estimators.wrappers import MinimumCostClassifier
from costboost.metrics import (
    PairedCostTest,
    cheapest_threshold,
    paired_cost_test,
)
from costboost.metrics.policies import constant_names, price_policies
from costboost.report import Report, make_report
from costboost.text import money, percent, span
from costboost.typing import Floats, Int64

__all__ = ["Outcome", "Story", "main", "tell"]

CURRENCY = "EUR"
ROWS = 100_000
NOTHING = "Do nothing"
AT_HALF = "Plain booster, threshold 0.5"
TUNED = "Plain booster, tuned threshold"
PEER = "Plain booster, price per payment"
NAMED = "Calibrated AdaMEC, price per payment"
OURS = "CostBoostClassifier(), price per payment"
PERFECT = "Knowing every fraud in advance"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one policy would have cost on the test rows.

    Attributes
    ----------
    name : str
    decisions : ndarray of shape (n_test,)
        1 where a payment was investigated.
    cost, low, high : float
        Total cost, and its 95 % interval.
    fees, lost : float
        The two parts of the cost: investigations, and frauds that went through.
    saved : float
        Share saved of the cost of the cheapest constant decision: all payments through, or none.
    stopped : float
        Share of the fraudsters' money that was stopped.
    """

    name: str
    decisions: Int64
    cost: float
    low: float
    high: float
    fees: float
    lost: float
    saved: float
    stopped: float

    @property
    def investigated(self) -> int:
        """How many payments were investigated."""
        return int(self.decisions.sum())


@dataclass(frozen=True, kw_only=True)
class Story:
    """All outcomes on the same test rows, and the default recipe against three of the others.

    Attributes
    ----------
    outcomes : tuple of Outcome
    versus_tuned, versus_peer, versus_named : PairedCostTest
        Mean cost of the default recipe less that of another policy, row by row.
    y, amount : ndarray of shape (n_test,)
        Truth and money at stake of the test rows.
    fee : float
    threshold : float
        The tuned one.
    n_train : int
        The number of training rows.
    model, X : CostBoostClassifier and table
        The default recipe, and the test rows as it sees them.
    seed : int
        That of the table, of its halves, of every fit and of the resampling.
    seconds : float
    """

    outcomes: tuple[Outcome, ...]
    versus_tuned: PairedCostTest
    versus_peer: PairedCostTest
    versus_named: PairedCostTest
    y: Int64
    amount: Floats
    fee: float
    threshold: float
    n_train: int
    model: CostBoostClassifier
    X: Any
    seed: int
    seconds: float

    def __getitem__(self, name: str) -> Outcome:
        return next(outcome for outcome in self.outcomes if outcome.name == name)


@dataclass(frozen=True)
class _Part:
    """Some rows of a data set."""

    X: Any
    codes: Floats
    y: Int64
    amount: Floats
    costs: Costs


def tell(n_samples: int = ROWS, *, n_resamples: int = 1000, random_state: int = 0) -> Story:
    """Train the policies, decide on the test rows, and count what they cost.

    Parameters
    ----------
    n_samples : int, default=100_000
        Transactions; half of them are for training.
    n_resamples : int, default=1000
        Random flips behind the p-values of the comparisons.
    random_state : int, default=0
        Seed of everything.

    Returns
    -------
    Story

    Examples
    --------
    >>> from costboost import demo
    >>> story = demo.tell(4000, n_resamples=50)
    >>> round(story[demo.NOTHING].cost, 2) == round(float(story.amount[story.y == 1].sum()), 2)
    True
    """
    started = time.perf_counter()
    fee = 8.0
    data = make_card_fraud(n_samples, fee=fee, random_state=random_state)
    train, test = _split(data, random_state)
    with threadpool_limits(1, "openmp"):  # OpenMP's threads spin where cores are shared
        at_half, tuned, threshold = _decide_plainly(data, train, test, random_state)
        peer = _decide_by_price(data, train, test, random_state)
    named = CostBoostClassifier("adamec", max_depth=2, random_state=random_state)
    named.fit(train.X, train.y, costs=train.costs)
    model = CostBoostClassifier(random_state=random_state)
    model.fit(train.X, train.y, costs=train.costs)
    decided = {
        NOTHING: np.zeros_like(test.y),
        AT_HALF: at_half,
        TUNED: tuned,
        PEER: peer,
        NAMED: named.predict(test.X, costs=test.costs),
        OURS: model.predict(test.X, costs=test.costs),
        PERFECT: (test.y == 1) & (test.amount > fee),
    }
    decided = {name: np.asarray(d, dtype=np.int64) for name, d in decided.items()}

    def compare(other: str) -> PairedCostTest:
        return paired_cost_test(
            test.y,
            decided[OURS],
            decided[other],
            costs=test.costs,
            n_resamples=n_resamples,
            random_state=random_state,
        )

    return Story(
        outcomes=_price(decided, test),
        versus_tuned=compare(TUNED),
        versus_peer=compare(PEER),
        versus_named=compare(NAMED),
        y=test.y,
        amount=test.amount,
        fee=fee,
        threshold=threshold,
        n_train=len(train.y),
        model=model,
        X=test.X,
        seed=random_state,
        seconds=time.perf_counter() - started,
    )


def _split(data: Dataset, random_state: int) -> tuple[_Part, _Part]:
    assert data.amount is not None
    codes, _ = data.to_numpy()
    arrays = (data.X, codes, data.y, data.amount, data.costs)
    halves = train_test_split(*arrays, test_size=0.5, stratify=data.y, random_state=random_state)
    return _Part(*halves[::2]), _Part(*halves[1::2])


def _plain_booster(data: Dataset, random_state: int) -> Any:
    """Return the peer; its settings, like AdaMEC's depth, were chosen on other draws."""
    return HistGradientBoostingClassifier(
        learning_rate=0.05,
        max_leaf_nodes=8,
        min_samples_leaf=50,
        l2_regularization=1.0,
        early_stopping=False,
        categorical_features=data.to_numpy()[1],
        random_state=random_state,
    )


def _decide_plainly(
    data: Dataset, train: _Part, test: _Part, random_state: int
) -> tuple[Any, Any, float]:
    """Decide by one threshold for all: 0.5, and the cheapest on held-out training rows."""
    booster = _plain_booster(data, random_state)
    held_out = cross_val_predict(booster, train.codes, train.y, cv=5, method="predict_proba")
    threshold, _ = cheapest_threshold(train.y, held_out[:, 1], costs=train.costs)
    proba = booster.fit(train.codes, train.y).predict_proba(test.codes)[:, 1]
    return proba > 0.5, proba > threshold, threshold


def _decide_by_price(data: Dataset, train: _Part, test: _Part, random_state: int) -> Any:
    """Calibrate the same booster, and decide by each payment's own price."""
    booster = _plain_booster(data, random_state)
    model = MinimumCostClassifier(booster, random_state=random_state).fit(train.codes, train.y)
    return model.predict(test.codes, costs=test.costs)


def _price(decided: dict[str, Int64], test: _Part) -> tuple[Outcome, ...]:
    """Return what each policy cost and saved."""
    bound = test.costs.bind([0, 1])
    found = price_policies(bound.of_labels(test.y), decided, constant_names([0, 1], 1))
    at_stake = float(test.amount[test.y == 1].sum())
    outcomes = []
    for name, decisions in decided.items():
        paid, cost = found.paid[name], found.cost(name)
        outcomes.append(
            Outcome(
                name=name,
                decisions=decisions,
                cost=cost.total,
                low=cost.low,
                high=cost.high,
                fees=float(paid[decisions == 1].sum()),
                lost=float(paid[decisions == 0].sum()),
                saved=found.share(name),
                stopped=float(test.amount[(test.y == 1) & (decisions == 1)].sum()) / at_stake,
            )
        )
    return tuple(outcomes)


def _cents(amount: float) -> str:
    return money(amount, CURRENCY, cents=True)


def describe(story: Story) -> str:
    """Return the story as plain text."""
    frauds = int(story.y.sum())
    stolen = story.amount[story.y == 1]
    everything = story.fee * len(story.y)
    cheapest = "doing nothing" if story[NOTHING].cost <= everything else "investigating everything"
    return "\n".join(
        [
            "Which card payments should be investigated?",
            "",
            f"  {len(story.y):,} payments to decide on, {frauds} of them fraudulent (made-up data; "
            f"{story.n_train:,} others to learn from).",
            f"  A missed fraud costs its amount, {_cents(stolen.min())}"
            f" to {_cents(stolen.max())}; an investigation costs "
            f"{_cents(story.fee)}.",
            f"  Investigating every payment would cost {money(everything, CURRENCY)}.",
            "",
            *_table(story.outcomes),
            "",
            f"  Intervals: 95 %. Saved: share of the cost of {cheapest}.",
            "  Plain booster: scikit-learn's HistGradientBoosting; its threshold, tuned for money "
            f"on training rows: {story.threshold:.3f}.",
            "  Price per payment: investigate where the expected loss exceeds the fee "
            "(MinimumCostClassifier, CostBoostClassifier).",
            "",
            _verdict(story, TUNED, story.versus_tuned),
            _verdict(story, PEER, story.versus_peer),
            _verdict(story, NAMED, story.versus_named),
            f"  Seed {story.seed} everywhere; 0 is the default, and was not chosen. With others,",
            "  another of the three that price each payment may cost least.",
        ]
    )


def _table(outcomes: Sequence[Outcome]) -> list[str]:
    """Return lines of aligned columns: text to the left, numbers to the right."""
    head = (
        "policy",
        f"cost, {CURRENCY}",
        "95 % interval",
        "saved",
        "investigated",
        "money stopped",
    )
    rows = [
        (
            o.name,
            money(o.cost),
            span(o.low, o.high),
            percent(o.saved),
            f"{o.investigated:,}",
            percent(o.stopped),
        )
        for o in outcomes
    ]
    widths = [max(len(row[j]) for row in (head, *rows)) for j in range(len(head))]
    rule = "  " + "  ".join("-" * width for width in widths)
    lines = [_line(row, widths) for row in (head, *rows)]
    return [lines[0], rule, *lines[1:-1], rule, lines[-1]]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
    return "  " + "  ".join([row[0].ljust(widths[0]), *cells[1:]])


def _verdict(story: Story, other: str, test: PairedCostTest) -> str:
    """Return a sentence: the savings of the default recipe against another policy."""
    gain, low, high = (-len(story.y) * end for end in (test.difference, test.high, test.low))
    word = "more" if gain >= 0 else "less"
    unsure = ": not significant" if low <= 0 <= high else ""
    return (
        f'  The default saves {money(abs(gain), CURRENCY)} {word} than "{other}"{unsure} '
        f"(95 % interval {span(low, high)})."
    )


def draw(story: Story, path: Path) -> Path:
    """Draw what each policy costs as one bar each, write it as a PNG, and return its path."""
    from matplotlib.figure import Figure  # no pyplot: no window, no global state

    figure = Figure(figsize=(10, 5.6), layout="constrained")
    ax = figure.subplots()
    shown = story.outcomes[::-1]
    lost, fees = [o.lost for o in shown], [o.fees for o in shown]
    ax.barh(range(len(shown)), lost, color="#D55E00", label="Frauds that went through")
    ax.barh(
        range(len(shown)),
        fees,
        left=lost,
        color="#9ECAE9",
        edgecolor="white",
        hatch="///",
        label=f"Investigations, {money(story.fee, CURRENCY)} each",
    )
    _annotate(ax, shown)
    figure.suptitle(
        f"Deciding by each payment's price takes the cost of fraud from "
        f"{money(story[NOTHING].cost, CURRENCY)} to {money(story[OURS].cost)}",
        fontsize=13,
        fontweight="bold",
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    return path


def _annotate(ax: Any, shown: Sequence[Outcome]) -> None:
    """Write names, sums and intervals; leave out what a bar chart does not need."""
    cost = np.array([o.cost for o in shown])
    reach = np.array([[o.cost - o.low for o in shown], [o.high - o.cost for o in shown]])
    ax.errorbar(
        cost, range(len(shown)), xerr=reach, fmt="none", ecolor="#333333", capsize=4,
        label="95 % interval",
    )  # fmt: skip
    for j, o in enumerate(shown):
        text = money(o.cost) + ("" if o.name == NOTHING else f"   saves {percent(o.saved)}")
        weight = "bold" if o.name in (PEER, NAMED, OURS) else "normal"
        ax.annotate(
            text, (o.high, j), xytext=(8, 0), textcoords="offset points", va="center",
            fontweight=weight,
        )  # fmt: skip
    ax.set_yticks(range(len(shown)), [o.name for o in shown])
    ax.set_xlim(0, 1.12 * max(o.high for o in shown))
    ax.set_xlabel(f"Cost on {len(shown[0].decisions):,} payments of a made-up table ({CURRENCY})")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.legend(loc="lower right", frameon=False)


def report(story: Story) -> Report:
    """Make the live report of the default recipe; today's decisions are the tuned threshold's."""
    return make_report(
        story.model,
        story.X,
        story.y,
        costs=Costs(fp=story.fee, tp=story.fee, fn=story.amount),
        current=story[TUNED].decisions,
        groups="all",
        currency="EUR",
        names={0: "honest", 1: "fraud"},
        notes={
            "The table": "made up by costboost.datasets.make_card_fraud: nothing in it is real",
            "Held out": "half of the payments, drawn at random within honest and fraudulent ones",
            "Today's decisions": "a plain booster with one threshold for all payments, tuned for "
            "money on the training rows",
        },
        title="Which card payments should be investigated?",
    )


NEXT = """\
What to type next

  from costboost import CostBoostClassifier, Costs
  from costboost.datasets import make_card_fraud

  data = make_card_fraud()                      # or your table, and what is at stake on each row
  costs = Costs(fp=8, tp=8, fn=data.amount)     # of a data frame, a column's name: fn="amount"
  model = CostBoostClassifier().fit(data.X, data.y, costs=costs)
  model.predict(data.X, costs=costs)            # the cheapest decision for each payment
  model.expected_cost(data.X, costs=costs)      # the price of each decision

  Prices changed? Give new costs to predict; the model need not be trained again.
  Another classifier? MinimumCostClassifier(yours) decides the same way."""


def main(argv: Sequence[str] | None = None) -> Story:
    """Run the demo: print the story, write picture and report, say what to type next."""
    parser = argparse.ArgumentParser(
        prog="costboost demo", description="What fraud costs, with and without costboost."
    )
    parser.add_argument(
        "--rows", type=int, default=ROWS, help="transactions (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of everything random (default: 0)")
    parser.add_argument(
        "--output",
        "-o",
        type=Path,
        default=Path("demo-output"),
        help="folder of picture and report",
    )
    given = parser.parse_args(argv)
    story = tell(given.rows, random_state=given.seed)
    print(describe(story))
    print()
    try:
        print(f"  Picture: {draw(story, given.output / 'card-fraud.png')}")
    except ImportError:
        print("  No picture: it needs matplotlib: pip install 'costboost[plot]'")
    given.output.mkdir(parents=True, exist_ok=True)
    page = report(story).save(given.output / "card-fraud-report.html", overwrite=True)
    print(f"  Time: {story.seconds:.0f} seconds for all policies.")
    print()
    print(NEXT)
    print()
    print(f"Move the prices yourself: open {page.resolve().as_uri()} in a browser.")
    return story


if __name__ == "__main__":
    main()
