"""Exit codes, and wrong input by the dozen: each gives one message that says what to do."""

import gzip
import json
import os
import signal
import subprocess
import sys
from functools import partial

import polars as pl
import pytest

from costboost import __version__
from costboost.cli import main as entry
from payments import PRICES, QUICK, TRAIN, payments

TARGET = ("--target", "fraud")


# --- the rim


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from costboost.cli.main import main; main(['--help']); "
        "heavy = {'sklearn', 'scipy', 'polars', 'pandas', 'numpy'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_python_m_costboost():
    run = subprocess.run(
        [sys.executable, "-m", "costboost", "--version"], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == f"costboost {__version__}"


@pytest.mark.parametrize("package", ["typer", "rich", "polars"])
def test_without_the_extra_the_message_names_it(package, monkeypatch, capsys):
    found = entry.find_spec
    monkeypatch.setattr(entry, "find_spec", lambda name: None if name == package else found(name))
    assert entry.main(["--help"]) == 1
    assert f"needs {package}: pip install 'costboost[cli]'" in capsys.readouterr().err


def test_the_demo_needs_no_extra(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(entry, "find_spec", lambda name: None)
    assert entry.main(["demo", "--rows", "2000", "--output", str(tmp_path)]) == 0
    assert "Which card payments should be investigated?" in capsys.readouterr().out
    assert (tmp_path / "card-fraud-report.html").exists()


# --- wrong usage: 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nonsense"], "No such command"),
        (["train"], "Missing"),
        (["train", "T"], "--target"),
        (["train", "T", "--taget", "fraud"], "No such option"),
        (["train", "T", *TARGET, "--rounds", "none"], "valid int"),
        (["train", "T", *TARGET, "--rounds", "0"], "--rounds"),
        (["train", "T", *TARGET, "--fp", "8", "--fn", "amount"], "--positive no, fp is the price"),
        (["train", "T", *TARGET, "--positive", "yes"], "--fp and --fn missing"),
        (["train", "T", *TARGET, "--positive", "yes", "--fp", "8"], "--fn missing"),
        (["train", "T", *TARGET, *PRICES, "--costs", "c.toml"], "not by both"),
        (["train", "T", *TARGET, *PRICES, "--method", "best"], "there are auto, auto-1"),
        (["train", "T", *TARGET, *PRICES, "--calibration", "x"], "sigmoid"),
        (["train", "T", *TARGET, *PRICES, "--jobs", "0"], "--jobs"),
        (["train", "T", *TARGET, *PRICES, "--holdout", "2"], "from 0 to 0.9"),
        (["train", "T", *TARGET, *PRICES, "--time", "fraud"], "both name the column"),
        (["train", "T", "--target", "merchant", "--fp", "1", "--fn", "2"], "--costs"),
        (["compare", "T", *TARGET, *PRICES, "--method", "auto"], "at least two"),
        (
            ["compare", "T", *TARGET, *PRICES, "--method", "auto", "--method", "auto"],
            "at least two",
        ),
        (["decide", "M", "N", "--capacity", "yes"], "review=200"),
        (["decide", "M", "N", "--capacity", "yes=1.5"], "review=200"),
        (["decide", "M", "N", "--per", "day"], "give that too"),
        (["decide", "M", "N", "--json"], "-o"),
        (["explain", "M", "N"], "--row"),
        (["explain", "M", "N", "--row", "-1"], "--row"),
    ],
)
def test_wrong_usage(run, arguments, says, folder, tmp_path):
    files = {"T": folder / "payments.csv", "M": folder / "model.cb", "N": folder / "new.parquet"}
    output = ["-o", tmp_path / "x.csv"] if arguments[0] == "train" else []
    ran = run(*(files.get(word, word) for word in arguments), *output)
    assert ran.code == 2, ran
    assert says in " ".join(ran.err.split())
    assert "Traceback" not in ran.err
    assert not list(tmp_path.iterdir())


# --- wrong input: 1


def a_file(text):
    def make(folder, tmp_path):
        path = tmp_path / "given.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return make


def changed(change):
    def make(folder, tmp_path):
        change(payments(300)).write_csv(tmp_path / "given.csv")
        return tmp_path / "given.csv"

    return make


def with_hole(name):
    return changed(
        lambda t: t.with_columns(
            pl.when(pl.int_range(300) == 5).then(None).otherwise(pl.col(name)).alias(name)
        )
    )


