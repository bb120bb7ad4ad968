"""What orders cost under five price ratios: one model of ours against one of theirs for each ratio.

    pip download --no-deps --no-binary :all: ddop==0.7.6    # the tables: 7 MB, nothing is installed
    pip download --no-deps ISLP==0.6.0
    python benchmarks/newsvendor.py --ddop ddop-0.7.6.tar.gz --islp islp-0.6.0-py3-none-any.whl

Tables are read from the two archives: the restaurant (yaz, seven dishes), the bakery and the shops
(SID) of ddop, the bicycles of ISLP; without an archive its tables are left out. Two more are drawn,
so that the cheapest order possible is known. Rows are in the order of time, and the last quarter is
never seen; the bakery and the shops are thinned to 20,000 rows, with --full to 120,000.

LightGBM trains a quantile model for each ratio, with its defaults and with the number of its rounds
chosen by five folds; the forest that weighs rows is ddop's RandomForestWeightedNewsvendor, written
down again, because ddop 0.7.6 requires tensorflow and scikit-learn 0.23.0. Ours is one
MinimumCostRegressor for all ratios, and one more whose folds are blocks of consecutive rows.
Printed is the mean cost per row of the test, with a unit too much at 1.

    python benchmarks/newsvendor.py --crps --ddop ... --islp ...

compares distributions instead, by the CRPS of the same rows: a histogram of y by log loss, its bins
smoothed; a location with one spread for all rows; location and scale; and LightGBM's quantiles.
"""

from __future__ import annotations

import argparse
import io
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any, NamedTuple

import lightgbm as lgb
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import KFold

from costboost import GradientBoostClassifier, MinimumCostRegressor, NumberCosts
from costboost.metrics import crps

RATIOS = (1, 3, 9, 19, 99)  # a unit too little, where one too much costs 1
DISHES = ("calamari", "fish", "shrimp", "chicken", "koefte", "lamb", "steak")
THREADS = 2


class Table(NamedTuple):
    """Rows in the order of time, and where it is known the cheapest order there is."""

    name: str
    X: pd.DataFrame
    y: np.ndarray
    best: Callable[[pd.DataFrame, float], np.ndarray] | None = None

    def split(self) -> tuple[slice, slice]:
        """Return the first three quarters and the last."""
        n = len(self.y) * 3 // 4
        return slice(0, n), slice(n, None)


# --- tables


def with_categories(X: pd.DataFrame) -> pd.DataFrame:
    texts = X.select_dtypes(exclude="number").columns
    return X.astype(dict.fromkeys(texts, "category"))


