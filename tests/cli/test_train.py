"""`costboost train`: what it takes, says, bills and writes, against the same done by hand."""

import json

import numpy as np
import polars as pl
import pytest

from costboost import load
from costboost.persistence import read
from payments import PRICES, QUICK, TRAIN, payments


@pytest.fixture
def trained(run, tmp_path):
    def call(path, *more, start=TRAIN):
        model = tmp_path / "model.cb"
        ran = run("train", path, *start, *more, "--json", "--force", "-o", model)
        assert ran.code == 0, ran.err
        return json.loads(ran.out), model

    return call


def by_policy(found):
    return {line["policy"]: line for line in found["bill"]}


def test_the_bill_is_what_the_held_out_rows_cost(trained, folder, table):
    found, model = trained(folder / "payments.csv", "--time", "day", "--current", "blocked")
    cut = found["rows"]["how"].rpartition(" ")[2]
    held = table.filter(pl.col("day") >= pl.lit(cut).str.to_date())
    assert found["rows"]["held_out"] == held.height == pytest.approx(0.2 * table.height, rel=0.15)
    amount, fraud = held["amount"].to_numpy(), (held["fraud"] == "yes").to_numpy()
    today = (held["blocked"] == "yes").to_numpy()
    bill = by_policy(found)
    assert bill["do nothing"]["cost"] == pytest.approx(amount[fraud].sum())
    assert bill["do everything"]["cost"] == pytest.approx(8 * held.height)
    expected = 8 * today.sum() + amount[fraud & ~today].sum()
    assert bill["today's decisions"]["cost"] == pytest.approx(expected)
    assert bill["today's decisions"]["acted"] == today.sum()
    p = load(model).predict_proba(held.select(list(found["features"])))[:, 1]
    acted = p * amount > 8
    assert bill["the model"]["cost"] == pytest.approx(
        8 * acted.sum() + amount[fraud & ~acted].sum()
    )
    assert bill["the model"]["acted"] == acted.sum()
    assert bill["knowing the truth"]["cost"] == pytest.approx(np.minimum(amount, 8)[fraud].sum())


def test_every_line_lies_in_its_interval_and_savings_add_up(trained, folder):
    found, _ = trained(folder / "payments.csv")
    bill = by_policy(found)
    base = bill[found["against"]]
    for line in bill.values():
        assert line["low"] <= line["cost"] <= line["high"]
        assert line["saved"] == pytest.approx(base["cost"] - line["cost"])
        assert line["saved_low"] <= line["saved"] <= line["saved_high"]
    assert bill["do everything"]["low"] == pytest.approx(bill["do everything"]["high"])


def test_columns_are_chosen_with_a_word(trained, folder):
    found, _ = trained(folder / "payments.csv", "--time", "day", "--current", "blocked")
    left_out = found["left_out"]
    assert left_out["fraud"] == "the target"
    assert left_out["day"] == "the time"
    assert left_out["blocked"] == "today's decisions"
    assert "identifier" in left_out["transaction_id"]
    assert "identifier by its name" in left_out["customer_id"]
    assert left_out["currency"] == "constant, 'EUR' in every row"
    assert found["features"]["merchant"] == found["features"]["channel"] == "category"
    assert found["features"]["amount"] == "number"
    assert len(found["features"]) == 11


def test_what_is_printed_says_it_in_words(run, folder, tmp_path):
    more = ("--time", "day", "--current", "blocked", "--currency", "EUR")
    ran = run("train", folder / "payments.csv", *TRAIN, *more, "-o", tmp_path / "m.cb")
    assert ran.code == 0
    for words in (
        "1,500 rows, 17 columns",
        "merchant (10), channel (3)",
        "currency: constant, 'EUR' in every row",
        "a false negative costs its amount",
        "the latest, day >= 2026-02-",
        "cost, EUR",
        "do nothing",
        "do everything",
        "today's decisions",
        "the model",
        "95 % interval",
        "expected,",
        "what matters",
        "Wrote",
        "Next: costboost decide",
    ):
        assert words in ran.out, words
    assert all(line == line.rstrip() and len(line) <= 100 for line in ran.out.splitlines())


