"""Time of exact Shapley values from raw float32 rows, against peers.

    python benchmarks/explain.py [--rows N] [--repeats N] [--json FILE]

All models have the same number of trees, leaves and threads. LightGBM and XGBoost explain their own
trees (`pred_contrib`), shap (one thread, as it comes) those that we export to it. Peers take from
seconds to minutes: 10,000 rows by default. The target is against the fastest of LightGBM and shap.
The interventional values, against a background of 100 rows, have shap for a peer.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np
import shap
import xgboost as xgb

from _common import THREADS, LightGBM, Line, Ours, Report, XGBoost, alternate, make_table, start
from costboost.explain.listing import shap_model
from costboost.explain.shapley import Explainer
from costboost.model import Member

TRAINED_ON = 10_000
BACKGROUND = 100
TARGET = 0.7
SHAP = "shap"
WORK = (  # what, leaves, trees, share of the rows
    ("100 trees of 8 leaves", 8, 100, 1.0),
    ("100 trees of 31 leaves", 31, 100, 0.2),
    ("1,000 stumps", 2, 1_000, 0.5),
)


def explain(explainer: Explainer, X: Any, background: Any = None) -> Any:
    """Bin the rows and explain them."""
    codes = explainer.forest.encode(X, THREADS)
    if background is None:
        return explainer.path_dependent(codes, THREADS)
    others = explainer.forest.encode(background, THREADS)
    return explainer.interventional(codes, others, THREADS)


def agree(ours: Any, theirs: Any) -> None:
    """Stop unless shap found the same."""
    np.testing.assert_allclose(ours[0][:, :, 0], theirs, atol=1e-4)


def path_dependent(report: Report, X: Any, ours: Ours, train: Any, repeats: int) -> None:
    columns = (Ours.name, LightGBM.name, XGBoost.name, SHAP)
    report.head(f"Explain up to {len(X):,} x {X.shape[1]} from raw float32", columns)
    light, extreme = LightGBM(*train), XGBoost(*train)
    for name, leaves, trees, share in WORK:
        forest, rows = ours.forest(leaves, trees), X[: int(share * len(X))]
        explainer = Explainer(forest)
        tree_shap = shap.TreeExplainer(exported(forest))
        for peer in (light, extreme):
            peer.train(leaves, trees)
        agree(explain(explainer, rows[:50]), tree_shap.shap_values(rows[:50]))
        table = xgb.DMatrix(rows, nthread=THREADS)
        work = {
            Ours.name: partial(explain, explainer, rows),
            LightGBM.name: partial(light.model.predict, rows, pred_contrib=True),
            XGBoost.name: partial(extreme.model.predict, table, pred_contribs=True),
            SHAP: partial(tree_shap.shap_values, rows),
        }
        times = alternate(work, repeats)
        fastest = min((LightGBM.name, SHAP), key=lambda peer: times[peer][0])
        note = f"{len(rows):,} rows, against {fastest}"
        report.add(Line(name, times, fastest, TARGET, note))
        one = {
            Ours.name: partial(explain, explainer, rows[:1]),
            LightGBM.name: partial(light.model.predict, rows[:1], pred_contrib=True),
            SHAP: partial(tree_shap.shap_values, rows[:1]),
        }
        report.add(Line("  the same, 1 row", alternate(one, 10), LightGBM.name))


def interventional(report: Report, X: Any, ours: Ours, repeats: int) -> None:
    report.head(f"Against a background of {BACKGROUND} rows", (Ours.name, SHAP))
    forest, rows, others = ours.forest(8, 100), X[:500], X[-BACKGROUND:]
    explainer = Explainer(forest)
    theirs = shap.TreeExplainer(exported(forest), others.astype(np.float64))
    agree(explain(explainer, rows[:20], others), theirs.shap_values(rows[:20]))
    work = {
        Ours.name: partial(explain, explainer, rows, others),
        SHAP: partial(theirs.shap_values, rows.astype(np.float64)),
    }
    report.add(Line("100 trees of 8 leaves, 500 rows", alternate(work, repeats), SHAP))


def exported(forest: Any) -> Any:
    return shap_model(Member(np.ones(len(forest)), forest))


def ten_thousand(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(rows=10_000)


def main() -> None:
    options = start(__doc__, ten_thousand)
    report = Report()
    X, y = make_table(options.rows + TRAINED_ON)
    train, rest = (X[:TRAINED_ON], y[:TRAINED_ON]), X[TRAINED_ON:]
    ours = Ours(*train)
    path_dependent(report, rest, ours, train, options.repeats)
    interventional(report, rest, ours, options.repeats)
    report.close(options.json)


if __name__ == "__main__":
    main()
