"""Lozano and Abe: p-norm boosting on eight sets of many classes, Tables 1 and 2.

What the paper says: sets of many classes and about 1,000 rows or more; random costs by which rare
classes are dear; AdaBoost.M2 started from costs, AdaCost, CSB2 and L_p-CSB with p = 1 to 5; Weka's
J48 as component learner; average test cost and its standard error.

What it leaves open, and what was settled before the run:

- costs are uniform up to 2000 P(i) / P(j) for class j taken for i, right answers free
  (`costboost.datasets.frequency_costs`), drawn anew for each of 10 draws, by training frequencies;
- two thirds of the rows train (with at least one of each class), one third tests; 30 rounds;
- Flare is the number of C-class flares (eight classes, three of them of fewer than ten rows);
- the built-in tree of this library, with its default size of leaves, is the component learner;
  leaves of at least 2 rows, as in J48, and of at least 80 stand beside;
- C4.5, as J48 is, on all pairs of row and class stands beside where these are at most 12,000, in
  the first 3 draws: it takes a hundred times as long;
- the step is 1 / (t + 1); the paper's own suggestion, 1 / t, stands beside. AdaCost and CSB2 are
  this library's for many classes, on trees of 31 leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from costboost.papers.cells import Row, compute
from costboost.papers.intervals import Interval, mean_interval, order_verdict, place
from costboost.papers.lozano_abe_work import (
    C45,
    LEAVES_OF,
    POWERS,
    ROUNDS,
    TEST,
    TREES,
    bound_path,
    lozano_abe_cell,
)
from costboost.papers.options import Options, read_options
from costboost.papers.report import Report, new_figure, published
from costboost.plots.style import COLORS, LINE_STYLES, MARKERS

SETS = {
    "splice": "splice",
    "anneal": "anneal",
    "satimage": "satimage",
    "solar_flare": "solar_flare_c",
    "letter": "letter",
    "pendigits": "pendigits",
    "segment": "segment",
    "ann_thyroid": "ann_thyroid",
}
FIRST = ("adaboost", "adacost", "csb2", "p1", "p2")
SECOND = tuple(f"p{p}" for p in POWERS)
THREE = ("adaboost", "p1", "p2")  # those whose leaves and learner are varied
OTHERS = ("p1", "p2", "p2, step 1/t", "p2, stochastic, searched", "average cost", "max cost")
C45_DRAWS = 3


def main(arguments: Sequence[str] = ()) -> None:
    """Compute both tables."""
    options = read_options("lozano-abe", __doc__ or "", arguments)
    if options.quick:
        run(options, {k: SETS[k] for k in ("anneal", "segment")}, options.repeats or 3)
    else:
        run(options, {k: SETS[k] for k in options.choose(SETS)}, options.repeats or 10)


def run(options: Options, sets: dict[str, str], n_draws: int) -> None:
    """Write tables and pictures to `options.out`."""
    report = Report("Lozano and Abe: boosting of p-norms of costs", options)
    cells = {
        f"{name}-{learner}-{k}": (path, k, learner, options.data)
        for learner, draws in ((TREES, n_draws), (C45, min(n_draws, C45_DRAWS)))
        for k in range(draws)  # what is finished first is all sets with fewer draws
        for name, path in sets.items()
    }
    protocol = {"rounds": ROUNDS, "test": TEST}
    rows = compute(lozano_abe_cell, cells, options, protocol)
    names = {path: name for name, path in sets.items()}
    rows = [{**row, "dataset": names[row["dataset"]]} for row in rows]
    found = intervals(rows)
    report.say(f"{n_draws} draws of costs and rows.")
    for number, methods in ((1, FIRST), (2, SECOND)):
        table = table_rows(found, published(f"lozano_abe_table{number}"), methods)
        report.table(f"table{number}", table, f"Table {number}: mean test cost.", 1)
    report.table("others", other_rows(found), "Other readings, and reductions.", 1)
    report.table("leaves", leaf_table(found), "The least size of leaves.", 1)
    beside = c45_rows(rows)
    if beside:
        report.table("c45", beside, "C4.5 as component learner, and trees in the same draws.", 1)
    for line in verdicts(found):
        report.say(line)
    report.picture("powers", powers_figure(found), "Cost by p")
    path = bound_path(next(iter(sets.values())), options.data)
    report.picture("bound", bound_figure(path), "The objective and Theorem 4.2's bound")
    report.close()


Found = dict[str, dict[str, Interval]]


def intervals(rows: list[Row]) -> Found:
    """Return the mean cost over draws by set and method."""
    costs: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        costs.setdefault(row["dataset"], {}).setdefault(row["method"], []).append(row["cost"])
    ratio = TEST / (1 - TEST)
    return {
        name: {method: mean_interval(values, ratio) for method, values in methods.items()}
        for name, methods in costs.items()
    }


def table_rows(found: Found, printed: list[Row], methods: Sequence[str]) -> list[Row]:
    """Return a table, published and ours, with the order of the methods."""
    table = []
    for was in printed:
        name = was["dataset"]
        if name not in found:
            continue
        line: Row = {"set": name}
        for method in methods:
            ours = found[name][method]
            line[f"{method}, published"] = f"{was[method]:.1f} +- {was[f'{method}_error']:.1f}"
            line[f"{method}, ours"] = ours.text(1)
            line[f"{method} verdict"] = place(was[method], ours, 2)
        means = {method: found[name][method].mean for method in methods}
        line["order"] = order_verdict({m: was[m] for m in methods}, means)
        table.append(line)
    return table


def other_rows(found: Found) -> list[Row]:
    """Return the cost of every other reading beside those of p = 1 and p = 2."""
    return [
        {"set": name, **{method: of_set[method].text(1) for method in OTHERS}}
        for name, of_set in found.items()
    ]


def leaf_table(found: Found) -> list[Row]:
    """Return the costs of three methods on leaves of several sizes, and their order."""
    printed = {row["dataset"]: row for row in published("lozano_abe_table1")}
    table = []
    for name, of_set in found.items():
        for size, tail in {
            "default": "",
            **{f"{n} rows": f", {k} leaves" for k, n in LEAVES_OF.items()},
        }.items():
            means = {method: of_set[f"{method}{tail}"].mean for method in THREE}
            line: Row = {"set": name, "leaves": size, **means}
            if name in printed:
                line["order"] = order_verdict({m: printed[name][m] for m in THREE}, means)
            table.append(line)
    return table


def c45_rows(rows: list[Row]) -> list[Row]:
    """Return mean costs on C4.5, and on built-in trees in the draws that C4.5 was given."""
    costs = {(row["dataset"], row["draw"], row["method"]): row["cost"] for row in rows}
    draws: dict[str, list[int]] = {}
    for name, draw, method in costs:
        if method == f"{THREE[0]}, {C45}":
            draws.setdefault(name, []).append(draw)
    return [
        {
            "set": name,
            "draws": len(of_set),
            **{
                f"{method}{tail}": float(
                    np.mean([costs[name, k, f"{method}{tail}"] for k in of_set])
                )
                for tail in (f", {C45}", "", ", small leaves")
                for method in THREE
            },
        }
        for name, of_set in draws.items()
    ]


def verdicts(found: Found) -> list[str]:
    """Say whether squared loss is best, and whether larger p is better."""
    best = [min(FIRST, key=lambda m: of_set[m].mean) for of_set in found.values()]
    falls = [of_set["p5"].mean < of_set["p2"].mean for of_set in found.values()]
    linear = [of_set["p2"].mean < of_set["p1"].mean for of_set in found.values()]
    n = len(found)
    return [
        f"p = 2 is the cheapest of Table 1 on {best.count('p2')} of {n} sets (published: all).",
        f"p = 2 is cheaper than p = 1 on {sum(linear)} of {n} sets (published: all), "
        f"p = 5 cheaper than p = 2 on {sum(falls)} of {n} (published: {_published_falls(found)}).",
    ]


def _published_falls(found: Found) -> int:
    rows = [row for row in published("lozano_abe_table2") if row["dataset"] in found]
    return sum(row["p5"] < row["p2"] for row in rows)


def powers_figure(found: Found) -> Any:
    """Draw cost by p, as a share of that at p = 1: ours beside what was published."""
    printed = {row["dataset"]: row for row in published("lozano_abe_table2")}
    figure, axes = new_figure(1, len(found), 2.5 * len(found), 3.3)
    for ax, (name, of_set) in zip(axes[0], found.items(), strict=True):
        ours = np.array([of_set[f"p{p}"].mean for p in POWERS])
        ax.plot(POWERS, ours / ours[0], marker=MARKERS[0], color=COLORS[0], label="ours")
        if name in printed:
            theirs = np.array([printed[name][f"p{p}"] for p in POWERS])
            style: Any = {"color": COLORS[1], "linestyle": LINE_STYLES[1], "label": "published"}
            ax.plot(POWERS, theirs / theirs[0], marker=MARKERS[1], **style)
        ax.set_title(name, fontsize=10)
        ax.set_xlabel("p")
        ax.set_ylim(0, None)
    axes[0, 0].set_ylabel("cost, p = 1 is 1")
    axes[0, 0].legend(fontsize=8)
    return figure


def bound_figure(path: list[Row]) -> Any:
    """Draw the objective, and the bound: 9 M / (t + 2) above the least objective found."""
    figure, axes = new_figure(1, 1, 5.6, 3.8)
    ax = axes[0, 0]
    rounds = [row["round"] for row in path]
    for i, name in enumerate(("objective", "bound")):
        values = [row[name] for row in path]
        ax.plot(rounds, values, color=COLORS[i], linestyle=LINE_STYLES[i], label=name)
    ax.set_yscale("log")
    ax.set_xlabel("rounds")
    ax.set_ylabel("mean of sum H^2 C")
    ax.legend(fontsize=9)
    return figure