WRONG_TABLES = {
    "no such file": (lambda f, t: t / "nothing.csv", [], "does not exist"),
    "a folder": (lambda f, t: t, [], "is a folder"),
    "empty": (a_file(""), [], "is empty"),
    "blank": (a_file("\n \n"), [], "is empty"),
    "names only": (a_file("amount,fraud\n"), [], "no rows"),
    "latin": (a_file("amount,fraud\n1,j\xe4\n".encode("latin1")), [], "--encoding"),
    "binary": (a_file(b"\x00\x01\x02" * 100), [], "save it as one of these"),
    "a list": (a_file('[{"amount": 1}]'), [], "JSON lines"),
    "damaged gzip": (a_file(gzip.compress(bytes(range(256)) * 9)[:-20]), [], "Copy it again"),
    "damaged parquet": (a_file(b"PAR1" + b"x" * 50), [], "cannot be read"),
    "ragged": (a_file("amount,fraud\n1,yes\n2,no,3,4\n"), [], "4 cells in line 3"),
    "two of a name": (a_file("amount,amount,fraud\n1,2,yes\n"), [], "rename one"),
    "no target": (changed(lambda t: t.drop("fraud")), [], "--target 'fraud' is no column"),
    "near target": (
        changed(lambda t: t.rename({"fraud": "frauds"})), [], "did you mean 'frauds'",
    ),
    "one class": (
        changed(lambda t: t.with_columns(fraud=pl.lit("no"))), [], "at least two classes",
    ),
    "no class": (changed(lambda t: t.with_columns(fraud="amount")), [], "Check --target"),
    "dates as target": (changed(lambda t: t.with_columns(fraud="day")), [], "column of classes"),
    "holes in the target": (with_hole("fraud"), [], "--skip-unlabelled"),
    "holes in a price": (with_hole("amount"), [], "if(missing(amount), 0, amount)"),
    "holes in time": (with_hole("day"), ["--time", "day"], "empty in row 5"),
    "holes in groups": (with_hole("customer_id"), ["--groups", "customer_id"], "empty in row 5"),
    "holes in decisions": (with_hole("blocked"), ["--current", "blocked"], "in every row"),
    "other decisions": (
        changed(lambda t: t.with_columns(blocked=pl.lit("maybe"))),
        ["--current", "blocked"],
        "'maybe', which is no decision: they are no, yes",
    ),
    "one moment": (
        changed(lambda t: t.with_columns(day=pl.lit(1))), ["--time", "day"], "give a finer one",
    ),
    "time in words": (changed(lambda t: t), ["--time", "merchant"], "no order in time"),
    "one group": (
        changed(lambda t: t.with_columns(customer_id=1)), ["--groups", "customer_id"], "too few",
    ),
    "spoilt numbers": (
        changed(
            lambda t: t.with_columns(
                hour=pl.when(pl.int_range(300) == 9).then(pl.lit("unsaid"))
                .otherwise(pl.col("hour").cast(pl.String))
            )
        ),
        [],
        "'unsaid' in row 9",
    ),
    "nothing to learn from": (
        changed(lambda t: t.select("fraud", "amount", "currency")), ["--drop", "amount"], "--keep",
    ),
    "unknown to drop": (changed(lambda t: t), ["--drop", "merchnt"], "did you mean 'merchant'"),
    "unknown positive": (changed(lambda t: t), ["--positive", "maybe"], "none of no, yes"),
    "negative price": (
        changed(lambda t: t.with_columns(pl.col("amount") - 50)), [], "say --benefits",
    ),
    "typo in a price": (changed(lambda t: t), ["--fn", "amuont"], "did you mean 'amount'"),
    "broken price": (changed(lambda t: t), ["--fn", "2 *"], "missing here"),
    "text as price": (changed(lambda t: t), ["--fn", "merchant"], "text where a number"),
    "truth as price": (
        changed(lambda t: t), ["--fn", "if(fraud == 'yes', 1, 2)"], "nobody knows",
    ),
    "no prices": (changed(lambda t: t), ["--fp", "0", "--tp", "0", "--fn", "0"], "zero"),
    "output exists": (changed(lambda t: t), ["-o", "T"], "--force"),
    "output nowhere": (changed(lambda t: t), ["-o", "/nowhere/at/all.cb"], "make it first"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_TABLES)
def test_wrong_tables(run, name, folder, tmp_path):
    make, more, says = WRONG_TABLES[name]
    path = make(folder, tmp_path)
    before = sorted(tmp_path.iterdir())
    given = [path if word == "T" else word for word in more]
    ran = run("train", path, *TRAIN, "-o", tmp_path / "model.cb", *given)
    assert ran.code == 1, ran
    assert says in " ".join(ran.err.split())
    assert ran.err.startswith("costboost: ")
    assert "Traceback" not in ran.err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("fp = ", "no TOML"),
        ("fp = 8\nfm = 3", "'fm' is not known"),
        ("fp = true\nfn = 1", "is no price"),
        ("fp = 1\nfn = [1, 2]", "is no price"),
        ("fp = 1\nfn = 2\n[actions]\na = 1\nb = 2", "both actions and fp"),
        ("[actions]\nreview = 1", "at least two"),
        ("actions = 3", "at least two"),
        ("benefits = 1\nfp = 1\nfn = 2", "true or false"),
        ("[actions.a]\nyes = 1\n[actions.b]\nyes = 0\nno = 1", "lacks the price where no"),
        ("[actions.a]\nyes = 1\nnein = 3\n[actions.b]\nyes = 0\nno = 1", "'nein' is none of"),
        ("[actions.a]\nyes = 'amount +'\nno = 1\n[actions.b]\nyes = 0\nno = 1", "a, yes:"),
    ],
)
def test_wrong_files_of_prices(run, text, says, folder, tmp_path):
    (tmp_path / "costs.toml").write_text(text)
    given = (*TARGET, "--costs", tmp_path / "costs.toml", *QUICK, "-o", tmp_path / "m.cb")
    ran = run("train", folder / "payments.csv", *given)
    assert ran.code == 1, ran
    assert says in " ".join(ran.err.split())


