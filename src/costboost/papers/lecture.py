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
from costboost.papers import lecture_pictures as pictures
from costboost.papers.cells import Row, compute
from costboost.papers.intervals import mean_interval
from costboost.papers.lecture_example import (
    DELTA,
    LOSSES,
    Described,
    Flat,
    draw_answers,
    draw_labels,
    stagewise_exponential,
)
from costboost.papers.options import Options, read_options
from costboost.papers.report import Report

STEPS = {"line search": 1.0, "fixed 1": 1.0, "fixed 0.1": 0.1, "line search x 0.1": 0.1}
N_TRAIN, N_TEST = 200, 4000


def main(arguments: Sequence[str] = ()) -> None:
    """Compute the lecture's page."""
    options = read_options("lecture", __doc__ or "", arguments)
    n_draws = options.repeats or (4 if options.quick else 30)
    run(options, n_draws, n_rounds=60 if options.quick else 300)


def run(options: Options, n_draws: int, n_rounds: int) -> None:
    """Write tables and pictures to `options.out`."""
    report = Report("Gradient boosting, in one dimension", options)
    report.picture("rounds", pictures.rounds_figure(), "Forward stagewise fitting, round by round")
    report.picture("losses", pictures.losses_figure(), "Losses, derivatives, leaf minimisers")
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
    figure = pictures.steps_figure(mean_paths(rows))
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