def test_the_same_rows_in_every_format_give_the_same_model(trained, folder, table, tmp_path):
    table.write_parquet(tmp_path / "t.parquet")
    table.write_ipc(tmp_path / "t.arrow")
    table.write_ndjson(tmp_path / "t.jsonl")
    reference, model = trained(folder / "payments.csv")
    answers = load(model).predict_proba(table.select(list(reference["features"])))
    for name in ("t.parquet", "t.arrow", "t.jsonl"):
        found, model = trained(tmp_path / name, "--drop", "day")
        again = load(model).predict_proba(table.select(list(found["features"])))
        np.testing.assert_array_equal(answers, again)
        assert found["bill"] == reference["bill"]


def test_a_model_remembers_what_it_was_given(trained, folder):
    _, model = trained(folder / "payments.csv", "--time", "day", "--currency", "EUR")
    notes = read(model).notes["command line"]
    assert notes["target"] == "fraud"
    assert notes["prices"]["fn"] == "amount"
    assert notes["prices"]["positive"] == "yes"
    assert ["merchant", "category"] in notes["features"]
    assert notes["time"] == "day"
    assert notes["rows"]["train"] + notes["rows"]["held_out"] == 1500


def test_python_can_use_the_file(trained, folder, table):
    found, path = trained(folder / "payments.csv")
    model = load(path)
    decided = model.predict(table.select(list(found["features"])))  # reads the amounts itself
    p = model.predict_proba(table.select(list(found["features"])))[:, 1]
    assert np.array_equal(decided == "yes", p * table["amount"].to_numpy() > 8)


def test_prices_may_read_columns_that_are_no_features(trained, folder, table):
    found, path = trained(folder / "payments.csv", "--drop", "amount")
    assert "amount" not in found["features"]
    held = found["rows"]["held_out"]
    assert by_policy(found)["do everything"]["cost"] == pytest.approx(8 * held)
    assert by_policy(found)["do nothing"]["cost"] > 0
    assert load(path).costs_per_row_


def test_prices_by_expression(trained, folder):
    start = (
        "--target",
        "fraud",
        "--positive",
        "yes",
        *QUICK,
        "--fp",
        "if(channel == 'online', 4, 8)",
    )
    plain, _ = trained(folder / "payments.csv", "--fn", "amount", start=start)
    dearer, _ = trained(folder / "payments.csv", "--fn", "0.75 * amount + 20", start=start)
    nothing = by_policy(plain)["do nothing"]["cost"]
    n_frauds = dearer["positives"]["happened"]
    expected = 0.75 * nothing + 20 * n_frauds
    assert by_policy(dearer)["do nothing"]["cost"] == pytest.approx(expected)
    assert dearer["prices"]["fn"] == "0.75 * amount + 20"


def test_groups_are_held_out_whole(trained, folder, table, tmp_path):
    found, _ = trained(folder / "payments.csv", "--groups", "customer_id")
    assert "whole groups" in found["rows"]["how"]
    assert found["left_out"]["customer_id"] == "the groups"


def test_time_and_groups_say_who_is_on_both_sides(run, folder, tmp_path):
    more = ("--time", "day", "--groups", "customer_id", "-o", tmp_path / "m.cb")
    ran = run("train", folder / "payments.csv", *TRAIN, *more)
    assert "also learnt from" in " ".join(ran.out.split())


def test_nothing_held_out_gives_no_bill(trained, folder):
    found, model = trained(folder / "payments.csv", "--holdout", "0")
    assert found["bill"] is None
    assert found["rows"] == {"train": 1500, "held_out": 0, "how": "none"}
    assert load(model).n_iter_ > 0