def test_a_file_of_prices_that_is_not_there(run, folder, tmp_path):
    given = (*TARGET, "--costs", tmp_path / "none.toml", "-o", tmp_path / "m.cb")
    ran = run("train", folder / "payments.csv", *given)
    assert (ran.code, "does not exist" in ran.err) == (1, True)


# --- wrong models and new tables: 1


def new_table(change):
    def make(folder, tmp_path):
        change(pl.read_parquet(folder / "new.parquet")).write_parquet(tmp_path / "new.parquet")
        return tmp_path / "new.parquet"

    return make


def same(frame):
    return frame


@pytest.mark.parametrize(
    ("make", "more", "says"),
    [
        (new_table(lambda t: t.drop("merchant")), [], "The model's column 'merchant' is no column"),
        (new_table(lambda t: t.drop("amount")), [], "'amount' is no column"),
        (
            new_table(lambda t: t.with_columns(hour=pl.lit("noon"))),
            [],
            "'hour' holds numbers to the model, and 'noon' in row 0",
        ),
        (new_table(lambda t: t.with_columns(decision=1)), [], "--prefix"),
        (new_table(same), ["--capacity", "maybe=3"], "none of no, yes"),
        (new_table(same), ["--capacity", "yes=3", "--per", "dy"], "did you mean 'day'"),
        (new_table(same), ["--defer", "amount -"], "--defer: a number"),
        (new_table(same), ["--fn", "nothing"], "there is no column 'nothing'"),
        (new_table(same), ["-o", "x.xlsx"], "must end with .csv"),
    ],
)
def test_wrong_new_tables(run, make, more, says, folder, tmp_path, monkeypatch):
    path = make(folder, tmp_path)
    monkeypatch.chdir(tmp_path)
    ran = run("decide", folder / "model.cb", path, "-o", "out.csv", *more)
    assert ran.code == 1, ran
    assert says in " ".join(ran.err.split())
    assert [p.name for p in tmp_path.iterdir()] == ["new.parquet"]


def test_wrong_models(run, folder, tmp_path):
    (tmp_path / "no.cb").write_bytes(b"something else" * 20)
    ran = run("inspect", tmp_path / "no.cb")
    assert (ran.code, "is no costboost model" in ran.err) == (1, True)
    ran = run("inspect", tmp_path / "none.cb")
    assert (ran.code, "costboost train" in ran.err) == (1, True)
    ran = run("decide", folder / "payments.csv", folder / "new.parquet")
    assert (ran.code, "is no costboost model" in ran.err) == (1, True)


