"""Options that commands share: completed by a shell, bounded, described alike."""

import pytest
import typer

from costboost.cli.commands import app
from costboost.cli.options import _methods
from costboost.cli.train import method_names

# These mean another thing in each command.
OWN = {"--output", "--target", "--method", "--rows", "--capacity"}


def test_methods_are_completed():
    assert "adacost" in _methods("ada")
    assert _methods("gradient:") == [
        "gradient:log", "gradient:exponential", "gradient:cost-exponential",
        "gradient:expected-cost",
    ]  # fmt: skip


def test_completion_offers_all_methods_and_none_for_what_is_no_beginning():
    assert _methods("") == method_names()
    assert _methods("Ada") == _methods("boost") == []


def test_commands_describe_an_option_that_they_share_alike():
    texts = {}
    for command in typer.main.get_command(app).commands.values():
        for option in command.params:
            assert option.param_type_name == "argument" or option.help, (command.name, option.name)
            if option.opts[0] not in OWN:
                texts.setdefault(option.opts[0], set()).add(getattr(option, "help", ""))
    assert {name: found for name, found in texts.items() if len(found) > 1} == {}
    assert {"--fp", "--costs", "--seed", "--json"} <= set(texts)


@pytest.mark.parametrize(
    ("option", "value"), [("--rounds", "0"), ("--rounds", "2.5"), ("--seed", "-1"), ("--jobs", "x")]
)
def test_values_out_of_bounds_are_refused_before_any_file_is_read(run, option, value):
    ran = run("train", "nowhere.csv", "--target", "y", option, value)
    assert ran.code == 2
    assert option in ran.err
