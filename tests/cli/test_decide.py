"""`costboost decide`: the decisions are the cheapest, the file is whole, limits hold."""

import csv
import gzip
import io
import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from costboost import CostBoostClassifier, Costs, load, save
from payments import TRAIN, payments


def decided(run, folder, path, *more, output, table="new.parquet"):
    ran = run("decide", folder / "model.cb", folder / table, *more, "-o", output / path)
    assert ran.code == 0, ran.err
    return ran


def test_decisions_are_the_cheapest_at_each_rows_own_price(run, folder, tmp_path):
    decided(run, folder, "d.parquet", output=tmp_path)
    made, new = pl.read_parquet(tmp_path / "d.parquet"), pl.read_parquet(folder / "new.parquet")
    assert made.columns[: new.width] == new.columns
    assert made.select(new.columns).equals(new)
    p, amount = made["probability_yes"].to_numpy(), new["amount"].to_numpy()
    model = load(folder / "model.cb")
    np.testing.assert_array_equal(p, model.predict_proba(new.select(model.feature_names_in_))[:, 1])
    np.testing.assert_allclose(made["probability_no"], 1 - p)
    np.testing.assert_allclose(made["expected_cost_no"], p * amount)
    np.testing.assert_allclose(made["expected_cost_yes"], 8.0)
    assert (made["decision"] == "yes").to_list() == (p * amount > 8).tolist()
    np.testing.assert_allclose(made["expected_cost"], np.minimum(p * amount, 8))


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("d.csv", pl.read_csv),
        ("d.csv.gz", pl.read_csv),
        ("d.tsv", lambda path: pl.read_csv(path, separator="\t")),
        ("d.parquet", pl.read_parquet),
        ("d.arrow", pl.read_ipc),
        ("d.feather", pl.read_ipc),
        ("d.jsonl", pl.read_ndjson),
    ],
)
def test_every_format_holds_the_same(run, name, read, folder, tmp_path):
    decided(run, folder, name, "--only-decisions", output=tmp_path)
    made = read(tmp_path / name)
    decided(run, folder, "again.parquet", "--only-decisions", output=tmp_path)
    again = pl.read_parquet(tmp_path / "again.parquet")
    assert made.columns == again.columns
    assert made["decision"].to_list() == again["decision"].to_list()
    np.testing.assert_allclose(made["expected_cost"], again["expected_cost"], rtol=1e-12)
    assert made["row"].to_list() == list(range(300))


def test_without_a_file_the_table_goes_to_standard_output(run, folder):
    ran = run("decide", folder / "model.cb", folder / "new.parquet")
    assert ran.code == 0
    made = pl.read_csv(io.StringIO(ran.out))
    assert made.height == 300
    assert "decisions" in ran.err
    assert "expected cost" in ran.err


def test_standard_input(run, folder, monkeypatch, tmp_path):
    data = pl.read_parquet(folder / "new.parquet").write_csv().encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    ran = run("decide", folder / "model.cb", "-", "--only-decisions")
    assert ran.code == 0
    decided(run, folder, "d.csv", "--only-decisions", output=tmp_path)
    one, other = pl.read_csv(io.StringIO(ran.out)), pl.read_csv(tmp_path / "d.csv")
    assert one["decision"].to_list() == other["decision"].to_list()


def test_new_prices_need_no_new_model(run, folder, tmp_path):
    decided(run, folder, "d.parquet", "--fn", "2 * amount + 5", "--fp", "3", output=tmp_path)
    made = pl.read_parquet(tmp_path / "d.parquet")
    p, amount = made["probability_yes"].to_numpy(), made["amount"].to_numpy()
    np.testing.assert_allclose(made["expected_cost_no"], p * (2 * amount + 5))
    np.testing.assert_allclose(made["expected_cost_yes"], 3 * (1 - p) + 8 * p)  # tp stays 8


