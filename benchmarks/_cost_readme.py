"""The README's three tables of costs, from lines of results: what stands there is what this prints.

`published/cost.csv` holds the results that they were printed from.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from _cost_many import MANY, MANY_HALVES
from _cost_many_report import common
from _cost_many_report import summary as summary_of_many
from _cost_models import CONTENDERS, OURS
from _cost_report import NAMED, Board, savings_table
from _cost_tables import HALVES, NIKOLAOU, PRICED, RATIO_NAMES

PUBLISHED = Path(__file__).resolve().parent / "published" / "cost.csv"
CALL = "CostBoostClassifier()"
SHORT = {
    "bank_marketing": "bank",
    "credit_default_taiwan": "Taiwan",
    "creditcard_fraud_sample": "card fraud",
    "german_credit": "German credit",
    "south_german_credit": "South German",
}


def publish(lines: pd.DataFrame) -> None:
    """Write results to the file that is committed, in eight digits, sorted."""
    PUBLISHED.parent.mkdir(exist_ok=True)
    lines = lines[~lines["model"].isin(NAMED)].sort_values(["set", "repeat", "model"])
    lines.to_csv(PUBLISHED, index=False, float_format="%.8g", lineterminator="\n")


def read_published() -> pd.DataFrame:
    """Return the committed results."""
    if not PUBLISHED.exists():
        raise SystemExit(f"There is no {PUBLISHED}: measure, and write it by --publish.")
    return pd.read_csv(PUBLISHED, dtype={"set": str, "model": str, "code": str})


def readme_tables(lines: pd.DataFrame) -> list[str]:
    """Return the tables as Markdown: ratios of costs, prices per row, more than two classes."""
    lines = lines[~lines["model"].isin(NAMED)]
    parts = ((NIKOLAOU, _ratios), (PRICED, _prices), (MANY, _many))
    chosen = [(lines[lines["set"].isin(sets)], table) for sets, table in parts]
    return [table(part) for part, table in chosen if not part.empty]


def _ratios(lines: pd.DataFrame) -> str:
    lines = lines.assign(**{"mean q": lines[list(RATIO_NAMES)].mean(axis=1)})
    models = list(dict.fromkeys(lines["model"]))
    board = Board(lines, models)
    found = board.summary()
    unseen = Board(lines[lines["set"].isin(HALVES["test"])], board.models).by_set
    n_unseen = len(unseen)
    columns = {
        "models that answer": _answering(found.index),
        "mean Q": (found["mean Q"], "{:.4f}", min),
        f"mean rank of {len(found)}": (found["mean rank"], "{:.2f}", min),
        f"Q, {n_unseen} unseen sets": (unseen.mean(), "{:.4f}", min),
        "Brier": (found["Brier"], "{:.4f}", min),
        "CPU s a fit": (found["fit cpu s"], "{:.2f}", min),
    }
    return _markdown(found.index, columns)


def _prices(lines: pd.DataFrame) -> str:
    found = savings_table(lines, list(dict.fromkeys(lines["model"])))
    columns: dict[str, Any] = {
        "models that answer": _answering(found.index),
        "mean": (found["mean"], "{:.1f} %", max),
        "mean rank": (found["mean rank"], "{:.1f}", min),
        **{SHORT[name]: (found[name], "{:.1f}", max) for name in SHORT if name in found},
        "ours more, 95 %": (_leads(found), "{}", None),
        "CPU s": (found["fit cpu s"], "{:.2f}", min),
    }
    return _markdown(found.index, columns)


def _answering(models: Any) -> tuple[pd.Series, str, None]:
    """Return how many models answer: one fit, five on folds, or bags of them."""
    names = [model.removesuffix(", cheapest") for model in models]
    return pd.Series([CONTENDERS[name].fits for name in names], models), "{}", None


def _leads(found: pd.DataFrame) -> pd.Series:
    texts = [
        "" if model == OURS else f"{more:.1f} ({low:.1f} to {high:.1f})"
        for model, more, low, high in found[["ours more", "from", "to"]].itertuples()
    ]
    return pd.Series(texts, found.index)


def _many(lines: pd.DataFrame) -> str:
    kept = common(lines[lines["repeat"] == 0])
    found = summary_of_many(kept)
    unseen = summary_of_many(kept[kept["set"].isin(MANY_HALVES["many-test"])])
    n_unseen = kept.loc[kept["set"].isin(MANY_HALVES["many-test"]), "set"].nunique()
    columns = {
        "models that answer": _answering(found.index),
        "cost": (found["cost"], "{:.3f}", min),
        f"mean rank of {len(found)}": (found["rank"], "{:.2f}", min),
        f"cost, {n_unseen} unseen sets": (unseen["cost"], "{:.3f}", min),
        "log loss": (found["log_loss"], "{:.3f}", min),
        "error": (found["error"], "{:.3f}", min),
        "CPU s a fit": (found["fit_cpu_seconds"], "{:.2f}", min),
    }
    return _markdown(found.index, columns)


def _markdown(models: Any, columns: dict[str, Any]) -> str:
    """Return a table with our line in bold where none is better; 0.5 is written as .5."""
    texts: dict[str, dict[str, str]] = {}
    for name, (values, form, best) in columns.items():
        texts[name] = {model: form.format(values[model]) for model in models}
        if form == "{:.4f}" or form == "{:.3f}":
            texts[name] = {m: t.removeprefix("0") for m, t in texts[name].items()}
        if best and OURS in models:
            first = best(models, key=values.__getitem__)
            if texts[name][OURS] == texts[name][first]:  # as printed
                texts[name][OURS] = f"**{texts[name][OURS]}**"
    heads = ["", *columns]
    rows = [
        [f"**`{CALL}`**" if model == OURS else model, *(texts[c][model] for c in columns)]
        for model in models
    ]
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
