"""Numbers as people write them: the same values whatever the signs, or a refusal by name."""

import datetime
import itertools

import numpy as np
import polars as pl
import pytest

from costboost.cli import InputError
from costboost.cli.cells import Form, understand

VALUES = [1234567.89, 1000.0, -2500.5, 12.125, 0.5, -0.25, 999.0]


def written(value, decimal, thousands):
    """Write a number by Python's own format, with other signs."""
    text = f"{value:,.3f}" if thousands else f"{value:.3f}"
    return text.translate(str.maketrans({",": thousands or "", ".": decimal}))


def read(columns, separator=";", known=None, numbers=(), **asked):
    frame = pl.DataFrame(columns)
    asked = Form.asked(**asked)
    more = {"source": "t.csv", "separator": separator, "numbers": numbers}
    return understand(frame, known or Form(), asked, **more)


SIGNS = [(d, t) for d, t in itertools.product(".,", ["", ".", ",", " ", "'", "\u202f"]) if d != t]


@pytest.mark.parametrize(("decimal", "thousands"), SIGNS)
@pytest.mark.parametrize("around", ["{}", "$ {}", "{} EUR", " {} "])
def test_numbers_are_the_same_however_they_are_written(decimal, thousands, around):
    cells = [around.format(written(v, decimal, thousands)) for v in VALUES]
    assert read({"a": cells}).frame["a"].to_list() == VALUES


@pytest.mark.parametrize(("decimal", "one"), [(",", 1000), (".", 1.0)])
def test_what_one_column_tells_holds_for_all(decimal, one):
    found = read({"a": ["1.000", "2.500"], "b": [f"12{decimal}5", "3"]})
    assert found.frame["a"].to_list() == [one, 2.5 * one]
    assert found.frame["b"].to_list() == [12.5, 3.0]
    assert found.form.decimal == decimal


@pytest.mark.parametrize("cell", ["1.000", "1,000"])
def test_what_nothing_tells_is_refused_with_its_cell(cell):
    found = read({"a": ["5", cell]})
    assert f"'{cell}' in row 1, which may be 1000 or 1.000" in found.problems["a"].text
    assert read({"a": ["5", cell]}, decimal=".").frame["a"][1] == (1 if "." in cell else 1000)
    assert read({"a": ["5", cell]}, decimal=",").frame["a"][1] == (1000 if "." in cell else 1)
    assert read({"a": ["5", cell]}, separator=",").frame["a"][1] == (1 if "." in cell else 1000)


def test_columns_that_contradict_each_other_are_named():
    with pytest.raises(InputError, match=r"',' \('a', '12,5' in row 1\) and '.' \('b', '1.5'"):
        read({"a": ["1", "12,5"], "b": ["1.5", "2"]})
    found = read({"a": ["1", "12,5"], "b": ["1.5", "2"]}, decimal=",")
    assert "'1.5' in row 0, which is no number" in found.problems["b"].text


@pytest.mark.parametrize("marker", ["nan", "NaN", "NA", "NULL", "n/a", "?", "-", "#N/A", "", " "])
def test_what_is_missing(marker):
    found = read({"a": ["1.5", marker, "2"], "b": ["x", marker, "y"], "t": ["true", marker, "no"]})
    assert found.frame["a"].to_list() == [1.5, None, 2.0]
    assert found.frame["b"].to_list() == ["x", marker, "y"]  # it may be a category
    everywhere = read({"a": ["1", "-999"], "b": ["x", "-999"]}, missing=["-999"])
    assert everywhere.frame.rows() == [(1, "x"), (None, None)]


def test_numbers_spoilt_by_words():
    cells = [str(i) for i in range(50)]
    spoilt = [*cells[:7], "unknown", *cells[8:]]
    assert "1 cell, such as 'unknown' in row 7" in read({"a": spoilt}).problems["a"].text
    assert read({"a": spoilt}, missing=["unknown"]).frame["a"].null_count() == 1
    half = ["low", "high"] * 10 + cells[:30]
    assert "its cells are numbers but for 20 cells" in read({"a": half}).notes["a"]
    assert not read({"a": ["low", "high"] * 30 + cells[:30]}).notes


def test_currencies():
    assert read({"a": ["$1", "-$2.50", "($3.00)"]}).frame["a"].to_list() == [1, -2.5, -3]
    assert (
        "several currencies, '$1' in row 0 and" in read({"a": ["$1", "2 EUR"]}).problems["a"].text
    )
    known = read({"a": ["$1", "$2.50"]}).form
    assert known.currencies == {"a": "$"}
    assert (
        "is in $ where the model was trained"
        in read({"a": ["3 EUR"]}, known=known).problems["a"][0]
    )


@pytest.mark.parametrize(
    ("cells", "order", "second"),
    [
        (["12/31/2026", "02/03/2026"], {}, (2, 3)),
        (["31/12/2026", "02/03/2026"], {}, (3, 2)),
        (["31.12.2026", "02.03.2026"], {}, (3, 2)),
        (["2026-12-31", "2026-2-3"], {}, (2, 3)),
        (["01/02/2026", "02/03/2026"], {"dates": "mdy"}, (2, 3)),
        (["01/02/2026", "02/03/2026"], {"dates": "dmy"}, (3, 2)),
    ],
)
def test_dates(cells, order, second):
    assert read({"d": cells}, **order).frame["d"][1] == datetime.date(2026, *second)
    timed = read({"d": [f"{cell} 1:30 PM" for cell in cells]}, **order).frame["d"]
    assert timed[1] == datetime.datetime(2026, *second, 13, 30)


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (["01/02/2026", "02/03/2026"], "say --dates dmy or mdy"),
        (["31/12/2026", "12/31/2026"], "of two kinds, '31/12/2026' in row 0 and '12/31/2026'"),
        (["31.12.2026", "31.02.2026"], "'31.02.2026' in row 1, which is none"),
        (["1/2/26", "3/4/26"], "years of two digits"),
    ],
)
def test_dates_that_are_not_understood(cells, says):
    problem = read({"d": cells}).problems["d"]
    assert problem.is_date
    assert says in problem.text


def test_a_later_file_is_read_as_the_first():
    known = read({"a": ["1.000", "12,5"], "d": ["31/12/2026", "1/1/2026"]}).form
    found = read({"a": ["2.000"], "d": ["2/3/2026"]}, known=known)
    assert found.frame.rows() == [(2000, datetime.date(2026, 3, 2))]
    with pytest.raises(InputError, match=r"'12.5' in row 0.*trained on with ',': say --decimal \."):
        read({"a": ["12.5"]}, known=known)
    assert read({"a": ["12.5"]}, known=known, decimal=".").frame["a"][0] == 12.5
    spoilt = read({"a": ["noon", "3"]}, known=known, numbers=["a"])
    assert "'noon' in row 0" in spoilt.problems["a"].text
    assert read({"a": [None, ""]}, known=known, numbers=["a"]).frame["a"].dtype == pl.Float64


def test_numbers_of_computers_are_read_as_they_are():
    rng = np.random.default_rng(0)
    floats = [*rng.normal(size=50), 1e-300, 1.5e300, -0.0]
    whole = rng.integers(-(2**62), 2**62, 53).tolist()
    found = read({"f": [repr(float(v)) for v in floats], "n": [str(v) for v in whole]})
    assert found.frame["f"].to_list() == floats
    assert found.frame["n"].to_list() == whole
    assert found.remarks == []
    assert read({"n": ["9" * 25, "1"]}).frame["n"].to_list() == ["9" * 25, "1"]
