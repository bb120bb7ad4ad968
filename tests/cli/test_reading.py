"""Files of all kinds: the same table from each, types guessed from all rows."""

import datetime
import gzip
import io

import polars as pl
import pytest

from costboost.cli.errors import InputError
from costboost.cli.reading import read_cells, read_source, read_table, with_zeros

FRAME = pl.DataFrame(
    {
        "a": [1.5, 2.0, None],
        "b": ["x", "\N{SNOWMAN}", None],
        "n": [1, 2, 3],
        "t": [True, False, True],
    }
)


def arrow_stream(frame):
    data = io.BytesIO()
    frame.write_ipc_stream(data)
    return data.getvalue()


def as_bytes(write):
    def make(frame):
        data = io.BytesIO()
        getattr(frame, write)(data)
        return data.getvalue()

    return make


FORMATS = {
    "csv": as_bytes("write_csv"),
    "csv.gz": lambda f: gzip.compress(as_bytes("write_csv")(f)),
    "parquet": as_bytes("write_parquet"),
    "arrow": as_bytes("write_ipc"),
    "arrows": arrow_stream,
    "jsonl": as_bytes("write_ndjson"),
    "jsonl.gz": lambda f: gzip.compress(as_bytes("write_ndjson")(f)),
    "tsv": lambda f: f.write_csv(separator="\t").encode(),
    "bom.csv": lambda f: b"\xef\xbb\xbf" + f.write_csv().encode(),
}


def read(path, **more):
    return read_table(read_source(str(path)), **more)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("ending", ["own", "csv"])
def test_every_format_whatever_its_name(name, ending, tmp_path):
    path = tmp_path / f"t.{name if ending == 'own' else 'csv'}"
    path.write_bytes(FORMATS[name](FRAME))
    found = read(path)
    assert found.columns == FRAME.columns
    assert found.to_dicts() == FRAME.to_dicts()


def test_semicolons_and_decimal_commas(tmp_path):
    (tmp_path / "t.csv").write_text("amount;what\n12,5;a,b\n-3,25;c\n")
    assert read(tmp_path / "t.csv").to_dict(as_series=False) == {
        "amount": [12.5, -3.25],
        "what": ["a,b", "c"],
    }
    (tmp_path / "t.csv").write_text("amount;what\n12.5;a\n3.25;c\n")
    assert read(tmp_path / "t.csv")["amount"].to_list() == [12.5, 3.25]


def test_types_that_only_later_rows_tell(tmp_path):
    rows = [f"{i},,2026-01-01" for i in range(6000)] + ["0.5,x,2026-01-02", "1,y,2026-01-03"]
    (tmp_path / "t.csv").write_text("number,late,day\n" + "\n".join(rows) + "\n")
    found = read(tmp_path / "t.csv")
    assert found["number"].dtype == pl.Float64
    assert found["number"].sum() == sum(range(6000)) + 1.5
    assert found["late"].to_list()[-2:] == ["x", "y"]
    assert found["day"].dtype == pl.Date
    numbers = [f"{i}," for i in range(6000)] + ["1,2.5"]
    (tmp_path / "t.csv").write_text("a,b\n" + "\n".join(numbers) + "\n")
    assert read(tmp_path / "t.csv")["b"].dtype == pl.Float64


def test_text_stays_text_where_asked(tmp_path):
    (tmp_path / "t.csv").write_text("code,n\n007,1\n7,2\n")
    assert read(tmp_path / "t.csv")["code"].to_list() == [7, 7]
    assert read(tmp_path / "t.csv", as_text=["code", "absent"])["code"].to_list() == ["007", "7"]
    (tmp_path / "t.jsonl").write_text('{"code": 7}\n{"code": 8}\n')
    assert read(tmp_path / "t.jsonl", as_text=["code"])["code"].to_list() == ["7", "8"]


def test_dates_and_quotes(tmp_path):
    (tmp_path / "t.csv").write_text('day,at,"a name, odd"\n2026-11-16,2026-11-16T10:00:00,"x,y"\n')
    found = read(tmp_path / "t.csv")
    assert found["day"][0] == datetime.date(2026, 11, 16)
    assert found["at"][0] == datetime.datetime(2026, 11, 16, 10)
    assert found["a name, odd"][0] == "x,y"


def test_the_digest_is_that_of_the_file(tmp_path):
    (tmp_path / "one.csv").write_text("a\n1\n")
    (tmp_path / "two.csv").write_text("a\n1\n")
    (tmp_path / "other.csv").write_text("a\n2\n")
    one, two, other = (read_source(str(tmp_path / f"{n}.csv")) for n in ("one", "two", "other"))
    assert one.digest == two.digest != other.digest


def test_near_names_are_offered(tmp_path):
    (tmp_path / "payments.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match=r"There is payments\.csv"):
        read_source(str(tmp_path / "payments.parquet"))


def test_decimals_are_numbers(tmp_path):
    frame = pl.DataFrame({"price": ["1.50", "2.25", None]}).cast(pl.Decimal(10, 2))
    frame.write_parquet(tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet")["price"].to_list() == [1.5, 2.25, None]


WRITTEN = (
    b"\xef\xbb\xbfid,t,x,e,day,text,gone\r\n"
    b'00042,TRUE,1.10,1e5,2020-1-2,"a,""b""",""\r\n'
    b'00007,FALSE,-0,2e5,2020-1-3," c\nd",\r\n'
)


def test_cells_are_read_as_they_are_written(tmp_path):
    (tmp_path / "t.csv").write_bytes(WRITTEN)
    cells = read_cells(read_source(str(tmp_path / "t.csv")))
    assert not cells.decimal_comma
    assert cells.frame.rows() == [
        ("00042", "TRUE", "1.10", "1e5", "2020-1-2", 'a,"b"', ""),
        ("00007", "FALSE", "-0", "2e5", "2020-1-3", " c\nd", None),
    ]
    assert cells.frame.columns == ["id", "t", "x", "e", "day", "text", "gone"]
    some = read_cells(read_source(str(tmp_path / "t.csv")), ["x", "id"]).frame
    assert some["id"].to_list() == ["00042", "00007"]
    assert some.width == 2


@pytest.mark.parametrize("name", FORMATS)
def test_only_csv_files_have_cells_without_types(name, tmp_path):
    (tmp_path / "t").write_bytes(FORMATS[name](FRAME))
    assert read_source(str(tmp_path / "t")).is_csv == ("csv" in name or "tsv" in name)


def test_zeros_before_whole_numbers_make_them_text(tmp_path):
    (tmp_path / "t.csv").write_text("a;b;c;d\n007;0;-05;0,5\n12;10;3;02,5\n")
    source = read_source(str(tmp_path / "t.csv"))
    frame = read_table(source)
    assert with_zeros(source, frame).to_dict(as_series=False) == {
        "a": ["007", "12"],
        "b": [0, 10],
        "c": ["-05", "3"],
        "d": [0.5, 2.5],
    }
    assert read_cells(source).decimal_comma
    frame.write_parquet(tmp_path / "t.parquet")
    typed = read_source(str(tmp_path / "t.parquet"))
    assert with_zeros(typed, frame) is frame