def test_refit_uses_all_rows(trained, folder, table):
    found, once = trained(folder / "payments.csv")
    first = load(once).predict_proba(table.select(list(found["features"])))
    again, twice = trained(folder / "payments.csv", "--refit")
    assert again["bill"] == found["bill"]
    assert read(twice).notes["command line"]["rows"] == {"train": 1500, "held_out": 0}
    assert not np.array_equal(
        load(twice).predict_proba(table.select(list(found["features"]))), first
    )
    whole, all_at_once = trained(folder / "payments.csv", "--holdout", "0")
    refitted = load(all_at_once).predict_proba(table.select(list(whole["features"])))
    assert len(refitted) == 1500


def test_rows_without_a_target(run, table, tmp_path):
    holes = table.with_columns(fraud=pl.when(pl.int_range(1500) < 5).then(None).otherwise("fraud"))
    holes.write_csv(tmp_path / "t.csv")
    ran = run("train", tmp_path / "t.csv", *TRAIN, "-o", tmp_path / "m.cb")
    assert ran.code == 1
    assert "missing in 5 rows, the first of them row 0" in ran.err
    ran = run("train", tmp_path / "t.csv", *TRAIN, "--skip-unlabelled", "-o", tmp_path / "m.cb")
    assert ran.code == 0
    assert "5 rows without fraud left out" in ran.out


def test_rows_whose_target_is_no_number(run, table, tmp_path):
    """Parquet files have two words for what is missing."""
    truth = (table["fraud"] == "yes").cast(pl.Float64)
    holes = table.with_columns(
        fraud=pl.when(pl.int_range(1500) < 5).then(float("nan")).otherwise(truth)
    )
    holes.write_parquet(tmp_path / "t.parquet")
    given = ("--target", "fraud", "--fp", "8", "--fn", "amount", *QUICK, "-o", tmp_path / "m.cb")
    ran = run("train", tmp_path / "t.parquet", *given)
    assert (ran.code, "missing in 5 rows, the first of them row 0" in ran.err) == (1, True)
    ran = run("train", tmp_path / "t.parquet", *given, "--skip-unlabelled", "--json")
    assert json.loads(ran.out)["notes"][0] == "5 rows without fraud left out (--skip-unlabelled)."


