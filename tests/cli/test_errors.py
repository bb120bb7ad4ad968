"""What users can do wrong, and the exit code that each of it gives."""

import pytest

from costboost.cli import INTERRUPTED, InputError, UsageError, commands
from costboost.cli.main import main


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError("the table is odd"), 1, "costboost: the table is odd\n"),
        (
            UsageError("one option too many"),
            2,
            "costboost: one option too many\nTry 'costboost train --help'.\n",
        ),
        (
            KeyboardInterrupt(),
            INTERRUPTED,
            "costboost: interrupted; no file was left half written\n",
        ),
    ],
)
def test_each_error_has_its_code_and_says_so_once(error, code, said, monkeypatch, capsys):
    def call(given):
        raise error

    monkeypatch.setattr(commands, "call", call)
    assert main(["train", "t.csv"]) == code
    assert capsys.readouterr().err == said


def test_wrong_usage_is_no_wrong_value():
    """What the library finds wrong with a value gives 1: usage must not be taken for that."""
    assert issubclass(InputError, ValueError)
    assert not issubclass(UsageError, ValueError)
