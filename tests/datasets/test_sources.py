"""Files: read in all their spellings, refused when damaged."""

import gzip

import numpy as np
import pytest

from costboost.datasets import load


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