@pytest.mark.parametrize("labels", [("1", "0"), ("true", "false"), ("1.0", "0.0"), ("-1", "1")])
def test_usual_labels_need_no_positive(run, table, labels, tmp_path):
    positive, negative = ("1", "-1") if "-1" in labels else labels
    text = table.with_columns(
        fraud=pl.when(pl.col("fraud") == "yes").then(pl.lit(positive)).otherwise(pl.lit(negative))
    )
    text.write_csv(tmp_path / "t.csv", quote_style="never")
    prices = ("--fp", "8", "--tp", "8", "--fn", "amount")
    ran = run(
        "train", tmp_path / "t.csv", "--target", "fraud", *prices, *QUICK, "--json",
        "-o", tmp_path / "m.cb",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    frauds = int((table["fraud"] == "yes").sum())
    assert sorted(found["classes"].values()) == sorted([frauds, 1500 - frauds])
    assert by_policy(found)["do everything"]["acted"] == found["rows"]["held_out"]


@pytest.mark.parametrize(
    "method", ["auto", "csb2", "gradient:log", "gradient:expected-cost", "lp-csb"]
)
def test_every_family_trains_decides_and_takes_new_prices(run, method, folder, tmp_path):
    model = tmp_path / "m.cb"
    start = ("--target", "fraud", *PRICES, "--method", method, "--rounds", "5")
    assert run("train", folder / "payments.csv", *start, "-o", model).code == 0
    ran = run(
        "decide", model, folder / "new.parquet", "--fn", "100 * amount", "-o", tmp_path / "d.csv"
    )
    assert ran.code == 0, ran.err
    dear = (pl.read_csv(tmp_path / "d.csv")["decision"] == "yes").sum()
    run("decide", model, folder / "new.parquet", "-o", tmp_path / "e.csv")
    assert dear > (pl.read_csv(tmp_path / "e.csv")["decision"] == "yes").sum()


def test_uncalibrated_methods_decide_as_published(run, folder, tmp_path):
    model = tmp_path / "m.cb"
    start = ("--target", "fraud", *PRICES, "--method", "csb2", "--calibration", "none")
    assert run("train", folder / "payments.csv", *start, "--rounds", "5", "-o", model).code == 0
    assert run("decide", model, folder / "new.parquet", "-o", tmp_path / "d.csv").code == 0
    made = pl.read_csv(tmp_path / "d.csv")
    assert "decision" in made.columns
    assert "expected_cost" not in made.columns
    assert run("evaluate", model, folder / "later.csv").code == 0


def test_many_classes_and_actions_by_a_file(run, table, tmp_path):
    kinds = table.with_columns(
        fraud=pl.when(pl.col("fraud") == "no").then(pl.lit("fine"))
        .when(pl.col("amount") < 20).then(pl.lit("small")).otherwise(pl.lit("large"))
    )  # fmt: skip
    kinds.write_csv(tmp_path / "t.csv")
    (tmp_path / "costs.toml").write_text(
        'currency = "CHF"\n[actions]\nreview = 9\n[actions.pass]\nfine = 0\nsmall = 10\n'
        'large = "amount"\n[actions.block]\nfine = "max(amount / 10, 2)"\nsmall = 0\nlarge = 0\n'
    )
    given = ("--target", "fraud", "--costs", tmp_path / "costs.toml", *QUICK)
    ran = run("train", tmp_path / "t.csv", *given, "--json", "-o", tmp_path / "m.cb")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    bill = by_policy(found)
    assert set(bill) == {
        "always pass", "always review", "always block", "the model", "knowing the truth"
    }  # fmt: skip
    assert bill["always review"]["cost"] == pytest.approx(9 * found["rows"]["held_out"])
    ran = run(
        "decide", tmp_path / "m.cb", tmp_path / "t.csv", "--capacity", "review=7",
        "-o", tmp_path / "d.parquet",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    made = pl.read_parquet(tmp_path / "d.parquet")
    assert (made["decision"] == "review").sum() <= 7
    assert set(made["decision"].unique()) <= {"pass", "review", "block"}
    assert {"probability_fine", "probability_small", "expected_cost_review"} <= set(made.columns)
    assert run("explain", tmp_path / "m.cb", tmp_path / "t.csv", "--row", "3").code == 0
    assert "always pass" in run("evaluate", tmp_path / "m.cb", tmp_path / "t.csv").out


def test_a_file_of_prices_for_two_classes(trained, folder, tmp_path):
    (tmp_path / "costs.toml").write_text('positive = "yes"\nfp = 8\ntp = 8.0\nfn = "amount"\n')
    by_file, _ = trained(
        folder / "payments.csv",
        "--target",
        "fraud",
        *QUICK,
        start=("--costs", tmp_path / "costs.toml"),
    )
    by_options, _ = trained(folder / "payments.csv")
    assert by_file["bill"] == by_options["bill"]


def test_dates_as_numbers(trained, folder, table):
    found, _ = trained(folder / "payments.csv", "--as-number", "day")
    assert found["features"]["day"] == "date"
    plain, _ = trained(folder / "payments.csv")
    assert "dates" in plain["left_out"]["day"]


def test_few_positives_are_told(run, tmp_path):
    payments(300, 8).write_csv(tmp_path / "t.csv")
    ran = run("train", tmp_path / "t.csv", *TRAIN, "--json", "-o", tmp_path / "m.cb")
    assert any("intervals are rough" in note for note in json.loads(ran.out)["notes"])


def test_a_column_that_knows_the_answer_is_told(run, table, tmp_path):
    rng = np.random.default_rng(0)
    told = (table["fraud"] == "yes").cast(pl.Float64) + 0.1 * pl.Series(rng.normal(size=1500))
    table.with_columns(refund=told).write_csv(tmp_path / "t.csv")
    ran = run("train", tmp_path / "t.csv", *TRAIN, "-o", tmp_path / "m.cb")
    assert "refund alone separates nearly every yes from the others" in " ".join(ran.out.split())


def test_dates_of_json_lines_are_dates(trained, table, tmp_path, folder):
    table.write_ndjson(tmp_path / "t.jsonl")
    found, _ = trained(tmp_path / "t.jsonl", "--time", "day")
    again, _ = trained(folder / "payments.csv", "--time", "day")
    assert found["rows"] == again["rows"]
    assert found["bill"] == again["bill"]


def dirty(table, texts):
    """Return the table with some labels written otherwise, by row."""
    labels = table["fraud"].to_list()
    for row, text in texts.items():
        labels[row] = text
    return table.with_columns(fraud=pl.Series(labels))


def cases(table, label, n=4):
    """Return the first rows of a label."""
    return [row for row, found in enumerate(table["fraud"].to_list()) if found == label][:n]


def test_stray_labels_are_refused_with_their_rows_and_the_option_that_mends_them(
    run, table, tmp_path
):
    first, second = cases(table, "no", 2)
    stray = dirty(table, {first: "chargeback?", second: "chargeback?"})
    stray.write_csv(tmp_path / "t.csv")
    ran = run("train", tmp_path / "t.csv", *TRAIN, "-o", tmp_path / "m.cb")
    assert ran.code == 1
    for text in ("chargeback?", str(first), str(second), "--label"):
        assert text in ran.err
    assert not (tmp_path / "m.cb").exists()


def test_labels_are_mended_by_what_they_mean_or_tidied(run, table, tmp_path):
    """The model is that of the clean table, however its labels were written."""
    table.write_csv(tmp_path / "clean.csv")
    (yes, capital), (blank, _) = cases(table, "yes", 2), cases(table, "no", 2)
    dirty(table, {yes: " Yes", capital: "YES", blank: "no "}).write_csv(tmp_path / "blanks.csv")
    dirty(table, {yes: "ja", capital: "ja", blank: "nein"}).write_csv(tmp_path / "german.csv")
    made = {}
    for name, more in {
        "clean": (),
        "blanks": ("--tidy-labels",),
        "german": ("--label", "ja=yes", "--label", "nein=no"),
    }.items():
        ran = run("train", tmp_path / f"{name}.csv", *TRAIN, *more, "-o", tmp_path / f"{name}.cb")
        assert ran.code == 0, ran.err
        made[name] = load(tmp_path / f"{name}.cb")
    X = table.select(list(made["clean"].feature_names_in_))
    for name in ("blanks", "german"):
        assert made[name].classes_.tolist() == ["no", "yes"]
        np.testing.assert_array_equal(made[name].predict_proba(X), made["clean"].predict_proba(X))
    refused = run("train", tmp_path / "blanks.csv", *TRAIN, "-o", tmp_path / "never.cb")
    assert refused.code == 1
    assert "--tidy-labels" in refused.err


def test_a_label_of_no_meaning_leaves_its_rows_out(run, table, tmp_path):
    rows = cases(table, "no", 3)
    dirty(table, dict.fromkeys(rows, "open")).write_csv(tmp_path / "open.csv")
    more = ("--label", "open=", "--skip-unlabelled", "--json")
    ran = run("train", tmp_path / "open.csv", *TRAIN, *more, "-o", tmp_path / "open.cb")
    assert ran.code == 0, ran.err
    found = json.loads(run("inspect", tmp_path / "open.cb", "--json").out)
    assert sum(found["rows"].values()) == table.height - 3
