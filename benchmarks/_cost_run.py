"""The work of the cost benchmark: jobs, what a worker does with one, the file of results.

A job is one contender on one split of one set. Its results, a line for each way to decide, are
appended to a CSV file when it is done, so that an interrupted run continues where it was.
"""

from __future__ import annotations

import csv
import multiprocessing
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from _cost_many import MANY, MANY_SIZES, measure_many, read_many
from _cost_models import CONTENDERS, Contender, own_hash
from _cost_tables import (
    RATIO_NAMES,
    RATIOS,
    SIZES,
    Table,
    decide,
    normalized_costs,
    read_table,
)
from costboost import Costs
from costboost.metrics import savings_score

# Read when the libraries are loaded, in the workers.
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
KEYS = ("set", "repeat", "model")
MEASURES = ("code", "fits", "fit_seconds", "fit_cpu_seconds", "brier", "savings")
MANY_MEASURES = ("log_loss", "error", "cost")
COLUMNS = (*KEYS, *MEASURES, *MANY_MEASURES, *RATIO_NAMES)
Row = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One contender on one split."""

    set: str
    repeat: int
    model: str

    @property
    def seconds(self) -> float:
        """A guess of how long it takes, for the progress bar."""
        contender = CONTENDERS[self.model]
        rows, columns = (SIZES | MANY_SIZES)[self.set]
        once, per_million = contender.seconds
        fits = len(RATIOS) if contender.style == "trained" and self.set.startswith("nik_") else 1
        return fits * (once + per_million * rows / 2 * columns / 1e6)


class Clock:
    """Adds up the time of fits, by the clock on the wall and by the processor's."""

    def __init__(self) -> None:
        self.fits, self.seconds, self.cpu = 0, 0.0, 0.0

    def add(self, other: Clock) -> None:
        """Add what another clock measured."""
        self.fits += other.fits
        self.seconds += other.seconds
        self.cpu += other.cpu

    def fit(self, contender: Contender, train: Table, seed: int, costs: Costs | None) -> Any:
        """Fit a new estimator."""
        model = contender.build(train, seed)
        begin, begin_cpu = perf_counter(), process_time()
        fitted = contender.fit(model, train, costs)
        self.seconds += perf_counter() - begin
        self.cpu += process_time() - begin_cpu
        self.fits += 1
        return fitted


def measure(job: Job) -> list[Row]:
    """Fit, decide and price one job; return its lines, of a mean also those of its members."""
    contender = CONTENDERS[job.model]
    many = job.set in MANY
    train, test = (_read_many if many else read_table)(job.set).split(job.repeat)
    rows: list[Row] = []
    for member, clock, found in _measured(contender, train, test, job.repeat, many):
        known = {
            "set": job.set,
            "repeat": job.repeat,
            "code": member.code,
            "fits": clock.fits,
            "fit_seconds": clock.seconds,
            "fit_cpu_seconds": clock.cpu,
        }
        rows += [{**known, "model": member.name + way, **ms} for way, ms in found.items()]
    return rows


def _measured(
    contender: Contender, train: Table, test: Table, seed: int, many: bool
) -> Iterator[tuple[Contender, Clock, dict[str, Row]]]:
    """Yield who was measured, the time it took, and its measures by way to decide."""
    if contender.style != "probability" and not many:
        clock = Clock()
        _warm_up(contender.name)
        at = _at_ratios if test.costs is None else _at_prices
        yield contender, clock, at(contender, train, test, seed, clock)
        return
    total, probas = Clock(), []
    for member in contender.members or (contender,):
        clock = Clock()
        _warm_up(member.name)
        model = clock.fit(member, train, seed, train.costs)
        probas.append(np.asarray(model.predict_proba(test.X), dtype=np.float64))
        total.add(clock)
        yield member, clock, {"": _of_proba(train, test, probas[-1], seed, many)}
    if contender.members:
        total.fits = 1
        proba = np.mean(probas, axis=0)
        yield contender, total, {"": _of_proba(train, test, proba, seed, many)}


