"""Files of all kinds: the same table from each, types guessed from all rows."""

import datetime
import gzip
import io
import sys

import polars as pl
import pytest

from costboost.cli import InputError, UsageError
from costboost.cli.cells import Form
from costboost.cli.reading import read_cells, read_source, read_table

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
    return read_table(read_source(str(path)), **more).frame


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
    (tmp_path / "t.csv").write_text("code,n\n70,1\n7,2\n")
    assert read(tmp_path / "t.csv")["code"].to_list() == [70, 7]
    assert read(tmp_path / "t.csv", texts=["code", "absent"])["code"].to_list() == ["70", "7"]


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
    assert cells.rows() == [
        ("00042", "TRUE", "1.10", "1e5", "2020-1-2", 'a,"b"', ""),
        ("00007", "FALSE", "-0", "2e5", "2020-1-3", " c\nd", None),
    ]
    assert cells.columns == ["id", "t", "x", "e", "day", "text", "gone"]


@pytest.mark.parametrize("name", FORMATS)
def test_only_csv_files_have_cells_without_types(name, tmp_path):
    (tmp_path / "t").write_bytes(FORMATS[name](FRAME))
    assert read_source(str(tmp_path / "t")).is_csv == ("csv" in name or "tsv" in name)


def test_zeros_before_whole_numbers_make_them_text(tmp_path):
    (tmp_path / "t.csv").write_text("a;b;c;d\n007;0;-05;0,5\n12;10;3;02,5\n")
    source = read_source(str(tmp_path / "t.csv"))
    assert read_table(source).frame.to_dict(as_series=False) == {
        "a": ["007", "12"],
        "b": [0, 10],
        "c": ["-05", "3"],
        "d": [0.5, 2.5],
    }
    assert read_table(source, numbers=["a"]).frame["a"].to_list() == [7, 12]
    assert "zeros before numbers in a, c" in read_table(source).remarks


# --- the lines of a text


def source_of(tmp_path, text, **more):
    (tmp_path / "t.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_source(str(tmp_path / "t.csv"), **more)


@pytest.mark.parametrize(
    ("above", "lines"),
    [
        ("Payments of May\n", 1),
        ("Payments\nas of 2026-05-31\n\n", 3),
        ("\n", 1),
        ("May;;\n;;\n", 2),
    ],
)
@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
def test_lines_above_the_names_are_left_out(above, lines, separator, tmp_path):
    table = "a;b;c\n1;x;2\n3;y;4\n5;z;6\n"
    source = source_of(tmp_path, (above + table).replace(";", separator))
    assert (source.separator, source.data) == (separator, table.replace(";", separator).encode())
    assert f"{lines} line" in source.remarks[-1]
    assert read_table(source).frame.rows() == [(1, "x", 2), (3, "y", 4), (5, "z", 6)]


def test_names_are_no_title_though_one_is_missing(tmp_path):
    source = source_of(tmp_path, ";x\n1;2\n3;4\n")  # as pandas writes an index
    assert read_table(source).frame["x"].to_list() == [2, 4]
    with pytest.raises(InputError, match=r"3 cells in line 2, and 2 names"):
        read_table(source_of(tmp_path, "a,b\n1,2,3\n4,5,6\n"))


def test_a_title_above_numbers_alone_is_no_title(tmp_path):
    source = source_of(tmp_path, "x\n1,2,3\n4,5,6\n")  # there is no line of names
    assert source.data.startswith(b"x\n")


def test_names_may_be_long(tmp_path):
    names = [f"{i:0300d}" for i in range(300)]
    text = ",".join(names) + "\n" + ",".join(["1"] * 300) + "\n"
    assert len(text) > 1 << 16
    assert read_table(source_of(tmp_path, text)).frame.columns == names


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_what_separates_cells_is_what_cuts_all_lines_alike(separator, tmp_path):
    texts = ["a, b", "1;2", "x|y|z", "t", "u, v, w", "p;q"]
    rows = [f'{i}{separator}"{text}"{separator}{i % 3}' for i, text in enumerate(texts)]
    source = source_of(tmp_path, "\n".join([separator.join("nwk"), *rows]))
    assert source.separator == separator
    assert read_table(source).frame["w"].to_list() == texts


# --- encodings


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-8"])
def test_encodings(encoding, tmp_path):
    text = "who,n\nJ\xe4ger,1\nM\xfcller,2\n"
    asked = None if encoding in ("utf-16", "utf-8") else encoding  # these say themselves
    source = source_of(tmp_path, text.encode(encoding), encoding=asked)
    assert read_table(source).frame["who"].to_list() == ["J\xe4ger", "M\xfcller"]


def test_the_encoding_of_training_is_tried_where_a_text_is_not_utf_8(tmp_path):
    latin = source_of(tmp_path, "a,b\nJ\xe4ger,1\n".encode("latin-1"), known="latin-1")
    assert read_table(latin).frame["a"][0] == "J\xe4ger"
    plain = source_of(tmp_path, "a,b\nJ\xe4ger,1\n".encode(), known="latin-1")
    assert read_table(plain).frame["a"][0] == "J\xe4ger"


def test_wrong_encodings(tmp_path):
    with pytest.raises(InputError, match=r"not UTF-8 \(line 2\): say which --encoding"):
        source_of(tmp_path, "a,b\nJ\xe4ger,1\n".encode("latin-1"))
    with pytest.raises(InputError, match="is not ascii"):
        source_of(tmp_path, "a,b\nJ\xe4ger,1\n".encode(), encoding="ascii")
    with pytest.raises(UsageError, match="'klingon' is not known"):
        source_of(tmp_path, b"a,b\n1,2\n", encoding="klingon")


# --- workbooks


def workbook(path, **sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return read_source(str(path))


def test_a_workbook(tmp_path):
    day = datetime.datetime(2026, 11, 16)
    rows = [["May"], [], ["a", "b", "c", "d"], [1, "x", day, "1.234,50"], ["n/a", "y", day, "2,5"]]
    source = workbook(tmp_path / "t.xlsx", May=rows, Notes=[["nothing"]])
    frame = read_table(source).frame
    assert frame.columns == ["a", "b", "c", "d"]
    assert frame["a"].to_list() == [1, None]
    assert frame["d"].to_list() == [1234.5, 2.5]
    assert frame["c"].to_list() == [day, day]


def test_a_workbook_of_several_sheets(tmp_path):
    rows = [["a", "b"], [1, 2]]
    source = workbook(tmp_path / "t.xlsx", May=rows, June=[["a", "b"], [3, 4]])
    with pytest.raises(InputError, match="several sheets: say --sheet with one of May, June"):
        read_table(source)
    assert read_table(source, asked=Form(sheet="June")).frame.rows() == [(3, 4)]
    with pytest.raises(InputError, match="has no sheet 'July'"):
        read_table(source, asked=Form(sheet="July"))


def test_a_workbook_without_the_package_that_reads_it(tmp_path, monkeypatch):
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04" + b"x" * 100)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(InputError, match=r"pip install 'costboost\[excel\]'"):
        read_table(read_source(str(tmp_path / "t.xlsx")))


def test_a_zip_file_is_no_workbook(tmp_path):
    pytest.importorskip("openpyxl")
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04" + b"x" * 100)
    with pytest.raises(InputError, match="no workbook"):
        read_table(read_source(str(tmp_path / "t.xlsx")))