def test_limits_are_kept_and_priced(run, folder, tmp_path):
    ran = decided(run, folder, "d.parquet", "--capacity", "yes=5", output=tmp_path)
    made = pl.read_parquet(tmp_path / "d.parquet")
    assert (made["decision"] == "yes").sum() == 5
    gain = made["expected_cost_no"] - made["expected_cost_yes"]
    chosen = set(np.flatnonzero((made["decision"] == "yes").to_numpy()))
    assert chosen == set(np.argsort(-gain.to_numpy())[:5])
    assert "one more would save" in ran.out
    assert "without limits" in ran.out


def test_limits_by_day_and_as_a_share(run, folder, tmp_path):
    decided(run, folder, "d.parquet", "--capacity", "yes=1", "--per", "day", output=tmp_path)
    made = pl.read_parquet(tmp_path / "d.parquet")
    per_day = made.filter(pl.col("decision") == "yes").group_by("day").len()
    assert per_day["len"].max() == 1
    decided(run, folder, "e.parquet", "--capacity", "yes=0.02", output=tmp_path)
    assert (pl.read_parquet(tmp_path / "e.parquet")["decision"] == "yes").sum() == 6


def test_rows_may_be_left_to_others(run, folder, tmp_path):
    decided(run, folder, "d.parquet", "--defer", "amount / 100", output=tmp_path)
    made = pl.read_parquet(tmp_path / "d.parquet")
    costs = made.select("expected_cost_no", "expected_cost_yes", "expected_cost_defer").to_numpy()
    np.testing.assert_allclose(costs[:, 2], made["amount"] / 100)
    names = np.array(["no", "yes", "defer"])
    assert made["decision"].to_list() == names[costs.argmin(axis=1)].tolist()


def test_json_counts_what_was_decided(run, folder, tmp_path):
    ran = decided(run, folder, "d.csv", "--json", output=tmp_path)
    found = json.loads(ran.out)
    made = pl.read_csv(tmp_path / "d.csv")
    assert found["decisions"]["yes"] == (made["decision"] == "yes").sum()
    assert found["expected_cost"] == pytest.approx(made["expected_cost"].sum())
    assert found["expected_cost_if_always"]["yes"] == pytest.approx(8 * 300)


def test_categories_that_training_did_not_know(run, folder, tmp_path):
    new = pl.read_parquet(folder / "new.parquet").with_columns(
        merchant=pl.when(pl.int_range(300) < 3)
        .then(pl.lit("casino"))
        .otherwise(pl.col("merchant").cast(pl.String))
    )
    new.write_parquet(tmp_path / "odd.parquet")
    ran = run("decide", folder / "model.cb", tmp_path / "odd.parquet", "-o", tmp_path / "d.csv")
    assert ran.code == 0
    assert "3 rows have a merchant that the model has not learnt ('casino')" in ran.out


def test_categories_keep_their_zeros(run, table, tmp_path):
    """A column of codes that are all digits in the new file is text all the same."""
    shops = np.where(np.arange(1500) % 3 == 0, "007", np.where(np.arange(1500) % 3 == 1, "7", "A1"))
    odd = table.with_columns(shop=pl.Series(shops))
    odd.write_csv(tmp_path / "t.csv")
    given = ("--target", "fraud", "--positive", "yes", "--fp", "8", "--fn", "amount")
    run("train", tmp_path / "t.csv", *given, "--rounds", "3", "-o", tmp_path / "m.cb")
    odd.filter(pl.col("shop") == "007").drop("fraud").write_csv(tmp_path / "new.csv")
    ran = run("decide", tmp_path / "m.cb", tmp_path / "new.csv", "-o", tmp_path / "d.csv")
    assert ran.code == 0, ran.err
    assert "has not learnt" not in ran.out


def test_one_row_and_columns_in_another_order(run, folder, tmp_path):
    new = pl.read_parquet(folder / "new.parquet")
    new.select(new.columns[::-1])[:1].write_csv(tmp_path / "one.csv")
    ran = run("decide", folder / "model.cb", tmp_path / "one.csv", "-o", tmp_path / "d.csv")
    assert ran.code == 0, ran.err
    decided(run, folder, "all.csv", output=tmp_path)
    one, every = pl.read_csv(tmp_path / "d.csv"), pl.read_csv(tmp_path / "all.csv")
    assert one["expected_cost"][0] == every["expected_cost"][0]