def _of_proba(train: Table, test: Table, proba: Any, seed: int, many: bool) -> Row:
    """Return what probabilities, (n, K), and the cheapest decisions on them are worth."""
    if many:
        return measure_many(train, test, proba, seed)
    p = proba[:, 1]
    found = {"brier": _brier(test.y, p), "log_loss": _log_loss(test.y, p)}
    if test.costs is None:
        return found | _priced_ratios(test.y, decide(p))
    decided = test.costs.bind([0, 1], len(p)).decide(np.column_stack([1 - p, p]))
    return found | _saved(test, decided)


@cache
def _warm_up(model: str) -> None:
    """Fit once on next to nothing, so that no measured fit pays for loading a library."""
    rng = np.random.default_rng(0)
    X, contender = rng.standard_normal((60, 3)), CONTENDERS[model]
    table = Table("noise", X, (X[:, 0] + rng.standard_normal(60) > 0).astype(np.int64))
    contender.fit(contender.build(table, 0), table, Costs(fp=1, fn=1))


@lru_cache(maxsize=2)
def _read_many(name: str) -> Table:
    return read_many(name)


def _at_ratios(
    contender: Contender, train: Table, test: Table, seed: int, clock: Clock
) -> dict[str, Row]:
    """Return Q at every ratio and the Brier score of a contender's own decisions, by way."""
    assert contender.decide is not None
    if contender.style == "fixed":
        model = clock.fit(contender, train, seed, None)
        own = contender.decide(model, test, Costs(fp=1, fn=1))[""]
        decisions = np.tile(own, (len(RATIOS), 1))
        brier = _brier(test.y, _probability(model, test))
        return {"": _priced_ratios(test.y, decisions) | {"brier": brier}}
    ways: dict[str, list[Any]] = {}
    for fp, fn in RATIOS:
        costs = Costs(fp=fp, fn=fn, positive=1)
        model = clock.fit(contender, train, seed, costs)
        if fp == fn:  # trained on costs, only here its probabilities are natural ones
            brier = _brier(test.y, _probability(model, test))
        for way, decisions in contender.decide(model, test, costs).items():
            ways.setdefault(way, []).append(decisions)
    return {w: _priced_ratios(test.y, np.array(d)) | {"brier": brier} for w, d in ways.items()}


def _at_prices(
    contender: Contender, train: Table, test: Table, seed: int, clock: Clock
) -> dict[str, Row]:
    """Return the savings of a contender's own decisions, by way."""
    model = clock.fit(contender, train, seed, train.costs)
    assert test.costs is not None
    assert contender.decide is not None
    measures: Row = {}
    if contender.style != "trained":
        measures["brier"] = _brier(test.y, _probability(model, test))
    ways = contender.decide(model, test, test.costs)
    return {way: measures | _saved(test, decided) for way, decided in ways.items()}


def _saved(test: Table, decided: Any) -> Row:
    return {"savings": savings_score(test.y, decided.astype(np.int64), costs=test.costs)}


def _priced_ratios(y: Any, decisions: Any) -> Row:
    return dict(zip(RATIO_NAMES, normalized_costs(y, decisions).tolist(), strict=True))


def _probability(model: Any, test: Table) -> Any:
    return np.asarray(model.predict_proba(test.X), dtype=np.float64)[:, 1]


def _brier(y: Any, p: Any) -> float:
    return float(np.mean((p - y) ** 2))


def _log_loss(y: Any, p: Any) -> float:
    return float(log_loss(y, p, labels=[0, 1]))


# --- the file of results


