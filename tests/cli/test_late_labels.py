"""`--gap`, `--label-delay`, `--label-time`: nobody learns from what was not known."""

import json

import numpy as np
import polars as pl
import pytest

from costboost.datasets import make_card_stream
from costboost.persistence import read

START = ("--target", "fraud", "--fp", "5", "--tp", "5", "--fn", "amount", "--drop", "customer",
         "--drop", "terminal", "--drop", "fee", "--method", "adamec", "--rounds", "5",
         "--time", "time")  # fmt: skip
DAY = np.timedelta64(1, "D")


@pytest.fixture(scope="module")
def stream():
    return make_card_stream(150, 300, n_days=60)


@pytest.fixture(scope="module")
def files(stream, tmp_path_factory):
    made = tmp_path_factory.mktemp("late")
    table = stream.to_table("polars")
    table.write_parquet(made / "all.parquet")
    table.drop("label_time").write_csv(made / "all.csv")
    # As a warehouse has it: labels that are open are empty.
    closed = pl.col("label_time") <= table["time"].max()
    table.with_columns(
        fraud=pl.when(closed).then("fraud"), label_time=pl.when(closed).then("label_time")
    ).write_parquet(made / "open.parquet")
    return made


def train(run, files, table, *more):
    ran = run("train", files / table, *START, "-o", files / "m.cb", "--force", "--json", *more)
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    return found, " ".join(found["notes"])


def by_hand(stream, gap, delay, share=0.2, open_too=False):
    """Return how many rows are learnt from, held out, and open at the end of the table."""
    time = stream.time
    there = np.ones(len(time), dtype=bool) if open_too else time + delay * DAY <= time.max()
    times = np.sort(time[there])
    cut = times[min(len(times) - 1, len(times) - round(share * len(times)))]
    trained = there & (time < cut - (gap + delay) * DAY)
    return int(trained.sum()), int((there & (time >= cut)).sum()), int((~there).sum())


@pytest.mark.parametrize("table", ["all.parquet", "all.csv"])
def test_training_waits_for_labels(run, files, stream, table):
    extra = ("--drop", "label_time") if table == "all.parquet" else ()
    found, err = train(run, files, table, "--label-delay", "7d", "--gap", "2d", *extra)
    learnt, held, n_open = by_hand(stream, 2, 7)
    assert (found["rows"]["train"], found["rows"]["held_out"]) == (learnt, held)
    assert f"{n_open:,} rows (" in err
    assert "have no known label yet: left out, not taken for negatives" in err
    assert "earlier rows not known by then left out" in found["rows"]["how"]


def test_labels_that_are_open_are_empty_and_no_negatives(run, files, stream):
    found, err = train(run, files, "open.parquet", "--label-time", "label_time")
    learnt, held, n_open = by_hand(stream, 0, 7)
    assert abs(found["rows"]["train"] - learnt) <= 1  # a label that comes at that very moment
    assert found["rows"]["held_out"] == held
    assert f"{n_open:,} rows (" in err
    assert "label_time" in found["left_out"]
    assert sum(found["classes"].values()) == len(stream.y) - n_open


def test_a_gap_alone_leaves_no_row_open(run, files, stream):
    found, err = train(run, files, "all.parquet", "--gap", "2d", "--drop", "label_time")
    learnt, held, _ = by_hand(stream, 2, 0, open_too=True)
    assert (found["rows"]["train"], found["rows"]["held_out"]) == (learnt, held)
    assert "no known label" not in err


def test_without_them_nothing_is_different(run, files):
    found, _ = train(run, files, "all.parquet", "--drop", "label_time")
    assert sum(found["rows"][part] for part in ("train", "held_out")) == sum(
        found["classes"].values()
    )
    assert read(files / "m.cb").notes["command line"]["until"] is None


def test_a_bill_of_rows_whose_labels_are_known(run, files, stream):
    _, _ = train(run, files, "all.parquet", "--gap", "2d", "--label-delay", "7d", "--drop",
                 "label_time")  # fmt: skip
    until = np.datetime64(read(files / "m.cb").notes["command line"]["until"])
    time = stream.time
    learnt, _, _ = by_hand(stream, 2, 7)
    assert until == np.sort(time)[learnt - 1]
    ran = run("evaluate", files / "m.cb", files / "all.parquet", "--label-delay", "7d", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["rows"] == np.sum(time + 7 * DAY <= time.max())
    ran = run("evaluate", files / "m.cb", files / "all.parquet", "--gap", "9d", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["rows"] == np.sum(time >= until + 9 * DAY)
    assert "within --gap of, the training left out" in ran.out
    ran = run("evaluate", files / "m.cb", files / "open.parquet", "--label-time", "label_time",
              "--json")  # fmt: skip
    assert json.loads(ran.out)["rows"] == np.sum(time + 7 * DAY <= time.max())


def test_folds_of_a_comparison_wait_too(run, files, stream, monkeypatch):
    from costboost.cli import compare

    seen = []
    folds = compare.fold_rows
    monkeypatch.setattr(compare, "fold_rows", lambda *a, **k: seen.extend(folds(*a, **k)) or seen)
    ran = run("compare", files / "all.parquet", *START[:-6], "--rounds", "2", "--time", "time",
              "--method", "adamec", "--method", "adaboost", "--folds", "2", "--drop", "label_time",
              "--gap", "1d", "--label-delay", "7d")  # fmt: skip
    assert ran.code == 0, ran.err
    time = stream.time[stream.time + 7 * DAY <= stream.time.max()]
    assert len(seen) == 2
    for learnt, judged in seen:
        start = time[judged].min()
        assert learnt.tolist() == np.flatnonzero(time < start - 8 * DAY).tolist()


WRONG = [
    (("--gap", "7m"), "no span of time"),
    (("--gap", "-1d"), "no span of time"),
    (("--label-delay", "soon"), "--label-delay='soon' is no span of time"),
    (("--label-delay", "100d"), "No row has a known label yet"),
    (("--gap", "50d"), "before 2018-05-19"),
    (("--label-time", "when"), "when"),
    (("--label-time", "amount"), "both be dates"),
    (("--label-time", "time"), "both name the column"),
]


@pytest.mark.parametrize(("more", "said"), WRONG)
def test_wrong_options_say_what_to_do(run, files, more, said):
    ran = run("train", files / "all.parquet", *START, "-o", files / "w.cb", *more)
    assert ran.code in (1, 2)
    assert said in " ".join(ran.err.split())
    assert not (files / "w.cb").exists()


def test_what_they_need(run, files):
    ran = run("train", files / "all.parquet", *START[:-2], "-o", files / "w.cb", "--gap", "1d")
    assert ran.code in (1, 2)
    assert "count from --time" in " ".join(ran.err.split())
    train(run, files, "all.parquet", "--drop", "label_time")
    ran = run("evaluate", files / "m.cb", files / "all.parquet", "--gap", "7d")
    assert ran.code in (1, 2)
    assert "does not say until when it was trained" in " ".join(ran.err.split())
    train(run, files, "all.parquet", "--gap", "1d", "--drop", "label_time")
    ran = run("evaluate", files / "m.cb", files / "all.parquet", "--gap", "90d")
    assert ran.code in (1, 2)
    assert "give later rows" in " ".join(ran.err.split())
    ran = run("evaluate", files / "m.cb", files / "all.parquet", "--gap", "1d", "--time", "amount")
    assert ran.code in (1, 2)
    assert "no moment of the column" in " ".join(ran.err.split())
