"""The tables, the summary file and the picture of the cost benchmark.

Every set weighs the same, whatever its number of repeats. Models are compared on splits that all of
them were measured on. Ranks are over set and ratio; the tests behind the picture and the intervals
take a set, not a ratio, as one observation, since the ratios of one set are far from independent.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from _cost_models import CONTENDERS, FAMILY, FOOTNOTES, OURS
from _cost_tables import HALVES, RATIO_NAMES
from costboost.metrics import average_ranks, bootstrap_interval, critical_difference

ALL = "all sets"
SPLIT = ["set", "repeat"]
KNOWN = ["model", "code"]
DIGITS = 12  # costs that differ by less are the same cost, summed in another order
NAMED = {contender.name for contender in FAMILY}


class Board:
    """The results of some models on the splits of some sets that all of them were measured on.

    Attributes
    ----------
    models : list of str
    n_splits : int
    q : DataFrame, (set, ratio) x model
        Normalised cost, mean over the repeats of a set.
    by_set : DataFrame, set x model
        The same, mean over ratios.
    left_out : list of str
        Models with fewer than half of the splits of the fullest one.
    """

    def __init__(self, lines: pd.DataFrame, models: list[str]) -> None:
        counts = lines[lines["model"].isin(models)].groupby("model").size()
        kept = counts.index[counts * 2 >= counts.max()]
        self.models = [model for model in models if model in kept]
        self.left_out = [
            f"{m} ({counts[m]} of {counts.max()})" for m in counts.index.difference(kept)
        ]
        chosen = lines[lines["model"].isin(self.models)]
        common = chosen.groupby(SPLIT)["model"].transform("nunique") == len(self.models)
        self.lines = chosen[common]
        self.n_splits = len(self.lines[SPLIT].drop_duplicates())
        self.by_set = self._over_sets("mean q")
        long = self.lines.melt([*SPLIT, "model"], list(RATIO_NAMES), "ratio", "q")
        long = long.groupby(["set", "ratio", "model"])["q"].mean()
        self.q = long.unstack("model").reindex(columns=self.models).round(DIGITS)

    def _over_sets(self, column: str) -> pd.DataFrame:
        means = self.lines.groupby(["set", "model"])[column].mean()
        return means.unstack("model").reindex(columns=self.models).round(DIGITS)

    def summary(self) -> pd.DataFrame:
        """Return a line for each model, the cheapest first."""
        sums = self.lines.groupby("model")[["fit_seconds", "fit_cpu_seconds", "fits"]].sum()
        table = pd.DataFrame(
            {
                "mean Q": self.by_set.mean(),
                "mean rank": average_ranks(self.q) if len(self.models) > 1 else 1.0,
                "Brier": self._over_sets("brier").mean(),
                "fit s": sums["fit_seconds"] / sums["fits"],
                "fit cpu s": sums["fit_cpu_seconds"] / sums["fits"],
                "total s": sums["fit_seconds"],
            },
            index=self.models,
        )
        return table.sort_values("mean Q")

    def duels(self) -> pd.DataFrame:
        """Return ours against each of the others; negative differences speak for ours."""
        peers = [model for model in self.models if model != OURS]
        by_set = _less(self.by_set, peers)
        cells = _less(self.q, peers)
        found = bootstrap_interval(_column_means, by_set, n_resamples=5000, random_state=0)
        table = {
            "Q less": found.estimate,
            "from": found.low,
            "to": found.high,
            "sets w/t/l": [_score(column) for column in by_set.T],
            "cells w/t/l": [_score(column) for column in cells.T],
        }
        return pd.DataFrame(table, index=peers).sort_values("Q less", ascending=False)


def _less(table: pd.DataFrame, peers: list[str]) -> Any:
    """Return our column less those of the peers."""
    return table[[OURS]].to_numpy() - table[peers].to_numpy()


def _column_means(differences: Any) -> Any:
    return differences.mean(axis=0)


def _score(differences: Any) -> str:
    signs = np.sign(np.round(differences, DIGITS))
    return f"{(signs < 0).sum()}/{(signs == 0).sum()}/{(signs > 0).sum()}"


def savings_table(lines: pd.DataFrame, models: list[str]) -> pd.DataFrame:
    """Return savings by set and model, their mean, and how much more ours saves, in percent."""
    lines = lines[lines["model"].isin(models)]
    splits = lines.pivot_table(index=SPLIT, columns="model", values="savings") * 100
    splits = splits[[m for m in models if m in splits and splits[m].count() * 2 >= len(splits)]]
    splits = splits.dropna()
    if splits.empty:
        return splits
    by_set = splits.groupby("set").mean()
    table = by_set.T
    table["mean"] = table.mean(axis=1)
    if len(by_set.columns) > 1:
        table["mean rank"] = average_ranks(-by_set.round(DIGITS))
    if OURS in table.index:
        peers = table.index.drop(OURS).tolist()
        found = _compare_savings(_less(splits, peers), splits.index.get_level_values("set"))
        columns = {"ours more": found.estimate, "from": found.low, "to": found.high}
        columns["error"] = _standard_errors(splits, peers)
        table = table.join(pd.DataFrame(columns, index=peers))
    times = lines.set_index(SPLIT).loc[splits.index].groupby("model")
    table["fit s"] = times["fit_seconds"].mean()
    table["fit cpu s"] = times["fit_cpu_seconds"].mean()
    return table.sort_values("mean", ascending=False)


def _compare_savings(differences: Any, sets: pd.Index) -> Any:
    """Return the mean over sets of differences, with intervals over the splits of each set."""
    names, codes, counts = np.unique(
        sets.to_numpy(dtype=str), return_inverse=True, return_counts=True
    )
    weights = 1 / (counts[codes] * len(names))  # every set counts the same
    return bootstrap_interval(
        lambda values, share: share @ values,
        differences,
        weights,
        n_resamples=5000,
        stratify=codes,
        random_state=0,
    )


def _standard_errors(splits: pd.DataFrame, peers: list[str]) -> Any:
    """Return the standard error, over splits, of the mean over sets of our lead."""
    leads = pd.DataFrame(_less(splits, peers), index=splits.index).groupby("set")
    return np.sqrt((leads.var() / leads.count()).sum().to_numpy()) / leads.ngroups


def report(lines: pd.DataFrame, folder: Path) -> None:
    """Print everything and write `cost_summary.csv` and `cost_ranks.png`."""
    lines = lines.assign(**{"mean q": lines[list(RATIO_NAMES)].mean(axis=1)})
    present = list(dict.fromkeys(lines["model"]))
    groups = {"": [m for m in present if m not in NAMED]}
    if NAMED & set(present):
        groups["The family as published: "] = [m for m in present if m in NAMED or m == OURS]
    summaries = []
    for title, models in groups.items():
        summaries += _report_group(lines, title, models, folder)
    seconds = lines[lines["model"].isin(groups[""])].copy()
    seconds["fit cpu s"] = seconds["fit_cpu_seconds"] / seconds["fits"]
    seconds = seconds.pivot_table(index="set", columns="model", values="fit cpu s")
    _print("CPU seconds of a fit", seconds.reindex(columns=groups[""]).T, 2)
    for name, note in FOOTNOTES.items():
        if name in present:
            print("\n" + textwrap.fill(note, 100))
    _warn_of_age(lines)
    if summaries:
        pd.concat(summaries).rename_axis("model").to_csv(folder / "cost_summary.csv")
        print(f"\nSummary: {folder / 'cost_summary.csv'}")


def _report_group(lines: Any, title: str, models: list[str], folder: Path) -> list[pd.DataFrame]:
    """Print the tables of models that are ranked among each other; return them."""
    savings = savings_table(lines, models)
    at_ratios = lines[lines["mean q"].notna()]
    tables: list[pd.DataFrame] = []
    for half, sets in _halves(at_ratios).items():
        board = Board(at_ratios[at_ratios["set"].isin(sets)], models)
        if not board.n_splits:
            continue
        tables.append(_print_board(board, title + half, None if tables else savings))
        if not title and half == ALL:
            _draw(board, folder / "cost_ranks.png")
    if not savings.empty:
        _print(f"{title}savings on the sets with prices, % of the cheapest constant", savings, 2)
        tables.append(savings.assign(sets=f"{title}prices"))
    return tables


def _halves(lines: pd.DataFrame) -> dict[str, Any]:
    """Return all sets and, where both are there, those seen while choosing and the unseen."""
    sets = set(lines["set"])
    halves = {
        "the sets seen while choosing the default": sets & set(HALVES["dev"]),
        "the unseen sets": sets & set(HALVES["test"]),
    }
    both = halves if all(halves.values()) else {}
    return {ALL: sets, **both} if sets else {}


def _print_board(board: Board, title: str, savings: pd.DataFrame | None) -> pd.DataFrame:
    size = f"{len(board.by_set)} sets, {board.n_splits} splits, {len(board.q)} sets x ratios"
    summary = board.summary()
    if savings is not None and not savings.empty:
        summary.insert(3, "savings %", savings["mean"])
    _print(f"{title} ({size})", summary, 4)
    if OURS in board.models and len(board.models) > 1:
        duels = board.duels()
        _print(f"{title}: Q of {OURS} less Q of ..., with a 95% interval over sets", duels, 4)
        summary = summary.join(duels)
    if board.left_out:
        print("Too few results yet:", ", ".join(board.left_out))
    return summary.assign(sets=title)


def _print(title: str, table: pd.DataFrame, digits: int) -> None:
    shown = table.copy()
    for column in shown.select_dtypes("number"):
        places = 2 if column in ("mean rank", "savings %", "fit s", "fit cpu s") else digits
        places = 0 if column == "total s" else places
        shown[column] = [("-" if np.isnan(v) else f"{v:.{places}f}") for v in shown[column]]
    print(f"\n{title[0].upper()}{title[1:]}\n{shown.to_string()}", flush=True)


def _draw(board: Board, path: Path) -> None:
    """Draw the critical-difference diagram of the models' mean Q on each set."""
    if len(board.models) < 2 or len(board.by_set) < 2:
        return
    import matplotlib as mpl

    mpl.use("Agg")
    from costboost.plots import CriticalDifferenceDisplay

    result = critical_difference(board.by_set)
    display = CriticalDifferenceDisplay.from_result(result, names=board.models, alpha=0.05)
    display.figure_.savefig(path, dpi=150)
    print(f"\nPicture: {path} (ranks of the mean Q of each set)")


def _warn_of_age(lines: pd.DataFrame) -> None:
    """Say which results were measured with other versions than are installed."""
    current = [CONTENDERS[m].code if m in CONTENDERS else c for m, c in lines[KNOWN].to_numpy()]
    old = lines[lines["code"] != current]
    for code, rows in old.groupby("code"):
        names = ", ".join(dict.fromkeys(rows["model"]))
        print(f"\nMeasured with {code}, not with what is installed: {names}")