def test_a_model_that_python_saved(run, tmp_path):
    table = payments(600, 1)
    names = ["amount", "hour", "merchant"]
    costs = Costs(fp=8, fn="amount", positive="yes")
    model = CostBoostClassifier("adamec", 5, costs=costs)
    model.fit(table.select(names), table["fraud"].to_numpy())
    save(model, tmp_path / "m.cb")
    table.write_csv(tmp_path / "t.csv")
    ran = run("decide", tmp_path / "m.cb", tmp_path / "t.csv", "-o", tmp_path / "d.csv")
    assert ran.code == 0, ran.err
    made = pl.read_csv(tmp_path / "d.csv")["decision"].to_list()
    assert made == model.predict(table.select(names)).tolist()
    assert run("evaluate", tmp_path / "m.cb", tmp_path / "t.csv").code == 2
    ran = run("evaluate", tmp_path / "m.cb", tmp_path / "t.csv", "--target", "fraud")
    assert ran.code == 0, ran.err
    assert "do nothing" in ran.out
    assert run("inspect", tmp_path / "m.cb").code == 0


def test_readers_that_leave_early_are_no_error(folder):
    command = [
        sys.executable,
        "-m",
        "costboost",
        "decide",
        folder / "model.cb",
        folder / "new.parquet",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        try:
            assert process.wait(timeout=60) == 141
        finally:
            process.kill()
        assert b"Traceback" not in process.stderr.read()


# --- the cells of the table stay as they are written


def cells_of(text, separator=","):
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))


