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
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_predict, train_test_split
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from costboost.costs import Costs
from costboost.datasets import Dataset, make_card_fraud
from costboost.estimators.adaboost.classifier import CostBoostClassifier
from costboost.estimators.wrappers import MinimumCostClassifier
from costboost.metrics import (
    PairedCostTest,
    bootstrap_interval,
    cheapest_threshold,
    paired_cost_test,
    savings_score,
)
from costboost.report import Report, make_report

__all__ = ["Outcome", "Story", "main", "tell"]

CURRENCY = "EUR"
ROWS = 100_000
NOTHING = "Do nothing"
AT_HALF = "Plain booster, threshold 0.5"
TUNED = "Plain booster, tuned threshold"
PEER = "Plain booster, price per payment"
OURS = "Calibrated AdaMEC, price per payment"
PERFECT = "Knowing every fraud in advance"

Labels = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one policy would have cost on the test rows.

    Attributes
    ----------
    name : str
    decisions : ndarray of shape (n_test,)
        1 where a payment was investigated.
    cost, low, high : float
        Total cost, and its 95% bootstrap interval.
    fees, lost : float
        The two parts of the cost: investigations, and frauds that went through.
    saved : float
        Share of the cost of doing nothing that was saved.
    stopped : float
        Share of the fraudsters' money that was stopped.
    """

    name: str
    decisions: Labels
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
    """All outcomes on the same test rows, and ours against the tuned threshold.

    Attributes
    ----------
    outcomes : tuple of Outcome
    versus_tuned, versus_peer : PairedCostTest
        Mean cost of calibrated AdaMEC less that of another policy, row by row.
    y, amount : ndarray of shape (n_test,)
        Truth and money at stake of the test rows.
    fee : float
    threshold : float
        The tuned one.
    n_train : int
        The number of training rows.
    model, X : CostBoostClassifier and table
        Calibrated AdaMEC, and the test rows as it sees them.
    seconds : float
    """

    outcomes: tuple[Outcome, ...]
    versus_tuned: PairedCostTest
    versus_peer: PairedCostTest
    y: Labels
    amount: NDArray[np.float64]
    fee: float
    threshold: float
    n_train: int
    model: CostBoostClassifier
    X: Any
    seconds: float

    def __getitem__(self, name: str) -> Outcome:
        return next(outcome for outcome in self.outcomes if outcome.name == name)


@dataclass(frozen=True)
class _Part:
    """Some rows of a data set."""

    X: Any
    codes: NDArray[np.float64]
    y: Labels
    amount: NDArray[np.float64]
    costs: Costs


def tell(n_samples: int = ROWS, *, n_resamples: int = 1000, random_state: int = 0) -> Story:
    """Train the policies, decide on the test rows, and count what they cost.

    Parameters
    ----------
    n_samples : int, default=100_000
        Transactions; half of them are for training.
    n_resamples : int, default=1000
        Bootstrap resamples of the test rows.
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
    model = _train_adamec(train, random_state)
    decided = {
        NOTHING: np.zeros_like(test.y),
        AT_HALF: at_half,
        TUNED: tuned,
        PEER: peer,
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
        outcomes=_price(decided, test, n_resamples, random_state),
        versus_tuned=compare(TUNED),
        versus_peer=compare(PEER),
        y=test.y,
        amount=test.amount,
        fee=fee,
        threshold=threshold,
        n_train=len(train.y),
        model=model,
        X=test.X,
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
    """Decide by one threshold for all: 0.5, and the cheapest on rows left out in training."""
    booster = _plain_booster(data, random_state)
    left_out = cross_val_predict(booster, train.codes, train.y, cv=5, method="predict_proba")
    threshold, _ = cheapest_threshold(train.y, left_out[:, 1], costs=train.costs)
    proba = booster.fit(train.codes, train.y).predict_proba(test.codes)[:, 1]
    return proba > 0.5, proba > threshold, threshold


def _decide_by_price(data: Dataset, train: _Part, test: _Part, random_state: int) -> Any:
    """Calibrate the same booster, and decide by each payment's own price."""
    booster = _plain_booster(data, random_state)
    model = MinimumCostClassifier(booster, random_state=random_state).fit(train.codes, train.y)
    return model.predict(test.codes, costs=test.costs)


def _train_adamec(train: _Part, random_state: int) -> CostBoostClassifier:
    model = CostBoostClassifier("adamec", max_depth=2, random_state=random_state)
    return model.fit(train.X, train.y, costs=train.costs)


def _price(
    decided: dict[str, Labels], test: _Part, n_resamples: int, random_state: int
) -> tuple[Outcome, ...]:
    """Count what each policy paid; the intervals of all come from the same resamples."""
    bound = test.costs.bind([0, 1])
    paid = np.column_stack([bound.of_decisions(test.y, d) for d in decided.values()])
    total = bootstrap_interval(
        np.sum, paid, axis=0, n_resamples=n_resamples, random_state=random_state
    )
    at_stake = float(test.amount[test.y == 1].sum())
    outcomes = []
    for j, (name, decisions) in enumerate(decided.items()):
        outcomes.append(
            Outcome(
                name=name,
                decisions=decisions,
                cost=float(total.estimate[j]),
                low=float(total.low[j]),
                high=float(total.high[j]),
                fees=float(paid[decisions == 1, j].sum()),
                lost=float(paid[decisions == 0, j].sum()),
                saved=savings_score(test.y, decisions, costs=test.costs, baseline=0),
                stopped=float(test.amount[(test.y == 1) & (decisions == 1)].sum()) / at_stake,
            )
        )
    return tuple(outcomes)


def describe(story: Story) -> str:
    """Return the story as plain text."""
    frauds = int(story.y.sum())
    everything = story.fee * len(story.y)
    return "\n".join(
        [
            "Which card payments should be investigated?",
            "",
            f"  {len(story.y):,} payments to decide on, {frauds} of them fraudulent (made-up data; "
            f"{story.n_train:,} others to learn from).",
            f"  A missed fraud costs its amount, {CURRENCY} {story.amount[story.y == 1].min():,.2f}"
            f" to {story.amount[story.y == 1].max():,.2f}; an investigation costs "
            f"{CURRENCY} {story.fee:.2f}.",
            f"  Investigating every payment would cost {CURRENCY} {everything:,.0f}.",
            "",
            *_table(story.outcomes),
            "",
            "  Intervals: 95%, from resampling the payments. Saved: share of the cost of doing "
            "nothing.",
            "  Plain booster: scikit-learn's HistGradientBoosting; its threshold, tuned for money "
            f"on training rows: {story.threshold:.3f}.",
            "  Price per payment: investigate where the expected loss exceeds the fee "
            "(MinimumCostClassifier, CostBoostClassifier).",
            "",
            _verdict(story, TUNED, story.versus_tuned),
            _verdict(story, PEER, story.versus_peer),
            "  Which of the two that price each payment leads changes with the draw (--seed 1, 2).",
        ]
    )


def _table(outcomes: Sequence[Outcome]) -> list[str]:
    """Return lines of aligned columns: text to the left, numbers to the right."""
    head = ("policy", f"cost, {CURRENCY}", "95% interval", "saved", "investigated", "money stopped")
    rows = [
        (
            o.name,
            f"{o.cost:,.0f}",
            f"{o.low:,.0f} to {o.high:,.0f}",
            f"{o.saved:.0%}",
            f"{o.investigated:,}",
            f"{o.stopped:.0%}",
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
    """Say how calibrated AdaMEC compares with another policy, and whether one can tell."""
    gain, low, high = (-len(story.y) * end for end in (test.difference, test.high, test.low))
    word = "more" if gain >= 0 else "less"
    unsure = ": too close to call" if low <= 0 <= high else ""
    return (
        f'  AdaMEC saves {CURRENCY} {abs(gain):,.0f} {word} than "{other}"{unsure} '
        f"(95% interval {low:,.0f} to {high:,.0f})."
    )


def draw(story: Story, path: Path) -> Path:
    """Draw what each policy costs as one bar each, write it as a PNG, and return its path."""
    from matplotlib.figure import Figure  # no pyplot: no window, no global state

    figure = Figure(figsize=(10, 5.2), layout="constrained")
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
        label=f"Investigations, {CURRENCY} {story.fee:.0f} each",
    )
    _annotate(ax, shown)
    figure.suptitle(
        f"Deciding by each payment's price takes the cost of fraud from {CURRENCY} "
        f"{story[NOTHING].cost:,.0f} to {story[OURS].cost:,.0f}",
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
        label="95% interval",
    )  # fmt: skip
    for j, o in enumerate(shown):
        text = f"{o.cost:,.0f}" + ("" if o.name == NOTHING else f"   saves {o.saved:.0%}")
        weight = "bold" if o.name in (PEER, OURS) else "normal"
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
    """Make the live report of calibrated AdaMEC; today's decisions are the tuned threshold's."""
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

  data = make_card_fraud()                      # or your table, with a column of amounts
  costs = Costs(fp=8, tp=8, fn="amount")
  model = CostBoostClassifier("adamec", max_depth=2, costs=costs).fit(data.X, data.y)
  model.predict(data.X)                         # the cheapest decision for each payment
  model.expected_cost(data.X)                   # the price of each decision

  Prices changed? Give new costs to predict; the model need not be trained again.
  Another classifier? MinimumCostClassifier(yours) decides the same way."""


def main(argv: Sequence[str] | None = None) -> Story:
    """Run the demo: print the story, write picture and report, say what to type next."""
    parser = argparse.ArgumentParser(
        prog="python -m costboost.demo", description="What fraud costs, with and without costboost."
    )
    parser.add_argument(
        "--rows", type=int, default=ROWS, help="transactions (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of everything random (default: 0)")
    parser.add_argument(
        "--output", type=Path, default=Path("demo-output"), help="folder of picture and report"
    )
    given = parser.parse_args(argv)
    story = tell(given.rows, random_state=given.seed)
    print(describe(story))
    print()
    try:
        print(f"  Picture: {draw(story, given.output / 'card-fraud.png')}")
    except ImportError:
        print("  No picture: it needs matplotlib, pip install 'costboost[plot]'.")
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
