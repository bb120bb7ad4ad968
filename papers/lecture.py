"""The lecture on gradient boosting: stagewise fits drawn, losses checked, steps compared.

Everything happens on one dimension (`lecture_example`). Three claims are computed:

- section 2: AdaBoost is forward stagewise fitting of the exponential loss. All stumps and all steps
  are tried by brute force, and compared with what `CostBoostClassifier("adaboost")` does;
- sections 3.1, 3.3, 3.4: each loss with its derivative (against finite differences) and the
  constant that is best in a leaf (against a numerical search);
- section 3.2: the step by line search, against fixed steps, on fresh rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from costboost import CostBoostClassifier, GradientBoostClassifier, GradientBoostRegressor
from costboost.plots.style import COLORS, GREY, LINE_STYLES
from papers.experiment import Options, Row, compute, read_options
from papers.lecture_example import (
    DELTA,
    LOSSES,
    Described,
    Flat,
    draw_answers,
    draw_labels,
    stagewise_exponential,
    truth,
)
from papers.report import Report, mean_interval, new_figure, with_legend

STEPS = {"line search": 1.0, "fixed 1": 1.0, "fixed 0.1": 0.1, "line search x 0.1": 0.1}
N_TRAIN, N_TEST = 200, 4000
GRID = np.linspace(0, 1, 801)
SHOWN = (1, 2, 3, 10, 40)


def main(arguments: Sequence[str] = ()) -> None:
    """Compute the lecture's page."""
    options = read_options("lecture", __doc__ or "", arguments)
    n_draws = options.repeats or (4 if options.quick else 30)
    run(options, n_draws, n_rounds=60 if options.quick else 300)


def run(options: Options, n_draws: int, n_rounds: int) -> None:
    """Write tables and pictures to `options.out`."""
    report = Report("Gradient boosting, in one dimension", options)
    report.picture("rounds", rounds_figure(), "Forward stagewise fitting, round by round")
    report.picture("losses", losses_figure(), "Losses, derivatives, leaf minimisers")
    report.table("adaboost", adaboost_rows(), "AdaBoost against brute force over stumps and steps.")
    report.table("losses", loss_rows(), "Losses: derivatives and leaf minimisers.", digits=6)
    cells = {
        f"{described.name}-{step.replace(' ', '-')}-{seed}": (k, step, seed, n_rounds)
        for k, described in enumerate(LOSSES)
        for step in STEPS
        for seed in range(n_draws)
    }
    rows = compute(step_cell, cells, options, {"n_rounds": n_rounds})
    report.table("steps", step_rows(rows), "Fresh rows: line search against fixed steps.", 3)
    figure = steps_figure(mean_paths(rows))
    report.picture("steps", figure, "The loss of fresh rows along the rounds")
    report.close()


def adaboost_rows(n_rounds: int = 8) -> list[Row]:
    """Return error and step of every round, by brute force and by AdaBoost."""
    example = draw_labels(150, seed=1)
    stages = stagewise_exponential(example, n_rounds)
    # More bins than rows: every cut between two rows is a candidate.
    model = CostBoostClassifier(
        "adaboost", n_rounds, max_depth=1, criterion="error", min_samples_leaf=1, max_bins=255
    ).fit(*example)
    rows = zip(stages, model.estimator_errors_, model.estimator_weights_, strict=True)
    return [
        {
            "round": t + 1,
            "error, brute force": stage.error,
            "error, AdaBoost": float(error),
            "lambda, brute force": stage.step,
            "alpha, AdaBoost": float(alpha),
            "verdict": _equal(stage.step, alpha, 1e-9),
        }
        for t, (stage, error, alpha) in enumerate(rows)
    ]


def loss_rows() -> list[Row]:
    """Return each loss with its derivative and leaf minimiser, checked."""
    return [_loss_row(described) for described in LOSSES]


