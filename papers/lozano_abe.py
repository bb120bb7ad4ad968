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

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost import CostBoostClassifier, Costs, PNormBoostClassifier
from costboost.datasets import frequency_costs
from costboost.metrics import mean_cost
from costboost.plots.style import COLORS, LINE_STYLES, MARKERS
from papers.c45 import C45Classifier
from papers.experiment import Options, Row, compute, load_set, read_options, seed_of
from papers.report import (
    Interval,
    Report,
    mean_interval,
    new_figure,
    order_verdict,
    place,
    published,
    with_legend,
)

ROUNDS = 30
TEST = 1 / 3
POWERS = (1, 2, 3, 4, 5)
PROMISES = ("Eq. 11, first line", "Eq. 11, second line", "Eq. 12")
THEOREM_POWERS = (2, 3)  # where Theorem 4.1 is checked
# C4.5 learns a table of n * K rows in every round: only where that is small.
MAX_PAIRS = 12_000
TREES, C45 = "trees", "C4.5"
LEAVES_OF = {"small": 2, "large": 80}  # J48's least rows in a leaf; those that rare classes need
LEAVES = 31

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
    paths = {
        (name, p): theorem_path(path, options.data, p)
        for name, path in sets.items()
        for p in THEOREM_POWERS
    }
    title = "Theorem 4.1: what a round of Lp-CSB-A falls by, over what Eq. 11 and 12 promise."
    report.table("theorem", theorem_rows(paths), title)
    first = next(iter(sets))
    report.picture("theorem", theorem_figure(paths, first), "What rounds fall by, and must")
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


def theorem_rows(paths: dict[tuple[str, int], list[Row]]) -> list[Row]:
    """Return how often a round fell by less than was promised, and the least ratio.

    Rounding is allowed a millionth.
    """
    table = []
    for (name, p), path in paths.items():
        line: Row = {"set": name, "p": p, "rounds": len(path)}
        for promise in PROMISES:
            ratios = [row["fall"] / row[promise] for row in path if row[promise] > 0]
            line[f"{promise}, least ratio"] = min(ratios)
            line[f"{promise}, missed"] = sum(ratio < 1 - 1e-6 for ratio in ratios)
        table.append(line)
    return table


def theorem_figure(paths: dict[tuple[str, int], list[Row]], name: str) -> Any:
    """Draw what every round falls by on one set, and what Eq. 11 and 12 promise."""
    figure, axes = new_figure(1, len(THEOREM_POWERS), 5.2 * len(THEOREM_POWERS), 3.9)
    for ax, p in zip(axes[0], THEOREM_POWERS, strict=True):
        rounds = [row["round"] for row in paths[name, p]]
        for i, key in enumerate(("fall", *PROMISES)):
            style: Any = {"color": COLORS[i], "linestyle": LINE_STYLES[i], "label": key}
            ax.plot(rounds, [row[key] for row in paths[name, p]], **style)
        ax.set_yscale("log")
        ax.set_title(f"{name}, p = {p}", fontsize=10)
        ax.set_xlabel("round")
    axes[0, 0].set_ylabel("fall of the objective")
    return with_legend(figure, axes[0, 0])


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


# ------------------------------------------------------------ one cell of work


class Draw(NamedTuple):
    """Training and test rows, and the costs that were drawn."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    X_test: NDArray[np.float64]
    y_test: NDArray[Any]
    categorical: NDArray[np.bool_]
    costs: Costs


def cut(path: str, draw: int, folder: str | None) -> Draw:
    """Return a random third to test on; costs by the frequencies of the training rows."""
    data = load_set(path, folder)
    X, categorical = data.to_numpy()
    rng = np.random.RandomState(seed_of(path, draw))
    order = rng.permutation(len(data.y))
    # Every class must be trained on: a row of each comes first.
    first = [int(np.flatnonzero(data.y[order] == k)[0]) for k in np.unique(data.y)]
    order = np.concatenate([order[first], np.delete(order, first)])
    n = len(order) - int(TEST * len(order))
    train, test = order[:n], order[n:]
    y = data.y
    return Draw(X[train], y[train], X[test], y[test], categorical, frequency_costs(y[train], rng))


def lozano_abe_cell(path: str, draw: int, learner: str, folder: str | None) -> list[Row]:
    """Return the mean test cost of every method on one draw, on built-in trees or on C4.5."""
    drawn = cut(path, draw, folder)
    rows = []
    for name, model, given in (_models if learner == TREES else _c45_models)(drawn, draw):
        with warnings.catch_warnings():  # how soon a method ends is told by its rounds
            warnings.simplefilter("ignore", UserWarning)
            model.fit(drawn.X, drawn.y, **given)
            answers = model.predict(drawn.X_test)
        cost = float(mean_cost(drawn.y_test, answers, costs=drawn.costs))
        rows.append({"dataset": path, "draw": draw, "method": name, "cost": cost,
                     "rounds": model.n_iter_})  # fmt: skip
    return rows


Models = Iterator[tuple[str, Any, dict[str, Any]]]


def _models(drawn: Draw, draw: int) -> Models:
    """Yield the papers' methods, then other readings: step, leaves, hypotheses, reductions."""
    costs = {"costs": drawn.costs}
    common: dict[str, Any] = {
        "n_estimators": ROUNDS, "categorical_features": drawn.categorical, "random_state": draw,
    }  # fmt: skip
    trees: dict[str, Any] = {**common, "max_depth": None, "max_leaf_nodes": LEAVES}
    trees["calibration"] = None
    yield "adaboost", PNormBoostClassifier(method="adaboost.m2", **common), costs
    for method in ("adacost", "csb2"):
        yield method, CostBoostClassifier(method, **trees), costs
    for p in POWERS:
        yield f"p{p}", PNormBoostClassifier(p, **common), costs
    yield "p2, step 1/t", PNormBoostClassifier(2, step="average", **common), costs
    stochastic = PNormBoostClassifier(2, "lp-csb-a", "search", **common)
    yield "p2, stochastic, searched", stochastic, costs
    for size, least in LEAVES_OF.items():
        some = {**common, "min_samples_leaf": least}
        yield f"adaboost, {size} leaves", PNormBoostClassifier(method="adaboost.m2", **some), costs
        for p in (1, 2):
            yield f"p{p}, {size} leaves", PNormBoostClassifier(p, **some), costs
    yield "average cost", PNormBoostClassifier(method="average-cost", **common), costs
    weights = drawn.costs.bind(np.unique(drawn.y)).of_errors(drawn.y, how="max")
    yield "max cost", CostBoostClassifier("adaboost", **trees), {"sample_weight": weights}


