"""`costboost monitor`: periods of a file, run after run, exit codes, and what it refuses."""

import json

import numpy as np
import polars as pl
import pytest

from payments import payments


@pytest.fixture
def days(tmp_path):
    """Payments of ten periods, those of the last two without a label; prices change on day 8."""
    rows = payments(800, 4).drop("day", "blocked", strict=False)
    day = np.repeat(np.arange(10), 80)
    fraud = pl.Series(np.where(day < 8, rows["fraud"].to_numpy(), None), dtype=pl.String)
    made = rows.with_columns(pl.Series("when", day), fraud.alias("fraud"))
    made.write_parquet(tmp_path / "days.parquet")
    made.filter(pl.col("when") < 6).write_parquet(tmp_path / "first.parquet")
    made.write_csv(tmp_path / "days.csv")
    return tmp_path


def columns_of(run, folder, days, table, *more, out="w.html"):
    return run(
        "monitor", folder / "model.cb", days / table, "--time", "when", "--reference", "4",
        "-o", days / out, *more,
    )  # fmt: skip


def test_run_after_run_is_one_run(run, folder, days):
    ran = columns_of(run, folder, days, "first.parquet", "--json")
    found = json.loads(ran.out)
    assert (ran.code, found["watched"], found["billed"]) == (0, 6, 6), ran.err
    ran = columns_of(run, folder, days, "days.parquet", "--json")
    found = json.loads(ran.out)
    assert (ran.code, found["watched"], found["billed"]) == (0, 4, 2), ran.err
    ran = columns_of(run, folder, days, "days.parquet", "--json")
    again = json.loads(ran.out)
    assert (again["watched"], again["billed"]) == (0, 0)
    whole = columns_of(run, folder, days, "days.csv", "--json", out="v.html")
    assert json.loads(whole.out)["periods"] == again["periods"] == found["periods"]
    assert (days / "v.html").read_text() == (days / "w.html").read_text()
    one = json.loads((days / "w.state.json").read_text())
    assert one == json.loads((days / "v.state.json").read_text())


def test_labels_are_taken_for_known_after_the_delay(run, folder, days):
    ran = columns_of(run, folder, days, "days.parquet", "--label-delay", "1d", "--json")
    found = json.loads(ran.out)
    assert found["billed"] == 9  # day 8 has only missing labels, and is billed as such
    assert "paid" not in found["periods"][-1]


def test_an_alarm_is_a_line_of_json_and_exit_code_3(run, folder, days):
    model = folder / "model.cb"
    before = model.read_bytes()
    assert columns_of(run, folder, days, "first.parquet").code == 0
    ran = columns_of(run, folder, days, "days.parquet", "--fp", "30", "--tp", "30")
    assert ran.code == 3
    (line,) = [text for text in ran.out.splitlines() if text.startswith("{")]
    found = json.loads(line)
    assert (found["alarm"], found["new"]) == ("prices", True)
    ran = columns_of(run, folder, days, "days.parquet", "--json")
    assert ran.code == 3  # until somebody begins anew
    assert [alarm["new"] for alarm in json.loads(ran.out)["alarms"]] == [False]
    assert model.read_bytes() == before


def test_decisions_and_capacity_of_the_file(run, folder, days):
    table = pl.read_parquet(days / "days.parquet").with_columns(decision=pl.lit("no"))
    table.write_parquet(days / "decided.parquet")
    ran = columns_of(run, folder, days, "decided.parquet", "--capacity", "yes=10", "--json")
    found = json.loads(ran.out)
    assert found["periods"][0]["decisions"] == {"no": 80, "yes": 0}
    assert (
        found["periods"][0]["expected"]
        == pytest.approx(found["periods"][0]["constant"].get("do nothing", np.nan), nan_ok=False)
        or "paid" in found["periods"][0]
    )


WRONG = [
    ((), "Say which column holds the time|day", {"no_time": True}),
    (("--time", "nobody"), "nobody", {}),
    (("--time", "amount", "--period", "soon"), "is no span of time: give one such as", {}),
    (("--period", "0d"), "must be above 0", {}),
    (("--target", "nobody"), "nobody", {}),
    (("--label-delay", "later"), "is no span of time", {}),
    (("--capacity", "yes"), "write ACTION=N", {}),
    (("--decided", "nobody"), "nobody", {}),
    (("--alpha", "2"), "alpha=2.0 must be a number above 0 and at most 0.5", {}),
    (("--tolerance", "-1"), "tolerance=-1.0 must be a number at least 0", {}),
    (("--reference", "2"), "reference=2 must be a whole number at least 4", {}),
    (("--state", "state.txt"), "the name must end with .json", {}),
    (("-o", "page.txt"), "the name must end with .html", {}),
]


@pytest.mark.parametrize(("more", "said", "how"), WRONG)
def test_wrong_options_say_what_to_do(run, folder, days, more, said, how):
    given = ["monitor", folder / "model.cb", days / "days.parquet"]
    if not how:
        given += ["--time", "when"]
    if "-o" not in more:
        given += ["-o", days / "w.html"]
    ran = run(*given, *more)
    assert ran.code in (1, 2)
    text = " ".join(ran.err.split())
    assert any(part in text for part in said.split("|")), text
    assert not (days / "w.html").exists()
    assert not (days / "w.state.json").exists()


def test_a_page_and_a_state_of_others_are_left_alone(run, folder, days):
    (days / "w.html").write_text("mine")
    ran = columns_of(run, folder, days, "first.parquet")
    assert ran.code == 1
    assert "say --force to replace it" in " ".join(ran.err.split())
    assert columns_of(run, folder, days, "first.parquet", "--force").code == 0
    (days / "w.state.json").write_text("{}")
    ran = columns_of(run, folder, days, "first.parquet")
    assert ran.code == 1
    assert "is no state of a monitor" in ran.err