@pytest.fixture(scope="module")
def odd_cells(folder):
    """New rows with cells of many spellings, and their text as a CSV file."""
    new = pl.read_parquet(folder / "new.parquet")
    n = new.height
    spelled = new.with_columns(
        pl.col("amount").map_elements(lambda x: f"{x:.2f}0", pl.String),
        pl.col("hour").map_elements(lambda x: f"{x:e}", pl.String),
        account=pl.Series([f"{i % 90:05d}" for i in range(n)]),
        active=pl.Series(["TRUE", "FALSE"] * (n // 2)),
        since=pl.Series([f"2020-{i % 9 + 1}-2" for i in range(n)]),
        said=pl.Series(['a "word", or\ntwo', " blanks "] * (n // 2)),
        empty=pl.Series(["", None, "x"] * (n // 3)),
        long=pl.Series([f"{10**25 + i}" for i in range(n)]),
    )
    return spelled, spelled.write_csv()


DIALECTS = {
    "plain": lambda text: text.encode(),
    "bom": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "crlf": lambda text: _recoded(text, lineterminator="\r\n"),
    "semicolons": lambda text: _recoded(text, delimiter=";"),
    "tabs": lambda text: _recoded(text, delimiter="\t"),
    "quoted": lambda text: "".join(map(_quoted, cells_of(text))).encode(),
    "gzipped": lambda text: gzip.compress(text.encode()),
}


def _quoted(cells):
    doubled = (cell.replace('"', '""') for cell in cells)
    return ",".join(f'"{cell}"' if cell else "" for cell in doubled) + "\n"


def _recoded(text, **how):
    to = io.StringIO(newline="")
    csv.writer(to, **{"lineterminator": "\n"} | how).writerows(cells_of(text))
    return to.getvalue().encode()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_cells_are_written_as_they_were_read(run, folder, tmp_path, odd_cells, dialect):
    spelled, text = odd_cells
    (tmp_path / "odd.csv").write_bytes(DIALECTS[dialect](text))
    ran = run("decide", folder / "model.cb", tmp_path / "odd.csv", "-o", tmp_path / "d.csv")
    assert ran.code == 0, ran.err
    separator = {"semicolons": ";", "tabs": "\t"}.get(dialect, ",")
    made = cells_of((tmp_path / "d.csv").read_text(encoding="utf-8"), separator)
    assert [line[: spelled.width] for line in made] == cells_of(text)
    assert made[0][spelled.width] == "decision"
    decided(run, folder, "typed.csv", output=tmp_path)
    typed = pl.read_csv(tmp_path / "typed.csv")
    assert [line[spelled.width] for line in made[1:]] == typed["decision"].to_list()


def test_empty_cells_stay_quoted_or_bare(run, folder, tmp_path, odd_cells):
    _, text = odd_cells
    (tmp_path / "odd.csv").write_text(text, encoding="utf-8")
    for name in ("d.csv", "d.tsv", "d.csv.gz", "-"):
        output = () if name == "-" else ("-o", tmp_path / name)
        ran = run("decide", folder / "model.cb", tmp_path / "odd.csv", *output)
        assert ran.code == 0, ran.err
        data = ran.out.encode() if name == "-" else (tmp_path / name).read_bytes()
        data = gzip.decompress(data) if name.endswith(".gz") else data
        made = pl.read_csv(data, separator="\t" if name == "d.tsv" else ",", infer_schema=False)
        assert made["empty"].to_list() == ["", None, "x"] * 100
        assert made["account"][42] == "00042"


@pytest.mark.parametrize(
    ("name", "read"), [("d.parquet", pl.read_parquet), ("d.jsonl", pl.read_ndjson)]
)
def test_formats_with_types_hold_values_and_identifiers(
    run, folder, tmp_path, odd_cells, name, read
):
    _, text = odd_cells
    table = pl.read_csv(text.encode(), infer_schema=False).drop("long")
    table.write_csv(tmp_path / "odd.csv")
    ran = run("decide", folder / "model.cb", tmp_path / "odd.csv", "-o", tmp_path / name)
    assert ran.code == 0, ran.err
    made = read(tmp_path / name)
    assert made["account"].to_list() == table["account"].to_list()
    assert made["amount"].dtype == pl.Float64
    assert made["active"].dtype == pl.Boolean


def test_decimal_commas_come_back_in_a_file_that_can_be_read_again(run, folder, tmp_path):
    new = pl.read_parquet(folder / "new.parquet")
    floats = pl.selectors.float().cast(pl.String).str.replace(".", ",", literal=True)
    new.with_columns(floats).write_csv(tmp_path / "new.csv", separator=";")
    start = ("decide", folder / "model.cb")
    ran = run(*start, tmp_path / "new.csv", "-o", tmp_path / "d.csv")
    assert ran.code == 1
    assert "trained on with '.': say --decimal ," in " ".join(ran.err.split())
    start = (*start, "--decimal", ",")
    assert run(*start, tmp_path / "new.csv", "-o", tmp_path / "d.csv").code == 0
    text = (tmp_path / "d.csv").read_text(encoding="utf-8")
    given = cells_of((tmp_path / "new.csv").read_text(encoding="utf-8"), ";")
    assert [line[: new.width] for line in cells_of(text, ";")] == given
    ran = run(*start, tmp_path / "d.csv", "--prefix", "again_", "-o", tmp_path / "e.csv")
    assert ran.code == 0, ran.err
    names, *again = cells_of((tmp_path / "e.csv").read_text(encoding="utf-8"), ";")
    for name in ("decision", "expected_cost"):
        one, other = names.index(name), names.index(f"again_{name}")
        assert [line[one] for line in again] == [line[other] for line in again]


def test_zeros_before_numbers_mean_the_same_in_training_and_later(run, table, folder, tmp_path):
    """Codes are text, or numbers where that is said, in both; they are written as they were."""
    codes = pl.Series([f"{i % 7:04d}" for i in range(table.height)])
    table.with_columns(code=codes).write_csv(tmp_path / "t.csv")
    given = ("train", tmp_path / "t.csv", *TRAIN, "-o", tmp_path / "m.cb", "--json", "--force")
    assert json.loads(run(*given).out)["features"]["code"] == "category"
    given = (*given, "--as-number", "code")
    assert json.loads(run(*given).out)["features"]["code"] == "number"
    ran = run("decide", tmp_path / "m.cb", tmp_path / "t.csv", "-o", tmp_path / "d.csv")
    assert ran.code == 0, ran.err
    made = pl.read_csv(tmp_path / "d.csv", infer_schema=False)
    assert made["code"].to_list() == codes.to_list()
    plain = table.with_columns(code=codes.cast(pl.Int64))
    plain.write_parquet(tmp_path / "plain.parquet")
    run("decide", tmp_path / "m.cb", tmp_path / "plain.parquet", "-o", tmp_path / "p.csv")
    typed = pl.read_csv(tmp_path / "p.csv", infer_schema=False)
    assert typed["expected_cost"].to_list() == made["expected_cost"].to_list()


def test_categories_that_python_learnt_keep_their_zeros(run, tmp_path):
    table = payments(600, 1)
    shops = pl.Series(["007", "7", "012"] * 200)
    X = table.select("amount", shop=shops)
    costs = Costs(fp=8, fn="amount", positive="yes")
    truth = np.where((shops == "007") & (table["fraud"] == "yes"), "yes", "no")
    model = CostBoostClassifier("adamec", 5, costs=costs).fit(X, truth)
    save(model, tmp_path / "m.cb")
    X.write_csv(tmp_path / "t.csv")
    ran = run("decide", tmp_path / "m.cb", tmp_path / "t.csv", "-o", tmp_path / "d.csv")
    assert ran.code == 0, ran.err
    assert "has not learnt" not in ran.out
    made = pl.read_csv(tmp_path / "d.csv")
    np.testing.assert_allclose(made["probability_yes"], model.predict_proba(X)[:, 1])


def test_limits_by_identifiers_name_these(run, folder, tmp_path):
    new = pl.read_parquet(folder / "new.parquet")
    new.with_columns(branch=pl.Series(["007", "7", "0012"] * 100)).write_csv(tmp_path / "n.csv")
    more = ("--capacity", "yes=1", "--per", "branch", "-o", tmp_path / "d.csv")
    ran = run("decide", folder / "model.cb", tmp_path / "n.csv", *more)
    assert ran.code == 0, ran.err
    assert all(f"1 of 1 in {name}" in ran.out for name in ("007", "7", "0012"))


def test_one_limit_for_each_action(run, folder):
    start = ("decide", folder / "model.cb", folder / "new.parquet")
    ran = run(*start, "--capacity", "yes=3", "--capacity", "yes=4")
    assert ran.code == 2
    assert "--capacity limits yes twice, the second time by 'yes=4'" in ran.err
    assert run(*start, "--capacity", "yes=3", "--capacity", "YES=3").code == 2
    assert run(*start, "--capacity", "yes=3", "--capacity", "no=300").code == 0


@pytest.mark.parametrize("name", ["d.csv", "d.parquet"])
def test_only_decisions_name_rows_by_their_identifiers(run, folder, tmp_path, name):
    new = pl.read_parquet(folder / "new.parquet").sample(fraction=1, shuffle=True, seed=0)
    new.write_parquet(tmp_path / "mixed.parquet")
    source = tmp_path / "mixed.parquet"
    ran = run("decide", folder / "model.cb", source, "--only-decisions", "-o", tmp_path / name)
    assert ran.code == 0, ran.err
    made = (pl.read_csv if name == "d.csv" else pl.read_parquet)(tmp_path / name)
    for identifier in ("transaction_id", "customer_id"):
        assert made[identifier].to_list() == new[identifier].to_list()
    assert not {"amount", "hour", "currency", "day"} & set(made.columns)
    whole = run("decide", folder / "model.cb", source, "-o", tmp_path / "whole.parquet")
    assert whole.code == 0, whole.err
    again = pl.read_parquet(tmp_path / "whole.parquet")
    assert made["decision"].to_list() == again["decision"].to_list()


def test_only_decisions_number_the_rows_where_no_identifier_is_known(run, table, tmp_path):
    bare = table.drop("transaction_id", "customer_id")
    bare.write_csv(tmp_path / "t.csv")
    assert run("train", tmp_path / "t.csv", *TRAIN, "-o", tmp_path / "m.cb").code == 0
    source = tmp_path / "t.csv"
    ran = run("decide", tmp_path / "m.cb", source, "--only-decisions", "-o", tmp_path / "d.csv")
    assert ran.code == 0, ran.err
    made = pl.read_csv(tmp_path / "d.csv")
    assert made["row"].to_list() == list(range(table.height))
    assert not set(bare.columns) & set(made.columns)
