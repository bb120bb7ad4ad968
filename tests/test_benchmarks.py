"""What the benchmarks call unseen is unseen, and the README's tables are those of the results."""

import sys
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
# Tables that are known to have the same rows, in other codes, some rows or a column less.
KIN = [
    ("nik_landsatm", "satimage"),
    ("nik_semeion", "semeion"),
    ("nik_waveformm", "waveform"),
    ("nik_splicem", "splice"),
    ("nik_mushroom", "mushroom_habitat"),
    ("nik_german_credit", "german_purpose"),
    ("flare_c", "flare_zurich"),
]


@pytest.fixture(scope="module", autouse=True)
def benchmarks():
    """Let modules of the benchmarks be imported, and forget them afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        yield
    for name in {path.stem for path in BENCHMARKS.glob("*.py")} & set(sys.modules):
        del sys.modules[name]


@pytest.fixture(scope="module")
def cost(data_folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COSTBOOST_DATA", str(data_folder))
        import _cost_many
        import _cost_tables

        yield _cost_many, _cost_tables


@pytest.fixture(scope="module")
def kin(cost):
    """Return all pairs of names whose tables have mostly the same columns."""
    many, tables = cost
    read = {name: tables.read_table(name) for name in (*tables.NIKOLAOU, *tables.PRICED)}
    read |= {name: many.read_many(name) for name in many.MANY}
    counts = {name: column_counts(table.X) for name, table in read.items()}
    rows = {name: len(table.y) for name, table in read.items()}
    return {
        frozenset(pair)
        for pair in combinations(read, 2)
        if abs(rows[pair[0]] - rows[pair[1]]) < 0.03 * rows[pair[0]]
        and shared(counts[pair[0]], counts[pair[1]], rows[pair[0]]) > 0.5
    }


def column_counts(X):
    """Return how often each value of a column occurs, sorted: the same in any code and order."""
    return [
        np.sort(pd.Series(x).value_counts().to_numpy())[::-1] for _, x in pd.DataFrame(X).items()
    ]


def shared(left, right, n_rows):
    """Return the share of the columns of one table whose counts are nearly those of another."""
    left, right = sorted((left, right), key=len)

    def near(a, b):
        n = max(len(a), len(b))
        a, b = (np.pad(x, (0, n - len(x))) for x in (a, b))
        return np.abs(a - b).sum() < 0.02 * n_rows

    return np.mean([any(near(a, b) for b in right) for a in left])


@pytest.mark.data
def test_kin_is_found_by_its_values(kin):
    assert {frozenset(pair) for pair in KIN} <= kin


@pytest.mark.data
def test_no_table_is_seen_under_one_name_and_unseen_under_another(cost, kin):
    many, tables = cost
    seen = {*tables.HALVES["dev"], *many.MANY_HALVES["many-dev"], *tables.PRICED_SEEN}
    unseen = {*tables.HALVES["test"], *many.MANY_HALVES["many-test"]}
    assert seen | unseen == {*tables.NIKOLAOU, *many.MANY, *tables.PRICED_SEEN}
    assert not [
        pair for pair in product(seen, unseen) if frozenset(pair) in kin or len({*pair}) < 2
    ]


@pytest.fixture
def lines():
    """Return results of two models on two splits of sets of each kind, ours twice as good."""
    from _cost_tables import RATIO_NAMES

    rows = []
    for name, (repeat, (model, times)) in product(
        ("nik_heart", "nik_wdbc", "german_credit", "bank_marketing", "iris", "wine"),
        product((0, 1), (("costboost", 1), ("random forest", 2))),
    ):
        share = times * (0.1 + 0.1 * (name in ("nik_wdbc", "wine")) + 0.05 * repeat)
        row = {"set": name, "repeat": repeat, "model": model, "code": "x 1", "fits": 2}
        row |= {"fit_seconds": 3.0, "fit_cpu_seconds": 5.0 * times, "brier": share / 2}
        if name.startswith("nik_"):
            row |= {ratio: share * (1 + k) / 11 for k, ratio in enumerate(RATIO_NAMES)}
        elif name in ("iris", "wine"):
            row |= {"cost": share, "log_loss": 3 * share, "error": share / 5}
        else:
            row |= {"savings": 0.9 - share}
        rows.append(row)
    return pd.DataFrame(rows)


def test_readme_tables_are_means_over_sets(lines):
    from _cost_readme import readme_tables

    ratios, prices, many = (table.splitlines() for table in readme_tables(lines))
    # 21 ratios with factors 1/11 to 21/11, of mean 1; sets of .125 and .225.
    ours = "| **`CostBoostClassifier()`** | five, calibrated |"
    assert ratios[2] == f"{ours} **.1750** | **1.00** | **.2250** | **.0875** | **2.50** |"
    assert ratios[3] == "| random forest | one | .3500 | 2.00 | .4500 | .1750 | 5.00 |"
    assert prices[2].startswith(f"{ours} **77.5 %** | **1.0** | **77.5** |")
    assert "| 12.5 (12.5 to 12.5) |" not in prices[3]  # the lead differs from split to split
    assert prices[3].startswith("| random forest | one | 65.0 % | 2.0 | 65.0 | 65.0 | 12.5 (")
    # The first split alone; wine is unseen.
    assert many[2] == f"{ours} **.150** | **1.00** | **.200** | **.450** | **.030** | **5.00** |"


def test_results_are_published_and_read_again(lines, tmp_path, monkeypatch):
    import _cost_readme

    monkeypatch.setattr(_cost_readme, "PUBLISHED", tmp_path / "new" / "cost.csv")
    with pytest.raises(SystemExit, match="--publish"):
        _cost_readme.read_published()
    _cost_readme.publish(lines)
    again = _cost_readme.read_published()
    assert _cost_readme.readme_tables(again) == _cost_readme.readme_tables(lines)


@pytest.mark.skipif(
    not (BENCHMARKS / "published" / "cost.csv").exists(), reason="no results are published yet"
)
def test_the_page_shows_what_is_published():
    from _cost_readme import read_published, readme_tables

    page = (BENCHMARKS.parent / "docs" / "benchmarks.md").read_text(encoding="utf-8").splitlines()
    for table in readme_tables(read_published()):
        assert not [line for line in table.splitlines() if line not in page]


def test_the_monitor_rings_after_a_change_and_not_without_one(tmp_path, monkeypatch):
    """The fast form of `benchmarks/monitor.py`: one small stream of some kinds, in two runs."""
    import monitor

    path, settings = tmp_path / "found" / "monitor.csv", monitor.Settings(customers=1000)
    for changes in (("none", "prices"), ("none", "column", "prices")):
        monkeypatch.setattr(monitor, "CHANGES", changes)
        monitor.run(path, [0], settings)
    lines = path.read_text().splitlines()
    assert [line.partition(",")[0] for line in lines] == ["none", "prices", "column"]
    found = monitor.read(path)
    assert found["none", 0, settings] == np.inf
    assert found["prices", 0, settings] == monitor.CHANGE
    assert monitor.CHANGE < found["column", 0, settings] <= 90
    assert lines[2].endswith("fewer: 1")


def test_streams_that_share_payments_are_those_of_the_generator():
    import monitor
    from costboost.datasets import make_card_stream

    for change, made in zip(
        monitor.CHANGES, monitor.streams_of(monitor.CHANGES, 3, 60), strict=True
    ):
        own = {} if change == "none" else {"change": change, "change_day": monitor.CHANGE}
        stream = make_card_stream(60, 120, monitor.DAYS, as_frame="numpy", random_state=3, **own)
        for name in ("X", "y", "day", "fee", "amount"):
            assert np.array_equal(getattr(made, name), getattr(stream, name)), (change, name)


def test_challenges_are_tried_once_and_judged_by_later_rows(tmp_path, monkeypatch, capsys):
    import challenge

    trials = {None: [("recalibrate", (40, 70))], "prices": [("reprice", (40, 70))]}
    monkeypatch.setattr(challenge, "TRIALS", trials)
    monkeypatch.setattr(sys, "argv", ["challenge.py", "--streams", "1", "--customers", "100",
                                      "--out", str(tmp_path)])  # fmt: skip
    challenge.main()
    printed = capsys.readouterr().out.splitlines()
    lines = challenge.read(tmp_path / "challenge.csv")
    assert [(line.change, line.tried) for line in lines] == [
        ("nothing", "recalibrate"),
        ("prices", "reprice"),
    ]
    assert all(np.isfinite([line.saved, line.later]).all() for line in lines)
    for line, text in zip(lines, printed[1:], strict=True):
        change, tried, n, *counts = text.split()
        assert (change, tried, n) == (line.change, line.tried, "1")
        replaced, _, _, waited, kept, _ = map(int, counts)
        assert (replaced, waited, kept) == tuple(
            int(line.advice == name) for name in ("replace", "wait", "keep")
        )
    challenge.main()
    assert challenge.read(tmp_path / "challenge.csv") == lines
