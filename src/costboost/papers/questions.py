"""The open questions of the slides: costs in every round, wrong costs, larger ratios.

The slides on AdaCost end with what its authors leave open. Settled before the run: the files of
Nikolaou et al. of up to 7,000 rows and 60 columns (fifteen sets), 70% of the rows train, splits
by class; 50 rounds of trees of depth 3, each method's own published decision; a false alarm costs
1. Costs are shares of the cheapest constant answer, means over splits; intervals are Student's over
the sets.

1. *Is it necessary to apply costs again after the first round?* CGAda weighs rows by cost once.
   AdaCost, CSB2, AdaC2 and AsymAda do so in every round.
2. *What if costs are only estimates?* The price of a miss, 5, is wrong by a factor from 1/5 to 5
   for all rows, or by a log-normal factor for each; in training (CGAda, AdaCost, AdaC2), or in the
   decision alone (calibrated AdaMEC). What is paid is counted at the true price.
3. *What of larger ratios?* 2 to 1,000.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from costboost.papers import questions_pictures as pictures
from costboost.papers.cells import Row, compute
from costboost.papers.intervals import Interval, mean_interval
from costboost.papers.options import Options, read_options
from costboost.papers.questions_work import (
    AGAIN,
    AT_DECISION,
    IN_TRAINING,
    ONCE,
    RATIO,
    RATIOS,
    ROUNDS,
    STAGES,
    question_cell,
)
from costboost.papers.report import Report

SETS = tuple(
    f"nik_{name}"
    for name in (
        "congress", "german_credit", "heart", "ionosphere", "krvskp", "landsatm", "liver",
        "parkinsons", "pima", "sonar", "spambase", "splicem", "survival", "waveformm", "wdbc",
    )
)  # fmt: skip
N_SPLITS = 10


def main(arguments: Sequence[str] = ()) -> None:
    """Answer the three questions."""
    options = read_options("questions", __doc__ or "", arguments)
    small = ("nik_heart", "nik_liver", "nik_parkinsons", "nik_pima", "nik_survival", "nik_wdbc")
    sets = small if options.quick else options.choose(SETS)
    run(options, sets, options.repeats or (2 if options.quick else N_SPLITS))


def run(options: Options, sets: Sequence[str], n_splits: int) -> None:
    """Write tables and pictures to `options.out`."""
    report = Report("The open questions of the slides on AdaCost", options)
    cells = {f"{name}-{k}": (name, k, options.data) for k in range(n_splits) for name in sets}
    rows = compute(question_cell, cells, options, {"rounds": ROUNDS, "ratios": list(RATIOS)})
    report.say(f"{len(sets)} sets, {n_splits} splits each.")
    means = Means(rows)
    again = again_rows(means)
    report.table("again", again, "1. Costs in every round, less costs once (CGAda).", 3)
    report.say(again_answer(means))
    report.picture("again", pictures.again_figure(means), "Costs again, against once")
    report.table("wrong", wrong_rows(means), "2. What wrong prices cost.", 3)
    report.say(wrong_answer(means))
    report.picture("wrong", pictures.wrong_figure(means), "What wrong prices cost")
    report.table("ratios", ratio_rows(means), "3. Cost at larger ratios.", 3)
    report.say(ratio_answer(means))
    report.picture("ratios", pictures.ratio_figure(means), "Cost at larger ratios")
    report.close()


class Means:
    """Means over splits, one for each set, of any measure of the cells."""

    def __init__(self, rows: list[Row]) -> None:
        self.found: dict[tuple[Any, ...], dict[str, dict[str, list[float]]]] = {}
        for row in rows:
            key = (row["question"], row["method"], row["setting"], row["stage"])
            of_set = self.found.setdefault(key, {}).setdefault(row["dataset"], {})
            for name in ("cost", "rounds", "seconds"):
                if row[name] is not None:
                    of_set.setdefault(name, []).append(float(row[name]))

    def of(
        self, question: str, method: str, setting: float, stage: int = ROUNDS, name: str = "cost"
    ) -> Any:
        """Return the means of all sets."""
        sets = self.found[question, method, setting, stage]
        return np.array([np.mean(values[name]) for _, values in sorted(sets.items())])

    def less(self, method: str, other: str, ratio: float) -> Interval:
        """Return the mean difference of two methods' costs at a ratio, over the sets."""
        gap = self.of("ratio", method, ratio) - self.of("ratio", other, ratio)
        return mean_interval(gap)


def told(interval: Interval) -> str:
    """Say which side of zero an interval lies on."""
    if interval.low > 0:
        return "dearer"
    return "cheaper" if interval.high < 0 else "no difference that these sets can show"


