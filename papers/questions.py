"""The open questions of the slides on AdaCost: costs again, wrong or larger, and what is possible.

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
4. *Why did AdaCost not dominate AdaBoost?* With smaller and smaller costs AdaCost becomes CGAda;
   with larger ones its steps end. So the largest cost is scaled to 0.01, 0.03, 0.1 (the default),
   0.3 and 1, at the slides' ratios 2, 5 and 9, three splits of each set.
5. *How well do the methods do towards the maximum reduction?* On real rows nobody knows what is
   possible. On made-up ones, whose chances are known, the cost of whoever decides by them is the
   least: 2,000 rows train, 20,000 test, ten draws.

And one of the slides' variations: CSB0, CSB1 and CSB2 deciding by the least expected cost of their
votes (Ting and Zheng), beside the sign of the votes; three splits of each set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from costboost.plots.style import COLORS, GREY, LINE_STYLES, MARKERS
from papers.experiment import Options, Row, compute, read_options
from papers.questions_work import (
    AGAIN,
    AT_DECISION,
    FACTORS,
    IN_TRAINING,
    N_TEST,
    N_TRAIN,
    NOISES,
    ONCE,
    RATIO,
    RATIOS,
    ROUNDS,
    SCALE_RATIOS,
    SCALES,
    STAGES,
    VOTING_RATIOS,
    question_cell,
    scale_cell,
    voting_cell,
    world_cell,
)
from papers.report import Interval, Report, mean_interval, new_figure

SETS = tuple(
    f"nik_{name}"
    for name in (
        "congress", "german_credit", "heart", "ionosphere", "krvskp", "landsatm", "liver",
        "parkinsons", "pima", "sonar", "spambase", "splicem", "survival", "waveformm", "wdbc",
    )
)  # fmt: skip
N_SPLITS = 10
N_SCALE_SPLITS = 3


def main(arguments: Sequence[str] = ()) -> None:
    """Answer the three questions."""
    options = read_options("questions", __doc__ or "", arguments)
    small = ("nik_heart", "nik_liver", "nik_parkinsons", "nik_pima", "nik_survival", "nik_wdbc")
    sets = small if options.quick else options.choose(SETS)
    run(options, sets, options.repeats or (2 if options.quick else N_SPLITS))


def run(options: Options, sets: Sequence[str], n_splits: int) -> None:
    """Write tables and pictures to `options.out`."""
    report = Report("The open questions of the slides on AdaCost", options)
    _scales(report, options, sets, min(n_splits, N_SCALE_SPLITS))
    _world(report, options, n_splits)
    _voting(report, options, sets, min(n_splits, N_SCALE_SPLITS))
    cells = {f"{name}-{k}": (name, k, options.data) for k in range(n_splits) for name in sets}
    rows = compute(question_cell, cells, options, {"rounds": ROUNDS, "ratios": list(RATIOS)})
    report.say(f"{len(sets)} sets, {n_splits} splits each.")
    means = Means(rows)
    again = again_rows(means)
    report.table("again", again, "1. Costs in every round, less costs once (CGAda).", 3)
    report.say(again_answer(means))
    report.picture("again", again_figure(means), "Costs again, against once")
    report.table("wrong", wrong_rows(means), "2. What wrong prices cost.", 3)
    report.say(wrong_answer(means))
    report.picture("wrong", wrong_figure(means), "What wrong prices cost")
    report.table("ratios", ratio_rows(means), "3. Cost at larger ratios.", 3)
    report.say(ratio_answer(means))
    report.picture("ratios", ratio_figure(means), "Cost at larger ratios")
    report.close()


def _scales(report: Report, options: Options, sets: Sequence[str], n_splits: int) -> None:
    """Answer the fourth question; its cells are a folder of their own."""
    apart = replace(options, out=options.out / "scales")
    cells = {f"{name}-{k}": (name, k, options.data) for k in range(n_splits) for name in sets}
    rows = compute(scale_cell, cells, apart, {"rounds": ROUNDS, "scales": list(SCALES)})
    report.table("scales", scale_rows(rows), "4. AdaCost by the scale of its costs, and CGAda.", 3)
    report.say(scale_answer(rows))
    report.picture("scales", scales_figure(rows), "AdaCost less CGAda, by the scale of its costs")


def _world(report: Report, options: Options, n_draws: int) -> None:
    """Answer the fifth question."""
    apart = replace(options, out=options.out / "world")
    cells = {f"world-{k}": (k,) for k in range(n_draws)}
    rows = compute(world_cell, cells, apart, {"rounds": ROUNDS, "rows": [N_TRAIN, N_TEST]})
    title = "5. Share of the possible reduction, on made-up rows of known chances."
    report.table("world", world_rows(rows), title)
    report.picture("world", world_figure(rows), "Share of the possible reduction")


def _voting(report: Report, options: Options, sets: Sequence[str], n_splits: int) -> None:
    """Compare the two ways in which the CSB methods vote."""
    apart = replace(options, out=options.out / "voting")
    cells = {f"{name}-{k}": (name, k, options.data) for k in range(n_splits) for name in sets}
    rows = compute(voting_cell, cells, apart, {"rounds": ROUNDS, "ratios": list(VOTING_RATIOS)})
    title = "Votes by their sign, and by the least expected cost."
    report.table("voting", voting_rows(rows), title, 3)


def voting_rows(rows: list[Row]) -> list[Row]:
    """Return what voting by the least expected cost costs less than by the sign, over the sets."""
    costs: dict[tuple[str, float, str], dict[str, list[float]]] = {}
    for row in rows:
        of_set = costs.setdefault((row["method"], row["ratio"], row["votes"]), {})
        of_set.setdefault(row["dataset"], []).append(row["cost"])
    table = []
    for method, ratio in dict.fromkeys((row["method"], row["ratio"]) for row in rows):
        sign, price = (
            np.array([np.mean(values) for _, values in sorted(costs[method, ratio, votes].items())])
            for votes in ("sign", "price")
        )
        gap = mean_interval(list(price - sign))
        line: Row = {"method": method, "ratio": ratio, "by sign": float(sign.mean())}
        line |= {"by expected cost": float(price.mean()), "more": gap.text(3, "+")}
        table.append({**line, "sets won": int((price < sign).sum()), "verdict": told(gap)})
    return table


def set_means(rows: list[Row], ratio: float, scale: float | None, name: str) -> Any:
    """Return the mean over splits of one measure at one ratio and scale, one for each set."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if (row["ratio"], row["scale"]) == (ratio, scale):
            found.setdefault(row["dataset"], []).append(float(row[name]))
    return np.array([np.mean(values) for _, values in sorted(found.items())])