class Results:
    """A CSV file that only grows; the last line of a key counts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_text(",".join(COLUMNS) + "\n")
        with path.open() as file:
            found = tuple(next(csv.reader(file)))
        if found != COLUMNS:
            raise SystemExit(f"{path} has other columns than this version writes: move it away.")

    def read(self) -> Any:
        """Return all lines as a data frame."""
        import pandas as pd

        frame = pd.read_csv(self.path, dtype={"set": str, "model": str, "code": str})
        return frame.drop_duplicates(list(KEYS), keep="last").reset_index(drop=True)

    def append(self, rows: list[Row]) -> None:
        """Add lines, all or none of them."""
        lines = [[row.get(column, "") for column in COLUMNS] for row in rows]
        with self.path.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)

    def missing(self, jobs: Iterable[Job], *, keep: bool) -> list[Job]:
        """Return the jobs without results of today's code, or with `keep` of any code."""
        found = self.read()
        codes = dict(zip(zip(*(found[k] for k in KEYS), strict=True), found["code"], strict=True))

        def is_done(job: Job) -> bool:
            code = codes.get((job.set, job.repeat, job.model))
            return code is not None and (keep or code == CONTENDERS[job.model].code)

        return [job for job in jobs if not is_done(job)]


# --- many jobs


@dataclass
class Progress:
    """A bar with the time left: on a terminal always, elsewhere a line now and then."""

    total: float
    n_jobs: int
    done: float = 0.0
    count: int = 0
    begin: float = field(default_factory=perf_counter)
    shown: float = 0.0

    def advance(self, job: Job) -> None:
        """Count a job as done."""
        self.done += job.seconds
        self.count += 1
        now, last = perf_counter(), self.count == self.n_jobs
        if not sys.stderr.isatty() and now - self.shown < 30 and not last:
            return
        self.shown = now
        elapsed, share = now - self.begin, self.done / self.total
        bar = "#" * round(24 * share)
        # Starting up takes seconds, which say nothing about what is to come.
        left = _clock(elapsed * (1 - share) / share) if share > 0.02 else "?"
        line = f"[{bar:.<24}] {self.count}/{self.n_jobs}  {_clock(elapsed)}, left {left}"
        what = f"  {job.set}, {job.model}"[: max(0, 110 - len(line))]
        text = f"{line + what:<112}"
        if sys.stderr.isatty():
            print("\r" + text, end="\n" if last else "", file=sys.stderr, flush=True)
        else:
            print(text.rstrip(), file=sys.stderr, flush=True)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _prepare() -> None:
    """Make a worker silent: what peers warn of is not about the benchmark."""
    own_hash()  # of the code as it is loaded, whatever is edited later
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends workers without a word
    os.environ["PYTHONWARNINGS"] = "ignore"
    warnings.simplefilter("ignore")
    # Some libraries set filters of their own when they are imported.
    warnings.showwarning = lambda *args, **kwargs: None


def _attempt(job: Job) -> tuple[Job, list[Row], str]:
    try:
        return job, measure(job), ""
    except Exception:
        return job, [], traceback.format_exc()


def run(jobs: list[Job], results: Results, n_workers: int) -> list[Job]:
    """Do the jobs in worker processes of one thread each; return those that failed."""
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    progress = Progress(sum(job.seconds for job in jobs), len(jobs))
    failed, log = [], results.path.with_suffix(".errors.log")
    spawn = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(n_workers, mp_context=spawn, initializer=_prepare)
    try:
        for future in as_completed([pool.submit(_attempt, job) for job in jobs]):
            job, rows, error = future.result()
            if error:
                failed.append(job)
                with log.open("a") as file:
                    file.write(f"{job}\n{error}\n")
            else:
                results.append(rows)
            progress.advance(job)
    except KeyboardInterrupt:
        raise SystemExit("\nInterrupted: run the same command again to continue.") from None
    except BrokenProcessPool:
        raise SystemExit(
            "\nA worker process was ended from outside (memory?): run the same command again to "
            "continue, with --workers 1 if it was memory."
        ) from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    if failed:
        print(f"{len(failed)} jobs failed, see {log}:", *map(_name, failed), sep="\n  ")
    return failed


def _name(job: Job) -> str:
    return f"{job.set}, repeat {job.repeat}, {job.model}"
