"""Files: read in all their spellings, refused when damaged."""

import gzip

import numpy as np
import pytest

from costboost.datasets import load
from costboost.datasets._loading import (
    CellTable,
    as_numbers,
    content_digest,
    typed_columns,
    typed_labels,
)
from costboost.datasets._spec import Spec


def test_gzip_is_read_too(small_folder):
    plain = small_folder / "haberman.csv"
    with gzip.open(small_folder / "haberman.csv.gz", "wt") as file:
        file.write(plain.read_text())
    plain.unlink()
    assert load("haberman", folder=small_folder).y.dtype == np.int64


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("target", "label"), "must be 'target'"),
        (lambda text: text + "1,2\n", "Line 308"),
        (lambda text: text.rsplit("\n", 2)[0] + "\n", "not the papers' set"),
        (lambda text: text[:-2] + "x\n", "no whole number"),
        (lambda text: text.replace("\n31,", "\n91,", 1), "not those of the papers' set"),
        (lambda text: text.replace("age,", "years,"), "not those of the papers' set"),
        (lambda text: text.replace("\n31,", "\n,", 1), "not those of the papers' set"),
        (lambda text: "", "holds no rows"),
        (lambda text: "\n", "holds no rows"),
        (lambda text: text.split("\n")[0] + "\n", "holds no rows"),
    ],
)
def test_damaged_files_are_refused(small_folder, change, message):
    path = small_folder / "haberman.csv"
    path.write_text(change(path.read_text()))
    with pytest.raises(ValueError, match=message):
        load("haberman", folder=small_folder)


def test_files_that_are_no_text_are_refused(small_folder):
    plain = small_folder / "haberman.csv"
    packed = small_folder / "haberman.csv.gz"
    with gzip.open(packed, "wt") as file:
        file.write(plain.read_text())
    whole = packed.read_bytes()
    plain.write_bytes(b"\xff\xfe\x00target")
    with pytest.raises(ValueError, match="cannot be read as a table"):
        load("haberman", folder=small_folder)
    plain.unlink()
    for damaged in (whole[: len(whole) // 2], b"no gzip", whole[:30] + b"\xff" * 30 + whole[60:]):
        packed.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"cannot be read as a table|not the papers' set"):
            load("haberman", folder=small_folder)
    packed.write_bytes(b"")
    with pytest.raises(ValueError, match="holds no rows"):
        load("haberman", folder=small_folder)


def test_the_digest_is_of_the_content_not_of_its_spelling(small_folder):
    path = small_folder / "haberman.csv"
    text, given = path.read_text(), load("haberman", folder=small_folder)
    for spelling in (text.replace("\n", "\r\n"), text.replace("\n31,", "\n31.0,")):
        path.write_bytes(spelling.encode())
        again = load("haberman", folder=small_folder)
        np.testing.assert_array_equal(again.to_numpy()[0], given.to_numpy()[0])
    path.write_text(text.replace("\n31,", "\n91,", 1))
    other = load("haberman", folder=small_folder, verify=False)
    assert other.to_numpy()[0].max() == 91


def test_a_row_without_a_label_is_refused_and_not_shortened(small_folder):
    path = small_folder / "haberman.csv"
    path.write_text(path.read_text() + "40,60,1,\n")  # one row more, whose label is empty
    for verify in (True, False):
        with pytest.raises(ValueError, match="has rows without a label"):
            load("haberman", folder=small_folder, verify=verify)


def spec(**given):
    return Spec(n_features=1, description="", source="", **{"classes": {0: 1, 1: 1}, **given})


def test_cells_are_numbers_unless_one_is_not_or_they_are_codes():
    np.testing.assert_array_equal(as_numbers(["1", None, "2.5e3"]), [1, np.nan, 2500])
    assert as_numbers(["1", "x"]) is None
    raw = CellTable({"a": ["1", "2"], "b": ["1", "2"], "c": ["1", "?"], "d": ["u", None]}, [], "")
    typed = typed_columns(raw, spec(coded=("b",), missing_category="none"))
    assert typed["a"].tolist() == [1.0, 2.0]
    assert typed["b"].tolist() == ["1", "2"]
    assert typed["c"].tolist() == ["1", "?"]
    assert typed["d"].tolist() == ["u", "none"]
    assert typed_columns(raw, spec())["d"].tolist() == ["u", None]


def test_labels_are_integers_only_where_the_catalogue_has_integers():
    raw = CellTable({}, ["1", "0", "3"], "a file")
    assert typed_labels(raw, spec()).tolist() == [1, 0, 3]
    assert typed_labels(raw, spec(one_against_rest=True)).tolist() == [1, 0, 0]
    assert typed_labels(raw, spec(classes={"0": 1, "1": 1})).tolist() == ["1", "0", "3"]
    with pytest.raises(ValueError, match=r"A label of a file is no whole number.*1\.5"):
        typed_labels(CellTable({}, ["1.5"], "a file"), spec())


def test_digests_tell_values_names_and_places_apart():
    a, b = np.array([0.0, np.nan]), np.array(["x", None], dtype=object)
    y = np.array([0, 1])
    usual = content_digest({"a": a, "b": b}, y)
    same = content_digest({"a": np.array([-0.0, -np.nan]), "b": b.copy()}, y.astype(np.int32))
    assert same == usual  # one zero, one NaN
    others = [
        ({"b": b, "a": a}, y),
        ({"a": a, "c": b}, y),
        ({"a": a, "b": np.array(["x", ""], dtype=object)}, y),
        ({"a": a, "b": np.array([None, "x"], dtype=object)}, y),
        ({"a": np.array([1e-300, np.nan]), "b": b}, y),
        ({"a": a, "b": b}, y[::-1]),
    ]
    assert len({usual, *(content_digest(*other) for other in others)}) == 7