def scale_rows(rows: list[Row]) -> list[Row]:
    """Return cost, training cost, errors and rounds by ratio and scale, means over sets."""
    table = []
    for ratio in dict.fromkeys(row["ratio"] for row in rows):
        once = set_means(rows, ratio, None, "cost")
        for scale in (None, *SCALES):
            cost = set_means(rows, ratio, scale, "cost")
            gap = mean_interval(list(cost - once))
            of = {
                name: float(set_means(rows, ratio, scale, name).mean())
                for name in ("cost", "training", "misses", "false alarms", "rounds")
            }
            table.append(
                {
                    "ratio": ratio,
                    "method": "cgada" if scale is None else f"adacost, {scale}",
                    **of,
                    "less CGAda": "" if scale is None else gap.text(3, "+"),
                    "sets won": None if scale is None else int((cost < once).sum()),
                    "verdict": "" if scale is None else told(gap),
                }
            )
    return table


def scale_answer(rows: list[Row]) -> str:
    """Answer the fourth question."""
    parts = []
    for ratio in SCALE_RATIOS:
        once = set_means(rows, ratio, None, "cost")
        gaps = {s: mean_interval(list(set_means(rows, ratio, s, "cost") - once)) for s in SCALES}
        parts.append(f"{ratio}: {', '.join(f'{gap.mean:+.3f}' for gap in gaps.values())}")
    return (
        f"Answer: what AdaCost costs more than CGAda with its largest cost scaled to {SCALES}, by "
        f"ratio: {'; '.join(parts)}."
    )


def world_rows(rows: list[Row]) -> list[Row]:
    """Return the share of the possible reduction that each method reaches, by ratio."""
    return [
        {
            "method": method,
            **{
                str(ratio): str(mean_interval(_reached(rows, method, ratio)))
                for ratio in dict.fromkeys(row["ratio"] for row in rows)
            },
        }
        for method in dict.fromkeys(row["method"] for row in rows)
    ]


def _reached(rows: list[Row], method: str, ratio: float) -> list[float]:
    return [r["reached"] for r in rows if (r["method"], r["ratio"]) == (method, ratio)]


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
        for question, size in wrong_settings(means, method):
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


# ------------------------------------------------------------ pictures


def wrong_settings(means: Any, method: str) -> list[tuple[str, float]]:
    """Return all wrong prices: biases by size, then noises."""
    biases = sorted(round(factor, 3) for factor in FACTORS)
    return [("bias", factor) for factor in biases] + [("noise", noise) for noise in NOISES]


def _curve(ax: Any, x: Any, intervals: Any, label: str, i: int) -> None:
    style: Any = {"color": COLORS[i], "linestyle": LINE_STYLES[i], "marker": MARKERS[i]}
    ax.plot(x, [interval.mean for interval in intervals], label=label, markersize=4, **style)
    low = [interval.low for interval in intervals]
    high = [interval.high for interval in intervals]
    # On a logarithmic scale there is nothing below zero to draw.
    shown = [limit > 0 or ax.get_yscale() != "log" for limit in low]
    ax.fill_between(x, low, high, where=shown, color=COLORS[i], alpha=0.12, linewidth=0)


def _log_axis(ax: Any, values: Sequence[float]) -> None:
    """Make the x axis logarithmic, with a number at each of these values and nowhere else."""
    ax.set_xscale("log")
    ax.minorticks_off()
    ax.set_xticks(values, [_factor(value) for value in values])


