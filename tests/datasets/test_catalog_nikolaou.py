"""The authors' own files: label 1 against the rest, columns x1, x2 ... and no prices."""

import numpy as np
import pytest

from costboost.datasets._catalog import BINARY, NIKOLAOU
from costboost.datasets._loading import CellTable, typed_columns, typed_labels


def test_there_are_18_files_all_with_1_as_positive():
    assert len(NIKOLAOU) == 18
    for spec in NIKOLAOU.values():
        assert set(spec.classes) == {0, 1}
        assert min(spec.classes.values()) > 0
        assert spec.positive == 1
        assert spec.openml is None  # only the authors have them in this form


@pytest.mark.parametrize("name", NIKOLAOU)
def test_every_label_but_1_becomes_0(name):
    raw = CellTable({}, ["1", "2", "-1", "0", "7", "1"], "a file")
    found = typed_labels(raw, NIKOLAOU[name])
    assert found.tolist() == [1, 0, 0, 0, 0, 1]
    assert found.dtype == np.int64


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("nik_congress", "house_votes84"),
        ("nik_ionosphere", "ionosphere"),
        ("nik_krvskp", "kr_vs_kp"),
        ("nik_liver", "liver_bupa"),
        ("nik_mushroom", "mushroom"),
        ("nik_parkinsons", "parkinsons"),
        ("nik_spambase", "spambase"),
        ("nik_wdbc", "wdbc"),
    ],
)
def test_their_positives_are_those_of_the_same_set_as_distributed(theirs, ours):
    one, other = NIKOLAOU[theirs], BINARY[ours]
    assert one.classes[1] == other.classes[other.positive]
    assert sum(one.classes.values()) == sum(other.classes.values())


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("nik_pima", "pima"), ("nik_sonar", "sonar"), ("nik_survival", "haberman")],
)
def test_some_of_their_positives_are_the_other_class_and_the_entry_says_so(theirs, ours):
    one, other = NIKOLAOU[theirs], BINARY[ours]
    assert one.classes[0] == other.classes[other.positive]
    said = {"nik_pima": "1 means NO diabetes", "nik_sonar": "rock", "nik_survival": "survived"}
    assert said[theirs] in one.description


def test_columns_are_numbers_and_only_the_patients_number_is_dropped():
    raw = CellTable({"x1": ["1", None], "x2": ["0.5", "2"]}, ["1", "2"], "a file")
    columns = typed_columns(raw, NIKOLAOU["nik_wdbc"])
    assert all(column.dtype == np.float64 for column in columns.values())
    dropped = {name: spec.not_features for name, spec in NIKOLAOU.items() if spec.not_features}
    assert dropped == {"nik_wdbc": ("x1",)}
