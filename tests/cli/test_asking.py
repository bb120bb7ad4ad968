"""Every option of the commands that ask a model arrives where the work is done."""

import pytest

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
    _, more = arriving("decide", "m.cb", "t.csv", "-o", "d.csv", *limits, *rest)
    assert more == {
        "output": "d.csv", "force": True, "capacity": ["yes=5", "review=0.1"], "per": "day",
        "defer": "amount / 9", "only_decisions": True, "prefix": "p_",
    }  # fmt: skip
    _, more = arriving("decide", "m.cb", "t.csv")
    assert more == {
        "output": None, "force": False, "capacity": (), "per": None, "defer": None,
        "only_decisions": False, "prefix": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("output", "aside"), [((), True), (("-o", "-"), True), (("-o", "d.csv"), False)]
)
def test_words_step_aside_where_decisions_go_to_standard_output(arriving, output, aside):
    (*_, screen), _ = arriving("decide", "m.cb", "t.csv", *output)
    assert screen.out.stderr is aside


def test_the_options_of_the_others(arriving):
    columns = ("--target", "truth", "--current", "now")
    _, more = arriving("evaluate", "m.cb", "t.csv", *columns, "--groups", "who", "--seed", "4")
    assert more == {"target": "truth", "current": "now", "groups": "who", "seed": 4}
    _, more = arriving("explain", "m.cb", "t.csv", "--row", "0")
    assert more == {"row": 0}
    given = ("-o", "r.htm", "--rows", "--title", "A page", "--force")
    _, more = arriving("report", "m.cb", "t.csv", *columns, *given)
    assert more == {
        "output": "r.htm", "force": True, "target": "truth", "current": "now", "rows": True,
        "title": "A page",
    }  # fmt: skip
    (model, screen), more = arriving("inspect", "m.cb", "--json")
    assert (model, screen.as_json, more) == ("m.cb", True, {})
