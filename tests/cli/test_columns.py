"""Which columns are features, and how they look to a model."""

import datetime

import numpy as np
import polars as pl
import pytest

from costboost.cli import InputError
from costboost.cli.columns import Feature, choose, features_of
from costboost.cli.dates import Problem

N = 300
RNG = np.random.default_rng(0)
DAYS = [datetime.date(2026, 1, 1) + datetime.timedelta(i) for i in range(N)]
COLUMNS = {
    "amount": RNG.lognormal(3, 1, N),
    "cents": RNG.permutation(N) * 7,  # all different, in no order: a number
    "count": RNG.integers(0, 5, N),
    "flag": RNG.uniform(size=N) < 0.5,
    "shop": RNG.choice(["a", "b", "c"], N),
    "town": [f"town {i}" for i in RNG.integers(0, 200, N)],
    "sometimes": ["x" if i % 3 else None for i in range(N)],  # its holes may tell something
    "row": np.arange(N),
    "number": N - np.arange(N),
    "order_id": RNG.permutation(N) + 10_000,
    "accountKey": RNG.permutation(N),
    "customer_id": RNG.integers(0, 2900, N) * 3,
    "store_id": RNG.integers(0, 12, N),
    "uuid": [f"{i:032x}" for i in range(N)],
    "one": np.ones(N),
    "empty": [None] * N,
    "day": DAYS,
    "many": [[1, 2]] * N,
}
FRAME = pl.DataFrame(COLUMNS).with_columns(
    waited=pl.Series(DAYS).cast(pl.Datetime) - datetime.datetime(2025, 12, 31),
    clock=pl.Series([datetime.time(i % 24, 30) for i in range(N)]),
    kind=pl.Series(["u", "v"] * (N // 2)).cast(pl.Categorical),
)


def test_every_column_has_its_place():
    found = choose(FRAME, {})
    kinds = {feature.name: feature.kind for feature in found.features}
    assert kinds == {
        **dict.fromkeys(["amount", "cents", "count", "flag", "store_id"], "number"),
        **dict.fromkeys(["shop", "town", "sometimes", "kind"], "category"),
        "waited": "duration",
        "clock": "clock",
    }
    words = {name: why.split(",")[0].split(";")[0] for name, why in found.left_out.items()}
    assert words == {
        **dict.fromkeys(["row", "number", "order_id", "accountKey", "uuid"], "an identifier"),
        "customer_id": "an identifier by its name",
        "one": "constant",
        "empty": "empty in every row",
        "day": "dates",
        "many": "List(Int64)",
    }


def test_what_is_asked_for_overrules():
    found = choose(
        FRAME,
        {"shop": "the target"},
        drop=["amount"],
        keep=["order_id", "one"],
        as_number=["day"],
        as_category=["count", "customer_id"],
    )
    kinds = {feature.name: feature.kind for feature in found.features}
    assert kinds["order_id"] == kinds["one"] == "number"
    assert kinds["day"] == "date"
    assert kinds["count"] == kinds["customer_id"] == "category"
    assert found.left_out["shop"] == "the target"
    assert found.left_out["amount"] == "left out by --drop"


def test_few_rows_have_no_identifiers():
    found = choose(FRAME[:19].select("order_id", "uuid", "amount"), {})
    assert found.names() == ["order_id", "uuid", "amount"]


def test_kinds_as_the_model_sees_them():
    kinds = {"day": "date", "waited": "duration", "clock": "clock", "count": "category"}
    X = features_of(FRAME, [Feature(name, kind) for name, kind in kinds.items()])
    assert X["day"][0] == (datetime.date(2026, 1, 1) - datetime.date(1970, 1, 1)).days
    assert X["waited"].to_list()[:3] == [1.0, 2.0, 3.0]
    assert X["clock"].to_list()[:3] == [0.5, 1.5, 2.5]
    assert X["count"].dtype == pl.String
    numbers = features_of(FRAME, [Feature("amount", "number"), Feature("flag", "number")])
    assert numbers.equals(FRAME.select("amount", "flag"))


def test_dates_with_times_and_empty_columns_of_new_tables():
    moments = pl.DataFrame({"day": [datetime.datetime(1970, 1, 2, 12)], "a": [None], "b": [None]})
    features = [Feature("day", "date"), Feature("a", "number"), Feature("b", "category")]
    X = features_of(moments, features)
    assert X["day"][0] == 1.5
    assert X.dtypes[1:] == [pl.Float64, pl.String]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("number", ["a", "b"]),
        ("number", DAYS[:2]),
        ("category", DAYS[:2]),
        ("category", [[1], [2]]),
        ("date", [1, 2]),
        ("duration", [1.0, 2.0]),
        ("clock", ["10:00", "11:00"]),
    ],
)
def test_other_kinds_than_in_training_are_refused(kind, values):
    with pytest.raises(InputError, match="give it as it was"):
        features_of(pl.DataFrame({"x": values}), [Feature("x", kind)])


def test_what_could_not_be_understood():
    frame = pl.DataFrame({"x": ["1.000"] * 30, "day": ["1/2/2026"] * 30, "y": range(30)})
    problems = {"x": Problem("x is unclear"), "day": Problem("day is unclear", is_date=True)}
    with pytest.raises(InputError, match="x is unclear"):
        choose(frame, {}, problems=problems)
    with pytest.raises(InputError, match="day is unclear"):
        choose(frame, {}, drop=["x"], as_number=["day"], keep=["y"], problems=problems)
    found = choose(frame, {}, drop=["x"], keep=["y"], problems=problems)
    assert found.names() == ["y"]
    assert found.left_out["day"] == "dates in an order that is not known; see --dates"