def _loss_row(described: Described) -> Row:
    y: Any = np.array([0, 1, 1, 1, 0]) if described.labels else np.array([-0.6, 0.1, 0.2, 0.4, 2.4])
    raw = np.linspace(-2, 2, 5) + 0.013  # not at a kink
    ahead, behind = (described.loss.value(y, raw + e) for e in (1e-6, -1e-6))
    slope_error = np.abs((ahead - behind) / 2e-6 - described.loss.gradient(y, raw)).max()
    found = minimize_scalar(
        lambda c: float(described.loss.value(y, np.full(5, c)).sum()),
        bounds=(-3, 3), method="bounded", options={"xatol": 1e-10},
    )  # fmt: skip
    model = _model(described, "line search", 1, 0).set_params(min_samples_leaf=1)
    best = model.fit(np.arange(5.0)[:, None], y).start_[0]
    return {
        "loss": described.name,
        "formula": described.formula,
        "derivative": described.derivative,
        "error of derivative": float(slope_error),
        "leaf minimiser": described.minimiser,
        "ours": float(best),
        "by search": float(found.x),
        "verdict": _equal(best, found.x, 1e-5),
    }


def _equal(a: float, b: float, tolerance: float) -> str:
    return "equal" if abs(a - b) <= tolerance else "differs"


def _model(described: Described, step: str, n_rounds: int, seed: int) -> Any:
    """Return the learner of one experiment: trees of four leaves."""
    search = step.startswith("line search")
    given: dict[str, Any] = {
        "loss": described.name if search else Flat(described.loss),
        "step": "line-search" if search else "newton",
        "learning_rate": STEPS[step],
        "n_estimators": n_rounds,
        "max_leaf_nodes": 4,
        "min_samples_leaf": 5,
        "random_state": seed,
        "init": None,
    }
    if described.labels:
        return GradientBoostClassifier(**given, max_step=None)
    return GradientBoostRegressor(**given, delta=DELTA)


def step_cell(number: int, step: str, seed: int, n_rounds: int) -> list[Row]:
    """Return the loss of fresh rows after every round."""
    described = LOSSES[number]
    draw = draw_labels if described.labels else draw_answers
    train, test = draw(N_TRAIN, 2 * seed), draw(N_TEST, 2 * seed + 1)
    model = _model(described, step, n_rounds, seed).fit(*train)
    if described.labels:
        staged = model.staged_decision_function(test.X)
    else:
        staged = model.staged_predict(test.X)
    path = [float(described.loss.value(test.y, raw).mean()) for raw in staged]
    path += path[-1:] * (n_rounds - len(path))  # a fit that ended stays as it is
    head = {"loss": described.name, "step": step, "seed": seed}
    return [{**head, "round": t + 1, "value": value} for t, value in enumerate(path)]


def _paths(rows: list[Row]) -> dict[tuple[str, str], Any]:
    """Return the losses by (loss, step) as arrays (draws, rounds)."""
    found: dict[tuple[str, str], dict[int, list[float]]] = {}
    for row in rows:
        draws = found.setdefault((row["loss"], row["step"]), {})
        draws.setdefault(row["seed"], []).append(row["value"])
    return {key: np.array(list(draws.values())) for key, draws in found.items()}


def mean_paths(rows: list[Row]) -> dict[tuple[str, str], Any]:
    """Return the mean over draws after every round."""
    return {key: path.mean(axis=0) for key, path in _paths(rows).items()}


def step_rows(rows: list[Row]) -> list[Row]:
    """Return, for each loss and step, the best mean loss, its round, and the last."""
    table = []
    for (loss, step), path in _paths(rows).items():
        best = int(path.mean(axis=0).argmin())
        table.append(
            {
                "loss": loss,
                "step": step,
                "best round": best + 1,
                "loss there": mean_interval(path[:, best]).text(3),
                "after the last": mean_interval(path[:, -1]).text(3),
            }
        )
    return table


# ------------------------------------------------------------ pictures