def test_rows_that_are_not_there(run, folder):
    ran = run("explain", folder / "model.cb", folder / "new.parquet", "--row", "300")
    assert (ran.code, "numbered from 0 to 299" in ran.err) == (1, True)


# --- what went wrong, told


def test_errors_as_json(run, tmp_path):
    ran = run("inspect", tmp_path / "none.cb", "--json")
    assert ran.code == 1
    assert json.loads(ran.out)["code"] == 1
    assert "does not exist" in json.loads(ran.out)["error"]


def test_tracebacks_only_when_asked_for(tmp_path):
    from costboost.cli import InputError

    with pytest.raises(InputError, match="does not exist"):
        entry.main(["inspect", str(tmp_path / "none.cb"), "--debug"])


def test_what_nobody_thought_of_says_how_to_report_it(run, monkeypatch, folder):
    def broken(*_):
        raise KeyError("surprise")

    monkeypatch.setattr("costboost.cli.models.read_model", broken)
    ran = run("inspect", folder / "model.cb")
    assert ran.code == 1
    assert "KeyError" in ran.err
    assert "--debug" in ran.err
    assert "costboost versions" in ran.err


def test_no_memory(run, monkeypatch, folder):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr("costboost.cli.models.read_model", full)
    assert "not enough memory" in run("inspect", folder / "model.cb").err


def test_interruption_leaves_nothing_and_gives_130(run, monkeypatch, folder, tmp_path):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "costboost.estimators.adaboost.classifier.CostBoostClassifier.fit", interrupted
    )
    ran = run("train", folder / "payments.csv", *TRAIN, "-o", tmp_path / "m.cb")
    assert ran.code == 130
    assert "interrupted" in ran.err
    assert not list(tmp_path.iterdir())


def test_an_interrupted_import_is_an_interruption(run, monkeypatch, folder):
    def importing(*_):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise ImportError("a part of a package is missing") from None

    monkeypatch.setattr("costboost.cli.models.read_model", importing)
    ran = run("inspect", folder / "model.cb")
    assert (ran.code, "interrupted" in ran.err) == (130, True)


def test_a_model_is_written_before_it_is_told_of(run, monkeypatch, folder, tmp_path):
    def unprintable(*_, **__):
        raise RuntimeError("the screen is broken")

    monkeypatch.setattr("costboost.cli.train.show_bill", unprintable)
    ran = run("train", folder / "payments.csv", *TRAIN, "-o", tmp_path / "m.cb")
    assert ran.code == 1
    assert run("inspect", tmp_path / "m.cb").code == 0


def test_a_model_whose_name_was_taken_meanwhile_is_kept_beside_it(
    run, monkeypatch, folder, tmp_path
):
    from costboost.cli import train

    fit = train.fit

    def slow(*given):
        (tmp_path / "m.cb").write_text("of another program")
        return fit(*given)

    monkeypatch.setattr(train, "fit", slow)
    ran = run("train", folder / "payments.csv", *TRAIN, "-o", tmp_path / "m.cb")
    assert ran.code == 1
    assert "m.cb exists" in ran.err
    assert "This model is in" in ran.err
    assert (tmp_path / "m.cb").read_text() == "of another program"
    assert run("inspect", tmp_path / "m-2.cb").code == 0


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_gives_130(folder, tmp_path):
    command = [
        sys.executable,
        "-m",
        "costboost",
        "train",
        "-",
        *TRAIN,
        "-o",
        str(tmp_path / "m.cb"),
    ]
    start = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    default = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a shell may have it ignored
    with subprocess.Popen(command, preexec_fn=default, **start) as process:
        process.stdin.write(b"a,b\n" * 100_000)  # more than a pipe holds: it is being read
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(timeout=60) == 130
        finally:
            process.kill()
        assert b"Traceback" not in process.stderr.read()


def test_pictures_without_matplotlib_say_so(run, monkeypatch, folder, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    methods = ("--method", "adamec", "--method", "adaboost", "--rounds", "2", "--folds", "2")
    picture = tmp_path / "cd.png"
    ran = run("compare", folder / "later.csv", *TARGET, *PRICES, *methods, "--picture", picture)
    assert ran.code == 1
    assert "costboost[plot]" in ran.err