def again_figure(means: Any) -> Any:
    """Draw costs less CGAda's by ratio, and costs along the rounds.

    The costs along the rounds are means alone: how far sets differ says nothing of methods.
    """
    figure, axes = new_figure(1, 2, 10.5, 4.2)
    left, right = axes[0]
    for i, method in enumerate(AGAIN):
        _curve(left, RATIOS, [means.less(method, ONCE, r) for r in RATIOS], method, i)
    left.axhline(0, color=GREY, linewidth=1)
    _log_axis(left, RATIOS)
    left.set_yscale("symlog", linthresh=0.1)
    left.set_xlabel("what a miss costs, in false alarms")
    left.set_ylabel("cost less that of costs once (CGAda)")
    left.legend(fontsize=9)
    for i, method in enumerate((*AGAIN, ONCE)):
        path = [float(means.of("ratio", method, RATIO, stage).mean()) for stage in STAGES]
        style: Any = {"color": COLORS[i], "linestyle": LINE_STYLES[i], "marker": MARKERS[i]}
        right.plot(STAGES, path, label=method, markersize=4, **style)
    _log_axis(right, STAGES)
    right.set_xlabel(f"rounds, at a ratio of {RATIO}")
    right.set_ylabel("cost, share of the constant answer")
    right.legend(fontsize=9)
    return figure


def wrong_figure(means: Any) -> Any:
    """Draw what wrong prices cost, by bias and by noise."""
    figure, axes = new_figure(1, 2, 10.5, 4.2)
    for i, method in enumerate((*IN_TRAINING, AT_DECISION)):
        right = means.of("bias", method, 1.0)
        for ax, kind in zip(axes[0], ("bias", "noise"), strict=True):
            sizes = [size for question, size in wrong_settings(means, method) if question == kind]
            gaps = [mean_interval(means.of(kind, method, size) - right) for size in sizes]
            _curve(ax, sizes, gaps, method, i)
    for ax, text in zip(axes[0], ("all by this factor", "each by a random factor of"), strict=True):
        ax.axhline(0, color=GREY, linewidth=1)
        ax.set_xlabel(f"prices of misses are wrong: {text}")
    _log_axis(axes[0, 0], sorted(FACTORS))
    _log_axis(axes[0, 1], NOISES)
    axes[0, 0].set_ylabel("more than at right prices")
    axes[0, 0].legend(fontsize=9)
    return figure


def _factor(factor: float) -> str:
    return f"{factor:g}" if factor >= 1 else f"1/{1 / factor:g}"


def ratio_figure(means: Any) -> Any:
    """Draw the cost of every method by ratio."""
    figure, axes = new_figure(1, 1, 7.0, 4.6)
    ax = axes[0, 0]
    ax.set_yscale("log")
    for i, method in enumerate((ONCE, *AGAIN, AT_DECISION, "adaboost")):
        _curve(ax, RATIOS, [mean_interval(means.of("ratio", method, r)) for r in RATIOS], method, i)
    ax.axhline(1, color=GREY, linewidth=1)
    _log_axis(ax, RATIOS)
    ax.set_yticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    ax.set_ylim(0.1, None)
    ax.set_xlabel("what a miss costs, in false alarms")
    ax.set_ylabel("cost, share of the constant answer")
    ax.legend(fontsize=9)
    return figure


def scales_figure(rows: list[Row]) -> Any:
    """Draw AdaCost less CGAda by the scale of its costs: fresh rows, training rows, rounds."""
    figure, axes = new_figure(1, 3, 13.5, 4.2)
    titles = {"cost": "fresh rows", "training": "training rows", "rounds": "rounds taken"}
    for ax, (name, title) in zip(axes[0], titles.items(), strict=True):
        for i, ratio in enumerate(dict.fromkeys(row["ratio"] for row in rows)):
            once = set_means(rows, ratio, None, name) if name != "rounds" else 0.0
            found = [mean_interval(list(set_means(rows, ratio, s, name) - once)) for s in SCALES]
            _curve(ax, SCALES, found, f"ratio {ratio}", i)
        ax.axhline(ROUNDS if name == "rounds" else 0, color=GREY, linewidth=1)
        _log_axis(ax, SCALES)
        ax.set_xticks(SCALES, [f"{scale:g}" for scale in SCALES])
        ax.set_xlabel("largest cost")
        ax.set_title(title, fontsize=10)
    axes[0, 0].set_ylabel("cost less that of CGAda")
    axes[0, 0].legend(fontsize=9)
    return figure


def world_figure(rows: list[Row]) -> Any:
    """Draw the share of the possible reduction that each method reaches, by ratio."""
    figure, axes = new_figure(1, 1, 7.4, 4.8)
    ax = axes[0, 0]
    ratios = list(dict.fromkeys(row["ratio"] for row in rows))
    for i, method in enumerate(dict.fromkeys(row["method"] for row in rows)):
        _curve(ax, ratios, [mean_interval(_reached(rows, method, r)) for r in ratios], method, i)
    for level in (0, 1):
        ax.axhline(level, color=GREY, linewidth=1)
    _log_axis(ax, ratios)
    ax.set_ylim(-1, 1.05)
    ax.set_xlabel("what a miss costs, in false alarms")
    ax.set_ylabel("share of the possible reduction")
    ax.legend(fontsize=9)
    return figure
