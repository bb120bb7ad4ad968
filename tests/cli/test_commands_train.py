"""Every option of the commands that train arrives where the work is done."""

import pytest

from costboost.cli.prices import Prices
from costboost.cli.train import Choices, Maker

PRICES = ("--fp", "8", "--fn", "amount", "--tp", "1", "--tn", "2", "--positive", "yes")
COLUMNS = (
    "--target", "fraud", "--time", "day", "--groups", "who", "--current", "now", "--drop", "a",
    "--drop", "b", "--keep", "c", "--as-number", "d", "--as-category", "e", "--as-category", "f",
    "--skip-unlabelled",
)  # fmt: skip
TRAINING = ("--rounds", "7", "--calibration", "beta", "--seed", "3", "--jobs", "2")


@pytest.mark.parametrize("command", ["train", "compare"])
def test_columns_prices_and_settings_arrive_alike(arriving, command):
    money = ("--benefits", "--currency", "EUR")
    (table, prices, asked, screen), more = arriving(
        command, "t.csv", *COLUMNS, *PRICES, *money, *TRAINING
    )
    assert table == "t.csv"
    signs = {"fp": "8", "fn": "amount", "tp": "1", "tn": "2"}
    assert prices == Prices(**signs, positive="yes", benefits=True, currency="EUR")
    assert asked == Choices(
        target="fraud", time="day", groups="who", current="now", drop=["a", "b"], keep=["c"],
        as_number=["d"], as_category=["e", "f"], skip_unlabelled=True, seed=3,
    )  # fmt: skip
    assert not screen.as_json
    assert more["maker"] == Maker(rounds=7, calibration="beta", seed=3, jobs=2)


@pytest.mark.parametrize("command", ["train", "compare"])
def test_what_is_not_given_is_as_the_help_says(arriving, command):
    (_, prices, asked, _), more = arriving(command, "t.csv", "--target", "y")
    assert prices == Prices()
    assert asked == Choices(target="y")
    assert more["maker"] == Maker()
    assert more["force"] is False


def test_what_only_train_takes(arriving):
    _, more = arriving("train", "t.csv", "--target", "y")
    assert (more["output"], more["method"], more["holdout"], more["refit"]) == (
        "model.cb", "auto", 0.2, False,
    )  # fmt: skip
    given = ("-o", "m.cb", "--method", "csb2", "--holdout", "0.3", "--refit", "--force")
    _, more = arriving("train", "t.csv", "--target", "y", *given)
    assert (more["output"], more["method"], more["holdout"], more["refit"], more["force"]) == (
        "m.cb", "csb2", 0.3, True, True,
    )  # fmt: skip


def test_what_only_compare_takes(arriving):
    _, more = arriving("compare", "t.csv", "--target", "y")
    assert (more["methods"], more["models"], more["n_folds"], more["picture"]) == ([], [], 5, None)
    methods = ("--method", "auto", "--method", "csb2", "--model", "m.cb")
    _, more = arriving(
        "compare", "t.csv", "--target", "y", *methods, "--folds", "3", "--picture", "p.svg"
    )
    assert (more["methods"], more["models"], more["n_folds"], more["picture"]) == (
        ["auto", "csb2"], ["m.cb"], 3, "p.svg",
    )  # fmt: skip


def test_one_fold_is_none(run):
    ran = run("compare", "t.csv", "--target", "y", "--folds", "1")
    assert ran.code == 2
    assert "--folds" in ran.err
