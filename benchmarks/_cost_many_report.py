"""The tables of the cost benchmark's part with more than two classes.

Every set weighs the same, whatever its number of splits. Models are compared on the splits that all
of them were measured on; intervals take a set as one observation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from _cost_many import MANY_HALVES
from _cost_models import OURS
from _cost_run import MANY_MEASURES
from costboost.metrics import average_ranks, bootstrap_interval

SPLIT = ["set", "repeat"]
TITLES = {
    "": "more than two classes, all sets",
    "many-dev": "the sets seen while choosing the default",
    "many-test": "the unseen sets",
}


def report_many(lines: pd.DataFrame) -> None:
    """Print what every model costs, and ours against each of the others."""
    halves = {half: set(sets) & set(lines["set"]) for half, sets in MANY_HALVES.items()}
    both = halves if all(halves.values()) else {}
    for half, sets in {"": set(lines["set"]), **both}.items():
        kept = common(lines[lines["set"].isin(sets)])
        if kept.empty:
            print("\nNo split of more than two classes has results of all models yet.")
            return
        n_splits = len(kept[SPLIT].drop_duplicates())
        size = f"{kept['set'].nunique()} sets, {n_splits} splits"
        _print(f"{TITLES[half]} ({size})", summary(kept))
        if kept["model"].nunique() > 1 and OURS in set(kept["model"]):
            _print(f"{TITLES[half]}: {OURS} less ..., 95% interval over sets", duels(kept))
        if not half:
            by_set = kept.pivot_table(index="set", columns="model", values="cost")
            _print("cost by set, as a share of the cheapest constant", by_set.T)
            seconds = kept.pivot_table(index="set", columns="model", values="fit_cpu_seconds")
            _print("CPU seconds of a fit", seconds.T)


def common(lines: pd.DataFrame) -> pd.DataFrame:
    """Return the splits that have results of every model with at least half of the splits."""
    counts = lines.groupby("model").size()
    models = counts.index[counts * 2 >= counts.max()]
    lines = lines[lines["model"].isin(models)]
    return lines[lines.groupby(SPLIT)["model"].transform("nunique") == len(models)]


def summary(lines: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each model, the cheapest first."""
    columns = [*MANY_MEASURES, "fit_cpu_seconds"]
    by_set = lines.groupby(["model", "set"])[columns].mean()
    table = by_set.groupby("model").mean()
    costs = by_set["cost"].unstack("model").round(12)
    table.insert(0, "rank", average_ranks(costs) if costs.shape[1] > 1 else 1.0)
    most = by_set["fit_cpu_seconds"].groupby("model").max().rename("slowest set")
    return table.join(most).sort_values("cost")


def duels(lines: pd.DataFrame) -> pd.DataFrame:
    """Return how much less ours costs and loses; negative differences speak for ours."""
    parts = {}
    for measure in ("cost", "log_loss"):
        by_set = lines.pivot_table(index="set", columns="model", values=measure)
        peers = [model for model in by_set if model != OURS]
        less = by_set[[OURS]].to_numpy() - by_set[peers].to_numpy()
        found = bootstrap_interval(_means, less, n_resamples=5000, random_state=0)
        parts |= {
            measure: found.estimate,
            f"{measure} from": found.low,
            f"{measure} to": found.high,
        }
        parts[f"{measure} won"] = [f"{(column < 0).sum()}/{len(column)}" for column in less.T]
    return pd.DataFrame(parts, index=peers).sort_values("cost", ascending=False)


def _means(differences: Any) -> Any:
    return differences.mean(axis=0)


def _print(title: str, table: pd.DataFrame) -> None:
    shown = table.copy()
    for column in shown.select_dtypes("number"):
        shown[column] = ["-" if np.isnan(v) else f"{v:.4f}" for v in shown[column]]
    print(f"\n{title[0].upper()}{title[1:]}\n{shown.to_string()}", flush=True)