def _c45_models(drawn: Draw, draw: int) -> Models:
    """Yield the three methods that can be had on C4.5, which learns pairs of row and class."""
    n_classes = len(np.unique(drawn.y))
    if len(drawn.y) * n_classes > MAX_PAIRS:
        return
    kinds = np.concatenate([drawn.categorical, np.zeros(n_classes, dtype=bool)])
    given: dict[str, Any] = {
        "n_estimators": ROUNDS, "random_state": draw,
        "estimator": C45Classifier(categorical_features=kinds),
    }  # fmt: skip
    costs = {"costs": drawn.costs}
    yield "adaboost, C4.5", PNormBoostClassifier(method="adaboost.m2", **given), costs
    for p in (1, 2):
        yield f"p{p}, C4.5", PNormBoostClassifier(p, **given), costs


def bound_path(path: str, folder: str | None) -> list[Row]:
    """Return the objective and Theorem 4.2's bound along the rounds, p = 2, step of Eq. 10."""
    drawn = cut(path, 0, folder)
    model = PNormBoostClassifier(
        2, "lp-csb-a", "bound", n_estimators=4 * ROUNDS, categorical_features=drawn.categorical
    ).fit(drawn.X, drawn.y, costs=drawn.costs)
    return [
        {"round": t + 1, "objective": float(value), "bound": float(bound)}
        for t, (value, bound) in enumerate(
            zip(model.objective_, model.objective_bound_, strict=True)
        )
    ]


def theorem_path(path: str, folder: str | None, p: int) -> list[Row]:
    """Return what the objective falls by in every round of Lp-CSB-A, and what it must at least.

    All is computed from the mixtures H_t themselves, in means over rows. With f - H = (H_t -
    H_(t-1)) / alpha_t and the slope <grad L, f - H>, Eq. 11 promises slope^2 / (2 M |f - H|^2),
    which is at least slope^2 / (8 M); Eq. 12, as printed, p / (8 M) times the square of slope / p.
    """
    drawn = cut(path, 0, folder)
    model = PNormBoostClassifier(
        p, "lp-csb-a", "bound", n_estimators=ROUNDS, categorical_features=drawn.categorical
    ).fit(drawn.X, drawn.y, costs=drawn.costs)
    C = drawn.costs.bind(model.classes_, len(drawn.y)).of_labels(drawn.y)
    return promises(C, list(model.staged_predict_proba(drawn.X)), model.estimator_weights_, p)


def promises(C: Any, mixtures: Sequence[Any], alphas: Any, p: int) -> list[Row]:
    """Return the falls and the promises of rounds with these mixtures (n, K) and steps.

    `C` (n, K) is the cost of each answer for each row; the first mixture before any is uniform.
    """
    largest = float(C.max()) * p * (p - 1) * 2.0 ** (p - 2)
    before = np.full(C.shape, 1 / C.shape[1])
    rows = []
    for t, (after, alpha) in enumerate(zip(mixtures, alphas, strict=True)):
        way = (after - before) / alpha
        slope = float((p * before ** (p - 1) * C * way).sum(axis=1).mean())
        distance = float((way**2).sum(axis=1).mean())
        fall = float(((before**p - after**p) * C).sum(axis=1).mean())
        promised = (
            slope**2 / (2 * largest * distance),
            slope**2 / (8 * largest),
            p * (slope / p) ** 2 / (8 * largest),
        )
        rows.append({"round": t + 1, "fall": fall, **dict(zip(PROMISES, promised, strict=True))})
        before = after
    return rows