def rounds_figure() -> Any:
    """Draw forward stagewise fitting: what is left, the tree fitted to it, and their sum."""
    X, y = draw_answers(120, seed=0)
    model = GradientBoostRegressor(
        "squared", max(SHOWN), learning_rate=1.0, max_leaf_nodes=3, min_samples_leaf=5
    ).fit(X, y)
    before = np.full(len(X), float(model.start_[0]))
    on_grid = [np.full(len(GRID), before[0]), *model.staged_predict(GRID[:, None])]
    on_rows = [before, *model.staged_predict(X)]
    figure, axes = new_figure(2, len(SHOWN), 3.0 * len(SHOWN), 5.6)
    for (above, below), t in zip(axes.T, SHOWN, strict=True):
        above.plot(X[:, 0], y - on_rows[t - 1], ".", color=GREY, markersize=4)
        above.plot(GRID, on_grid[t] - on_grid[t - 1], color=COLORS[1], linewidth=2)
        above.set_title(f"round {t}: y - f and the tree", fontsize=10)
        below.plot(X[:, 0], y, ".", color=GREY, markersize=4)
        below.plot(GRID, truth(GRID), color=COLORS[2], linestyle=LINE_STYLES[1], linewidth=1.2)
        below.plot(GRID, on_grid[t], color=COLORS[0], linewidth=2)
        below.set_title(f"f after {t}; loss {model.train_loss_[t - 1]:.3f}", fontsize=10)
    for row in axes:
        low = min(ax.get_ylim()[0] for ax in row)
        high = max(ax.get_ylim()[1] for ax in row)
        for ax in row:
            ax.set_ylim(low, high)
    return figure


def losses_figure() -> Any:
    """Draw each loss, its derivative, and the loss of a leaf with its minimiser."""
    leaf, labels = np.array([-0.6, 0.1, 0.2, 0.4, 2.4]), np.array([0, 1, 1, 1, 0])
    raw = np.linspace(-3, 3, 601)
    figure, axes = new_figure(3, len(LOSSES), 3.0 * len(LOSSES), 7.6)
    for column, described in zip(axes.T, LOSSES, strict=True):
        target = np.full(len(raw), 1 if described.labels else 0)
        column[0].plot(raw, described.loss.value(target, raw), color=COLORS[0])
        column[0].set_title(f"{described.name}: {described.formula}", fontsize=10)
        column[1].plot(raw, described.loss.gradient(target, raw), color=COLORS[1])
        column[1].set_title(f"derivative: {described.derivative}", fontsize=10)
        answers = labels if described.labels else leaf
        total = [float(described.loss.value(answers, np.full(5, c)).sum()) for c in raw]
        column[2].plot(raw, total, color=COLORS[2])
        column[2].plot(raw[np.argmin(total)], min(total), "o", color=COLORS[3])
        column[2].set_title(f"a leaf: {described.minimiser}", fontsize=10)
        column[2].set_ylim(0, 4 * min(total))
        column[0].set_ylim(0, 6)
        column[1].set_ylim(-4, 4)
        if not described.labels:
            column[2].plot(leaf, np.zeros(5), "|", color=GREY, markersize=12)
    for row, text in zip(axes, ("one row, y = 0 or 1", "", "sum over five rows"), strict=True):
        row[0].set_ylabel(text)
    return figure


def steps_figure(paths: dict[tuple[str, str], Sequence[float]]) -> Any:
    """Draw the loss of fresh rows along the rounds, line search against fixed steps."""
    names = list(dict.fromkeys(loss for loss, _ in paths))
    figure, axes = new_figure(1, len(names), 3.2 * len(names), 3.9)
    for ax, name in zip(axes[0], names, strict=True):
        mine = {step: path for (loss, step), path in paths.items() if loss == name}
        for i, (step, path) in enumerate(mine.items()):
            style: Any = {"color": COLORS[i], "linestyle": LINE_STYLES[i], "label": step}
            ax.plot(1 + np.arange(len(path)), path, **style)
        ax.set_xscale("log")
        ax.set_title(name, fontsize=10)
        ax.set_xlabel("rounds")
        ax.set_ylim(0.9 * min(map(min, mine.values())), 1.05 * max(p[0] for p in mine.values()))
    axes[0, 0].set_ylabel("mean loss of fresh rows")
    return with_legend(figure, axes[0, 0])
