"""A table meets a recipe: parts of columns, prices of rows, and what does not fit."""

import numpy as np
import polars as pl
import pytest

from costboost import CostBoostClassifier, Costs
from costboost.cli import InputError, UsageError
from costboost.cli.cells import Form
from costboost.cli.columns import Feature
from costboost.cli.output import Screen
from costboost.cli.prices import Prices
from costboost.cli.recipe import Kept, Recipe, load_rows, read_model, read_rows, take_roles

SCREEN = Screen(True)
FRAME = pl.DataFrame(
    {
        "amount": [10.0, 20.0, 30.0, 40.0],
        "shop": ["a", "b", "a", "c"],
        "who": ["y", "x", "y", "z"],
        "blocked": [True, False, True, False],
        "fraud": ["yes", "no", "no", "yes"],
    }
)
FEATURES = (Feature("amount", "number"), Feature("shop", "category"))
PRICES = Prices(fp="8", fn="2 * amount", positive="yes")
CLASSES = np.array(["no", "yes"])


def whole():
    parts = {"target": "fraud", "current": "blocked", "groups": "who"}
    return read_rows(FRAME, FEATURES, PRICES, CLASSES, **parts)


def test_every_row_gets_its_features_truth_prices_and_group():
    rows = whole()
    assert len(rows) == 4
    assert rows.X.equals(FRAME.select("amount", "shop"))
    assert rows.truth.tolist() == ["yes", "no", "no", "yes"]
    assert rows.current.tolist() == ["yes", "no", "yes", "no"]
    assert rows.groups.tolist() == [1, 0, 1, 2]
    assert (rows.positive, rows.actions) == ("yes", ["no", "yes"])
    paid = rows.costs.of_decisions(rows.truth, np.array(["no", "yes", "no", "yes"]))
    assert paid.tolist() == [20.0, 8.0, 0.0, 0.0]


@pytest.mark.parametrize("index", [[2, 0], [3], [], [1, 1, 1]])
def test_rows_that_are_taken_keep_what_is_theirs(index):
    every, some = whole(), whole().take(np.array(index, dtype=np.intp))
    assert len(some) == len(index)
    assert some.frame.equals(FRAME[index])
    assert some.X.equals(every.X[index])
    for name in ("y", "current", "groups"):
        assert getattr(some, name).tolist() == getattr(every, name)[index].tolist()
    nothing = np.full(4, "no")
    np.testing.assert_array_equal(
        some.costs.of_decisions(some.truth, nothing[index]),
        every.costs.of_decisions(every.truth, nothing)[index],
    )


def test_what_is_not_known_is_left_open():
    rows = read_rows(FRAME, FEATURES, PRICES, CLASSES)
    assert rows.y is rows.current is rows.groups is None
    assert rows.take(np.array([1])).y is None


def test_each_column_plays_one_part():
    take_roles(FRAME, {"--target": "fraud", "--time": None, "--current": "blocked"})
    with pytest.raises(UsageError, match="--current and --target both name the column 'fraud'"):
        take_roles(FRAME, {"--target": "fraud", "--time": None, "--current": "fraud"})
    with pytest.raises(InputError, match=r"--time 'frud' is no column .* did you mean 'fraud'"):
        take_roles(FRAME, {"--target": "fraud", "--time": "frud"})


def test_a_group_without_a_name_is_refused_with_its_row():
    holed = FRAME.with_columns(who=pl.Series(["y", None, "y", None]))
    with pytest.raises(InputError, match="'who' is empty in row 1"):
        read_rows(holed, FEATURES, PRICES, CLASSES, groups="who")


# --- rows that a model is asked about


def kept_by_python(costs, names=("amount", "shop"), table=FRAME):
    X = table.select(names) if names else table.select("amount").to_numpy()
    bound = costs.bind_table(table)
    model = CostBoostClassifier("adaboost", 2).fit(X, table["fraud"].to_numpy(), costs=bound)
    return Kept(model, Recipe(), "m.cb", "0", 0)


@pytest.fixture
def path(tmp_path):
    FRAME.write_csv(tmp_path / "t.csv")
    return str(tmp_path / "t.csv")


def test_prices_given_anew_replace_those_of_the_model_one_by_one(folder):
    kept = read_model(str(folder / "model.cb"))
    later = str(folder / "later.csv")
    rows, read = load_rows(kept, later, Prices(fp="3"), SCREEN, form=Form(), needs_target=True)
    assert read.source.name == later
    assert rows.X.columns == [feature.name for feature in kept.recipe.features]
    assert (rows.costs.fp, rows.costs.tp) == (3.0, 8.0)
    np.testing.assert_array_equal(rows.costs.fn, rows.frame["amount"])
    assert set(rows.current) == {"no", "yes"}  # the column that the model remembers
    unasked, _ = load_rows(kept, later, Prices(), SCREEN, form=Form())
    assert unasked.y is unasked.current is None
    assert unasked.costs.fp == 8.0


def test_a_model_of_python_uses_its_own_prices_and_the_types_of_the_table(path):
    kept = kept_by_python(Costs(fp=3, fn=7, positive="yes"))
    rows, _ = load_rows(kept, path, Prices(), SCREEN, form=Form())
    assert (rows.costs.fp, rows.costs.fn, rows.positive) == (3, 7, "yes")
    assert rows.X.dtypes == [pl.Float64, pl.String]
    rows, _ = load_rows(
        kept, path, Prices(fp="1", fn="amount", positive="yes"), SCREEN, form=Form()
    )
    np.testing.assert_array_equal(rows.costs.fn, FRAME["amount"])


def test_what_a_model_of_python_does_not_say_is_asked_for(path):
    kept = kept_by_python(Costs(fp=3, fn=FRAME["amount"].to_numpy(), positive="yes"))
    with pytest.raises(UsageError, match="prices of other rows: give --fp and --fn"):
        load_rows(kept, path, Prices(), SCREEN, form=Form())
    with pytest.raises(UsageError, match="give --target"):
        load_rows(kept, path, PRICES, SCREEN, form=Form(), needs_target=True)
    nameless = kept_by_python(Costs(fp=3, fn=7, positive="yes"), names=None)
    with pytest.raises(InputError, match="fit it on a DataFrame"):
        load_rows(nameless, path, PRICES, SCREEN, form=Form())


def test_a_class_that_the_model_does_not_know_is_refused(tmp_path):
    odd = FRAME.with_columns(fraud=pl.Series(["yes", "no", "perhaps", "yes"]))
    odd.write_csv(tmp_path / "odd.csv")
    kept = kept_by_python(Costs(fp=3, fn=7, positive="yes"))
    with pytest.raises(InputError, match=r"holds 'perhaps' \(1 row: 2\).*its classes are no, yes"):
        load_rows(
            kept,
            str(tmp_path / "odd.csv"),
            Prices(),
            SCREEN,
            form=Form(),
            target="fraud",
            needs_target=True,
        )