def again_rows(means: Means) -> list[Row]:
    """Return, for each method and ratio, its cost less that of CGAda."""
    table = []
    for method in AGAIN:
        for ratio in RATIOS:
            gap = means.less(method, ONCE, ratio)
            pace = means.of("ratio", method, ratio, name="seconds")
            pace = pace / means.of("ratio", ONCE, ratio, name="seconds")
            table.append(
                {
                    "method": method,
                    "ratio": ratio,
                    "cost": float(means.of("ratio", method, ratio).mean()),
                    "CGAda": float(means.of("ratio", ONCE, ratio).mean()),
                    "difference": gap.text(3, "+"),
                    "verdict": told(gap),
                    "sets won": int(
                        (means.of("ratio", method, ratio) < means.of("ratio", ONCE, ratio)).sum()
                    ),
                    "rounds": float(means.of("ratio", method, ratio, name="rounds").mean()),
                    "processor time, CGAda = 1": float(np.median(pace)),
                }
            )
    return table


def best_stage(means: Means, method: str, ratio: float) -> tuple[int, float, float]:
    """Return after how many rounds the mean cost is least, what it is there, and at the end."""
    path = {stage: float(means.of("ratio", method, ratio, stage).mean()) for stage in STAGES}
    best = min(path, key=lambda stage: path[stage])
    return best, path[best], path[STAGES[-1]]


def again_answer(means: Means) -> str:
    """Answer the first question."""
    verdicts = [told(means.less(method, ONCE, ratio)) for method in AGAIN for ratio in RATIOS]
    counts = {word: verdicts.count(word) for word in ("cheaper", "dearer")}
    paths = {method: best_stage(means, method, RATIO) for method in (ONCE, *AGAIN)}
    rounds = [f"{m} {n} ({best:.3f}, then {last:.3f})" for m, (n, best, last) in paths.items()]
    return (
        f"Answer: of {len(verdicts)} comparisons (four methods, six ratios), applying costs in "
        f"every round is cheaper in {counts['cheaper']}, dearer in {counts['dearer']}, and cannot "
        f"be told apart in {len(verdicts) - sum(counts.values())}. Rounds of least cost at a ratio "
        f"of {RATIO}, of {STAGES}: {'; '.join(rounds)}."
    )


def wrong_rows(means: Means) -> list[Row]:
    """Return what wrong prices cost, more than right ones."""
    table = []
    for method in (*IN_TRAINING, AT_DECISION):
        right = means.of("bias", method, 1.0)
        for question, size in pictures.wrong_settings(means, method):
            gap = mean_interval(means.of(question, method, size) - right)
            table.append(
                {
                    "method": method,
                    "enters in": "the decision" if method == AT_DECISION else "training",
                    "price of a miss is": f"{'x' if question == 'bias' else 'noisy by '}{size}",
                    "cost at right prices": float(right.mean()),
                    "more": gap.text(3, "+"),
                    "verdict": told(gap),
                }
            )
    return table


def wrong_answer(means: Means) -> str:
    """Answer the second question."""
    parts = []
    for method in (ONCE, AT_DECISION):
        right = means.of("bias", method, 1.0)
        far = [mean_interval(means.of("bias", method, f) - right) for f in (0.2, 0.5, 2.0, 5.0)]
        noise = mean_interval(means.of("noise", method, 5.0) - right)
        texts = [gap.text(3, "+") for gap in (*far, noise)]
        parts.append(
            f"{method}: prices of misses at a fifth, half, twice, five times the truth add "
            f"{', '.join(texts[:4])}; noise of a factor of 5 on every row adds {texts[4]}"
        )
    return "Answer, in shares of the constant answer's cost: " + ". ".join(parts) + "."


def ratio_rows(means: Means) -> list[Row]:
    """Return the cost of every method at every ratio."""
    methods = (ONCE, *AGAIN, AT_DECISION, "adaboost")
    return [
        {
            "method": method,
            **{str(r): str(mean_interval(means.of("ratio", method, r))) for r in RATIOS},
        }
        for method in methods
    ]


def ratio_answer(means: Means) -> str:
    """Answer the third question."""
    methods = (ONCE, *AGAIN, AT_DECISION)
    best = {r: min(methods, key=lambda m: means.of("ratio", m, r).mean()) for r in RATIOS}
    lines = [f"{r}: {m} ({means.of('ratio', m, r).mean():.3f})" for r, m in best.items()]
    useless = [
        f"{m} from {next(r for r in RATIOS if means.of('ratio', m, r).mean() >= 1)}"
        for m in methods
        if any(means.of("ratio", m, r).mean() >= 1 for r in RATIOS)
    ]
    return (
        f"Answer: the cheapest on average, by ratio: {'; '.join(lines)}. No better than a constant "
        f"answer, on average: {', '.join(useless) or 'none'}."
    )
