"""The same rates at what cost: costboost beside fairlearn, on two of fairlearn's own data sets.

    python benchmarks/parity.py [bank] [credit]

fairlearn downloads its data sets; the same two (bank marketing, and default of credit card clients
in Taiwan) are read from the folder that COSTBOOST_DATA names (else ../shared/data). Of 6,000 rows
half train, a quarter finds thresholds, a quarter is decided. Mistakes cost 1 on a negative row and
n_negative / n_positive on a positive one, for then the balanced accuracy that `ThresholdOptimizer`
can maximise is the bill; `ExponentiatedGradient` is told the same prices. Rates are shares decided
positive, so they are known without labels. What each of them leaves between the groups on the rows
decided is the difference that `decide(..., parity=)` then keeps to.

All use the same boosted trees. `ThresholdOptimizer` sets thresholds on the very probabilities that
`decide` uses; `ExponentiatedGradient` trains up to 10 of its own on three quarters of the rows, so
that it stands beside probabilities trained on those. Bills are per 1,000 rows, averaged over 5 cuts
of the rows, with the standard error of the paired difference; expected ones are by the
probabilities that `decide` uses, which favours it.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import DemographicParity, ErrorRate, ExponentiatedGradient
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

from costboost import Costs, MinimumCostClassifier
from costboost.decisions import Parity

FOLDER = Path(os.environ.get("COSTBOOST_DATA", "../shared/data"))
ROWS, CUTS = 6_000, 5
SETS = {
    "bank marketing, marital": ("bank_marketing.csv.gz", "marital", "duration"),
    "credit default, sex": ("credit_default_taiwan.csv.gz", "SEX", None),
}


def read(file: str, group: str, left_out: str | None, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the features, without the group, which is the index, and the labels."""
    table = pd.read_csv(FOLDER / file).sample(ROWS, random_state=seed)
    y = table.pop("target").isin([1, "1", "yes"]).to_numpy().astype(int)
    groups = table.pop(group).astype(str)
    table = table.drop(columns=[] if left_out is None else left_out)
    categories = table.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in table.dtypes]]
    for name in categories:
        table[name] = table[name].astype("category").cat.codes
    return table.astype(float).set_index(groups.to_numpy()), y


def difference(taken: np.ndarray, groups: np.ndarray) -> float:
    """Return how far the largest and the smallest share decided positive lie apart."""
    rates = [taken[groups == one].mean() for one in np.unique(groups)]
    return float(max(rates) - min(rates))


def one_cut(file: str, group: str, left_out: str | None, seed: int) -> list[dict[str, object]]:
    """Return a line for each of fairlearn's methods."""
    X, y = read(file, group, left_out, seed)
    train, rest = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=seed)
    fit, test = train_test_split(rest, test_size=0.5, stratify=y[rest], random_state=seed)
    g = np.asarray(X.index)
    X = X.reset_index(drop=True)
    fn = float((y == 0).sum() / (y == 1).sum())
    costs = Costs(fp=1, fn=fn)
    trees = HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=8, random_state=seed)
    both = np.concatenate([train, fit])
    models = {
        "ThresholdOptimizer": MinimumCostClassifier(trees, random_state=seed),
        "ExponentiatedGradient": MinimumCostClassifier(trees, random_state=seed),
    }
    models["ThresholdOptimizer"].fit(X.iloc[train], y[train], costs=costs)
    models["ExponentiatedGradient"].fit(X.iloc[both], y[both], costs=costs)

    optimizer = ThresholdOptimizer(
        estimator=models["ThresholdOptimizer"], constraints="demographic_parity",
        objective="balanced_accuracy_score", prefit=True, predict_method="predict_proba",
    )  # fmt: skip
    optimizer.fit(X.iloc[fit], y[fit], sensitive_features=g[fit])
    peers = {
        "ThresholdOptimizer": optimizer.predict(
            X.iloc[test], sensitive_features=g[test], random_state=seed
        )
    }
    reduction = ExponentiatedGradient(
        trees,
        DemographicParity(difference_bound=0.02),
        objective=ErrorRate(costs={"fp": 1.0 / max(1.0, fn), "fn": fn / max(1.0, fn)}),
        max_iter=10,
    )
    reduction.fit(X.iloc[both], y[both], sensitive_features=g[both])
    peers["ExponentiatedGradient"] = reduction.predict(X.iloc[test], random_state=seed)
    lines = []
    for name, taken in peers.items():
        taken = np.asarray(taken).astype(int)
        within = difference(taken, g[test])
        model = models[name]
        ours = model.decide(X.iloc[test], parity=Parity(g[test], within=within)).codes
        expected = model.expected_cost(X.iloc[test]).to_numpy()

        def bills(decided: np.ndarray, expected: np.ndarray = expected) -> tuple[float, float]:
            own = float(expected[np.arange(len(decided)), decided].mean())
            return 1000 * costs.total(y[test], decided) / len(test), 1000 * own

        lines.append({
            "name": name, "within": within, "theirs": bills(taken), "ours": bills(ours),
            "kept": difference(ours, g[test]),
        })  # fmt: skip
    return lines


def main() -> None:
    warnings.filterwarnings("ignore")
    print("| data, groups | beside | difference, points | its bill | decide | less by | expected |")
    print("|---|---|---|---|---|---|---|")
    asked = sys.argv[1:] or [title.split()[0] for title in SETS]
    for title, (file, group, left_out) in SETS.items():
        if title.split()[0] not in asked:
            continue
        cuts = [one_cut(file, group, left_out, seed) for seed in range(CUTS)]
        for found in zip(*cuts, strict=True):
            assert all(one["kept"] <= one["within"] + 1e-9 for one in found)
            theirs, ours = (np.array([one[key] for one in found]) for key in ("theirs", "ours"))
            less = theirs - ours
            error = less.std(axis=0, ddof=1) / np.sqrt(CUTS)
            within = 100 * np.mean([one["within"] for one in found])
            print(
                f"| {title} | {found[0]['name']} | {within:.1f} | {theirs[:, 0].mean():.0f} | "
                f"{ours[:, 0].mean():.0f} | {less[:, 0].mean():.0f} ± {error[0]:.0f} | "
                f"{less[:, 1].mean():.0f} ± {error[1]:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
