"""Every option of the commands that ask a model arrives where the work is done."""

from dataclasses import replace

import pytest

from costboost.cli.cells import Form
from costboost.cli.prices import Prices

SIGNS = ("--fp", "8", "--fn", "2 * amount", "--tp", "1", "--tn", "0.5", "--positive", "yes")


@pytest.mark.parametrize("command", ["decide", "evaluate", "explain", "report"])
def test_prices_are_read_alike_by_all_commands(arriving, command):
    row = ("--row", "3") if command == "explain" else ()
    (model, table, prices, screen), _ = arriving(
        command, "m.cb", "t.csv", *SIGNS, "--benefits", *row
    )
    assert (model, table) == ("m.cb", "t.csv")
    signs = {"fp": "8", "fn": "2 * amount", "tp": "1", "tn": "0.5"}
    assert prices == Prices(**signs, positive="yes", benefits=True)
    assert not screen.as_json
    (*_, none, screen), _ = arriving(command, "m.cb", "t.csv", "--json", *row)
    assert none == Prices()
    assert screen.as_json


@pytest.mark.parametrize("command", ["decide", "evaluate", "explain", "report"])
def test_a_file_of_prices_stands_for_the_signs(arriving, command, tmp_path):
    (tmp_path / "costs.toml").write_text('fp = 3\nfn = "amount"\ncurrency = "CHF"\n')
    row = ("--row", "3") if command == "explain" else ()
    (_, _, prices, _), _ = arriving(
        command, "m.cb", "t.csv", "--costs", tmp_path / "costs.toml", *row
    )
    assert prices == Prices(fp="3", fn="amount", currency="CHF")


def test_the_options_of_decide(arriving):
    limits = ("--capacity", "yes=5", "--capacity", "review=0.1", "--per", "day")
    rest = ("--defer", "amount / 9", "--only-decisions", "--prefix", "p_", "--force")
    rest += ("--explore", "0.01", "--never", "yes=vip", "--never", "no=old", "--seed", "4")
    _, more = arriving("decide", "m.cb", "t.csv", "-o", "d.csv", *limits, *rest)
    assert more == {
        "output": "d.csv", "force": True, "capacity": ["yes=5", "review=0.1"], "per": "day",
        "defer": "amount / 9", "only_decisions": True, "prefix": "p_", "form": Form(),
        "explore": 0.01, "never": ["yes=vip", "no=old"], "seed": 4, "parity": None, "regret": None,
        "ask": None, "column_costs": None,
    }  # fmt: skip
    _, more = arriving("decide", "m.cb", "t.csv")
    assert more == {
        "output": None, "force": False, "capacity": (), "per": None, "defer": None,
        "only_decisions": False, "prefix": "", "form": Form(), "explore": None, "never": (),
        "seed": 0, "parity": None, "regret": None, "ask": None, "column_costs": None,
    }  # fmt: skip
    asked = ("--parity", "region", "--parity-of", "missed", "--parity-within", "0.1")
    _, more = arriving("decide", "m.cb", "t.csv", *asked, "--regret", "minimax")
    parity = more["parity"]
    assert (parity.groups, parity.of, parity.within, parity.action) == (
        "region",
        "missed",
        0.1,
        None,
    )
    assert more["regret"] == "minimax"


@pytest.mark.parametrize(
    ("output", "aside"), [((), True), (("-o", "-"), True), (("-o", "d.csv"), False)]
)
def test_words_step_aside_where_decisions_go_to_standard_output(arriving, output, aside):
    (*_, screen), _ = arriving("decide", "m.cb", "t.csv", *output)
    assert screen._file.err is aside


def test_the_options_of_the_others(arriving):
    columns = ("--target", "truth", "--current", "now")
    _, more = arriving("evaluate", "m.cb", "t.csv", *columns, "--groups", "who")
    late = {"time": None, "gap": None, "label_delay": None, "label_time": None, "propensity": None}
    late |= {"scenarios": {}, "promise": None, "cap": None}
    assert more == {"target": "truth", "current": "now", "groups": "who", "form": Form(), **late}
    given = ("--time", "day", "--gap", "7d", "--label-delay", "30d", "--label-time", "known")
    _, more = arriving("evaluate", "m.cb", "t.csv", *given)
    late = {"time": "day", "gap": "7d", "label_delay": "30d", "label_time": "known"}
    assert {name: more[name] for name in late} == late
    _, more = arriving("explain", "m.cb", "t.csv", "--row", "0")
    assert more == {"row": 0, "identifier": None, "form": Form()}
    given = ("-o", "r.htm", "--rows", "--title", "A page", "--force")
    _, more = arriving("report", "m.cb", "t.csv", *columns, *given)
    assert more == {
        "output": "r.htm", "force": True, "target": "truth", "current": "now", "rows": True,
        "title": "A page", "form": Form(), "scenarios": {}, "promise": None, "cap": None,
        "parity": None, "swap": (),
    }  # fmt: skip
    (model, screen), more = arriving("inspect", "m.cb", "--json")
    assert (model, screen.as_json, more) == ("m.cb", True, {})


WRITTEN = ("--decimal", ",", "--thousands", "none", "--missing", "x", "--missing", "-9", "--dates")
FORM = {"decimal": ",", "thousands": "", "missing": ("x", "-9"), "dates": "mdy"}


@pytest.mark.parametrize("command", ["decide", "evaluate", "explain", "report", "train", "compare"])
def test_how_a_table_is_written_is_read_alike_by_all_commands(arriving, command):
    given = (
        "--encoding",
        "latin-1",
        "--sheet",
        "May",
        *{"explain": ("--id", "7")}.get(command, ()),
    )
    labels = ("--label", "Ja=yes", "--label", "?=", "--tidy-labels")
    asked = labels if command not in ("decide", "explain") else ()
    table = ("t.csv", "--target", "y") if command in ("train", "compare") else ("m.cb", "t.csv")
    parts, more = arriving(command, *table, *WRITTEN, "mdy", *given, *asked)
    form = more["form"] if "form" in more else parts[2].form
    expected = Form(**FORM, encoding="latin-1", sheet="May")
    if asked:
        expected = replace(expected, labels={"Ja": "yes", "?": ""}, tidy_labels=True)
    assert form == expected


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("--decimal", "x"), "--decimal 'x' is not known"),
        (("--thousands", "_"), "--thousands '_' is not known"),
        (("--decimal", ".", "--thousands", "."), "are the same sign"),
        (("--dates", "ymd"), "dmy or mdy"),
        (("--label", "Ja"), "write TEXT=LABEL"),
    ],
)
def test_forms_that_there_are_none_of(run, given, says):
    ran = run("evaluate", "m.cb", "t.csv", *given)
    assert (ran.code, says in " ".join(ran.err.split())) == (2, True), ran