def in_time(X: pd.DataFrame, y: np.ndarray, most: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Sort by date, and keep so many rows at most, evenly drawn."""
    order = np.argsort(X["date"].to_numpy(), kind="stable")
    if len(order) > most:
        keep = np.random.default_rng(0).choice(len(order), most, replace=False)
        order = order[np.sort(keep)]
    return with_categories(X.iloc[order].drop(columns="date")).reset_index(drop=True), y[order]


def ddop_tables(archive: str, most: int) -> Iterator[Table]:
    with tarfile.open(archive) as held:
        member = {name.rsplit("/", 1)[-1]: name for name in held.getnames()}

        def read(name: str) -> pd.DataFrame:
            found = held.extractfile(member[name])
            assert found is not None
            return pd.read_csv(io.BytesIO(found.read()))

        X, demand = read("yaz_data.csv"), read("yaz_target.csv")
        for dish in DISHES:
            yield Table(f"yaz, {dish}", *in_time(X, demand[dish].to_numpy(float), most))
        X, demand = read("bakery_data.csv"), read("bakery_target.csv")
        X = X.astype({"store": str, "product": str})
        yield Table("bakery", *in_time(X, demand["demand"].to_numpy(float), most))
        X, demand = read("SID_data.csv"), read("SID_target.csv")
        X = X.astype({"store": str, "item": str})
        yield Table("shops (SID)", *in_time(X, demand["sales"].to_numpy(float), most))


def bicycles(archive: str) -> Iterator[Table]:
    with zipfile.ZipFile(archive) as held:
        X = pd.read_csv(io.BytesIO(held.read("ISLP/data/Bikeshare.csv")))
    y = X["bikers"].to_numpy(float)
    X = X[["mnth", "hr", "holiday", "weekday", "workingday", "weathersit", "temp", "hum"]]
    yield Table("bicycles by the hour", with_categories(X), y)


def drawn() -> Iterator[Table]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(8000, 6)), columns=list("abcdef"))

    def parts(X: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        middle = 100 + 40 * np.sin(6 * X["a"]) + 30 * X["b"] * X["c"]
        return middle.to_numpy(), (3 + 25 * X["d"]).to_numpy()

    def quantile_of(draws: np.ndarray) -> Callable[[pd.DataFrame, float], np.ndarray]:
        def best(X: pd.DataFrame, level: float) -> np.ndarray:
            middle, spread = parts(X)
            return middle + spread * np.quantile(draws, level)

        return best

    middle, spread = parts(X)
    for name, draw in (
        ("drawn, skew", lambda n: rng.gamma(1.5, size=n)),
        ("drawn, heavy tails", lambda n: rng.standard_t(3, size=n)),
    ):
        y = middle + spread * draw(len(X))
        yield Table(name, X, y, quantile_of(draw(4_000_000)))


# --- methods: from training rows to orders of the test rows, one column for each ratio


def levels() -> np.ndarray:
    return np.array([ratio / (1 + ratio) for ratio in RATIOS])


def constant(X: Any, y: np.ndarray, new: pd.DataFrame) -> np.ndarray:
    return np.tile(np.quantile(y, levels(), method="inverted_cdf"), (len(new), 1))


def forest(X: pd.DataFrame, y: np.ndarray, new: pd.DataFrame) -> np.ndarray:
    """Weigh the training rows by how often they share a leaf, and take their quantile."""
    both = pd.get_dummies(pd.concat([X, new]))
    X, new = both.iloc[: len(X)], both.iloc[len(X) :]
    trees = RandomForestRegressor(100, min_samples_leaf=5, n_jobs=THREADS, random_state=0)
    mine, theirs = trees.fit(X, y).apply(X), trees.apply(new)
    order = np.argsort(y, kind="stable")
    mine, ranked = mine[order], y[order]
    out = np.empty((len(new), len(RATIOS)))
    for i, row in enumerate(theirs):
        same = mine == row
        weights = (same / same.sum(axis=0)).sum(axis=1)
        at = np.searchsorted(np.cumsum(weights), levels() * weights.sum() - 1e-9)
        out[i] = ranked[np.minimum(at, len(ranked) - 1)]
    return out


def lightgbm(X: pd.DataFrame, y: np.ndarray, new: pd.DataFrame, tuned: bool = False) -> np.ndarray:
    found = []
    for level in levels():
        params = {"objective": "quantile", "alpha": level, "verbose": -1, "num_threads": THREADS}
        rounds = 100
        if tuned:
            curve = lgb.cv(
                params, lgb.Dataset(X, y, free_raw_data=False), 500, nfold=5, stratified=False,
                seed=0, callbacks=[lgb.early_stopping(20, verbose=False)],
            )["valid quantile-mean"]  # fmt: skip
            rounds = int(np.argmin(curve)) + 1
        model = lgb.train(params, lgb.Dataset(X, y, free_raw_data=False), rounds)
        found.append(model.predict(new))
    return np.stack(found, axis=1)


def lightgbm_by_folds(X: pd.DataFrame, y: np.ndarray, new: pd.DataFrame) -> np.ndarray:
    return lightgbm(X, y, new, tuned=True)


def ours(X: pd.DataFrame, y: np.ndarray, new: pd.DataFrame, cv: Any = 5) -> np.ndarray:
    model = MinimumCostRegressor(cv=cv, n_jobs=THREADS, random_state=0).fit(X, y)
    orders = [model.predict(new, costs=NumberCosts(under=ratio, over=1)) for ratio in RATIOS]
    return np.stack(orders, axis=1)


def ours_in_blocks(X: pd.DataFrame, y: np.ndarray, new: pd.DataFrame) -> np.ndarray:
    return ours(X, y, new, KFold(5))


METHODS: dict[str, Callable[..., np.ndarray]] = {
    "one number for all": constant,
    "forest of weights": forest,
    "LightGBM, each ratio": lightgbm,
    "LightGBM, rounds by folds": lightgbm_by_folds,
    "ours, one model": ours,
    "ours, folds in blocks": ours_in_blocks,
}
SLOW = 10_000  # training rows beyond which a forest's weights take too long


# --- distributions: from training rows to quantiles of the test rows

GRID = np.arange(1, 100) / 100


def histogram(X: pd.DataFrame, y: np.ndarray, new: pd.DataFrame, bins: int = 16) -> np.ndarray:
    """Return quantiles by classes of y, each with the values of its rows."""
    edges = np.unique(np.quantile(y, np.arange(1, bins) / bins))
    _, classes = np.unique(np.searchsorted(edges, y), return_inverse=True)
    model = GradientBoostClassifier(
        n_estimators=300, n_iter_no_change=10, early_stopping_metric="log_loss", n_jobs=THREADS,
        random_state=0,
    ).fit(X, classes)  # fmt: skip
    each = (np.arange(8) + 0.5) / 8
    values = np.stack([np.quantile(y[classes == k], each) for k in model.classes_]).ravel()
    up_to = np.cumsum(np.repeat(model.predict_proba(new) / 8, 8, axis=1), axis=1)
    return np.stack([np.interp(GRID, row - 0.5 * row[0], values) for row in up_to])


def one_spread(X: pd.DataFrame, y: np.ndarray, new: pd.DataFrame, scale: Any = "constant") -> Any:
    model = MinimumCostRegressor(scale=scale, n_jobs=THREADS, random_state=0)
    return model.fit(X, y).predict_quantile(new, GRID)


def location_and_scale(X: pd.DataFrame, y: np.ndarray, new: pd.DataFrame) -> np.ndarray:
    return one_spread(X, y, new, scale=None)


def lightgbm_quantiles(X: pd.DataFrame, y: np.ndarray, new: pd.DataFrame) -> np.ndarray:
    """Return 19 quantiles, put in order, and straight lines between them."""
    few = np.arange(1, 20) / 20
    found = [
        lgb.train(
            {"objective": "quantile", "alpha": level, "verbose": -1, "num_threads": THREADS},
            lgb.Dataset(X, y),
        ).predict(new)
        for level in few
    ]
    return np.stack([np.interp(GRID, few, row) for row in np.sort(np.stack(found, axis=1))])


SPREADS: dict[str, Callable[..., np.ndarray]] = {
    "histogram, 16 bins": histogram,
    "histogram, 32 bins": lambda X, y, new: histogram(X, y, new, 32),
    "one spread for all": one_spread,
    "location and scale": location_and_scale,
    "LightGBM, 19 quantiles": lightgbm_quantiles,
}


def compare_spreads(tables: list[Table]) -> None:
    print("| table | " + " | ".join(SPREADS) + " |")
    print("|---|" + "---|" * len(SPREADS))
    found = []
    for table in tables:
        past, future = table.split()
        X, y, new, truth = table.X[past], table.y[past], table.X[future], table.y[future]
        found.append([crps(truth, way(X, y, new), levels=GRID) for way in SPREADS.values()])
        print(f"| {table.name} | " + " | ".join(f"{v:.4g}" for v in found[-1]) + " |", flush=True)
    shares = np.array(found) / np.array(found)[:, [3]]
    means = np.exp(np.log(shares).mean(axis=0))
    print("| share of location and scale | " + " | ".join(f"{v:.3f}" for v in means) + " |")


def costs_of(y: np.ndarray, orders: np.ndarray) -> list[float]:
    pairs = zip(RATIOS, orders.T, strict=True)
    return [NumberCosts(ratio, 1).of_numbers(y, column).mean() for ratio, column in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ddop", metavar="TAR.GZ")
    parser.add_argument("--islp", metavar="WHL")
    parser.add_argument("--crps", action="store_true", help="compare distributions")
    parser.add_argument("--full", action="store_true", help="up to 120,000 rows")
    options = parser.parse_args()
    tables = list(drawn())
    if options.islp:
        tables += bicycles(options.islp)
    if options.ddop:
        tables += ddop_tables(options.ddop, 120_000 if options.full else 20_000)
    if options.crps:
        compare_spreads(tables)
        return
    shares: dict[str, list[np.ndarray]] = {name: [] for name in METHODS}
    print("| table | method | " + " | ".join(f"{ratio} : 1" for ratio in RATIOS) + " | s |")
    print("|---|---|" + "---|" * (len(RATIOS) + 1))
    for table in tables:
        past, future = table.split()
        X, y, new, truth = table.X[past], table.y[past], table.X[future], table.y[future]
        bills = {}
        for name, method in METHODS.items():
            if method is forest and len(y) > SLOW:
                continue
            start = perf_counter()
            orders = method(X, y, new)
            bills[name] = np.array(costs_of(truth, orders))
            took = perf_counter() - start
            shown = " | ".join(f"{cost:.4g}" for cost in bills[name])
            print(f"| {table.name} | {name} | {shown} | {took:.1f} |", flush=True)
        if table.best is not None:
            best = np.stack([table.best(new, level) for level in levels()], axis=1)
            shown = " | ".join(f"{cost:.4g}" for cost in costs_of(truth, best))
            print(f"| {table.name} | the truth known | {shown} | |")
        for name, bill in bills.items():
            shares[name].append(bill / bills["LightGBM, each ratio"])
    print("\nCost as a share of LightGBM's (each ratio), geometric mean over the tables:\n")
    print("| method | " + " | ".join(f"{ratio} : 1" for ratio in RATIOS) + " | all | at most |")
    print("|---|" + "---|" * (len(RATIOS) + 2))
    for name, found in shares.items():
        means = np.exp(np.mean(np.log(found), axis=0))
        wins = int(np.sum(np.array(found) <= 1.0))
        shown = " | ".join(f"{mean:.3f}" for mean in means)
        total = np.exp(np.mean(np.log(found)))
        print(f"| {name} | {shown} | {total:.3f} | {wins} of {np.size(found)} |")


if __name__ == "__main__":
    main()
