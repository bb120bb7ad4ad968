"""OpenML's copies, translated into ours and checked."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import fetch_openml

from costboost.datasets import _loading as _sources
from costboost.datasets import load
from costboost.datasets._catalog import CATALOG
from costboost.datasets._loading import CellTable, as_numbers, read_file
from costboost.datasets._spec import OpenML
from counting_labels import counts


def test_openml_is_translated_and_checked(small_folder, monkeypatch):
    ours = load("haberman", folder=small_folder)

    class Fetched:
        data = ours.X.rename(columns=str.upper)
        target = pd.Series(ours.y).astype(str).astype("category")

    monkeypatch.setattr(_sources, "fetch_openml", lambda **_: Fetched)
    data = load("haberman")
    np.testing.assert_array_equal(data.y, ours.y)
    np.testing.assert_array_equal(data.to_numpy()[0], ours.to_numpy()[0])
    assert "OpenML set 43" in data.source
    with pytest.raises(ValueError, match="not the papers' set"):
        load("spambase")


OPENML_IDS = {
    "anneal": 1,
    "bank_marketing": 1461,
    "breast_cancer_ljubljana": 13,
    "breast_cancer_wisconsin": 15,
    "credit_default_taiwan": 42477,
    "crx": 29,
    "german_credit": 31,
    "haberman": 43,
    "heart_statlog": 53,
    "hepatitis": 55,
    "house_votes84": 56,
    "ionosphere": 59,
    "kr_vs_kp": 3,
    "letter": 6,
    "mushroom": 24,
    "parkinsons": 1488,
    "pendigits": 32,
    "pima": 37,
    "segment": 36,
    "semeion": 1501,
    "sick": 38,
    "sonar": 40,
    "spambase": 44,
    "splice": 46,
    "waveform_noise": 60,
    "wdbc": 1510,
}


def openml_copy(name, raw, monkeypatch):
    """Let OpenML answer with its own form of a set, and note what it was asked for."""
    at = CATALOG[name].openml
    theirs = {str(ours): label for label, ours in at.labels.items()}
    columns = {}
    for j, (column, cells) in enumerate(raw.columns.items()):
        padded = any(cell and cell[0] == "0" and cell[1:].isdigit() for cell in cells)  # "0500"
        numbers = None if padded else as_numbers(cells)
        called = f"V{j + 1}" if at.columns else column
        columns[called] = pd.Categorical(cells) if numbers is None else numbers
    asked = []

    class Fetched:
        data = pd.DataFrame(columns)
        target = pd.Series([theirs.get(label, label) for label in raw.labels], dtype="category")

    def answer(**options):
        inspect.signature(fetch_openml).bind(**options)  # scikit-learn would take these
        asked.append(options)
        return Fetched

    monkeypatch.delenv("COSTBOOST_DATA", raising=False)
    monkeypatch.setattr(_sources, "fetch_openml", answer)
    return asked


@pytest.mark.data
@pytest.mark.parametrize("name", OPENML_IDS)
def test_a_set_from_openml_equals_the_file(name, data_folder, monkeypatch):
    ours = load(name, folder=data_folder)
    asked = openml_copy(name, read_file(name, data_folder), monkeypatch)
    data = load(name)
    assert asked == [{"data_id": OPENML_IDS[name], "as_frame": True, "parser": "liac-arff"}]
    pd.testing.assert_frame_equal(data.X, ours.X)
    np.testing.assert_array_equal(data.y, ours.y, strict=True)
    assert (data.categorical, data.positive) == (ours.categorical, ours.positive)
    assert data.costs == ours.costs
    assert data.n_train is None


def test_the_sets_on_openml_are_the_documented_ones():
    assert {n: spec.openml.data_id for n, spec in CATALOG.items() if spec.openml} == OPENML_IDS
    for spec in CATALOG.values():
        if spec.openml and spec.openml.labels:
            assert set(spec.openml.labels.values()) == set(spec.classes)
        if spec.openml and spec.openml.columns:
            assert len(set(spec.openml.columns)) == spec.n_features


def test_hepatitis_from_openml(monkeypatch):
    names = ("AGE", "SEX", *(f"C{j}" for j in range(11)))
    names += ("BILIRUBIN", "ALK_PHOSPHATE", "SGOT", "ALBUMIN", "PROTIME", "HISTOLOGY")
    cells = {name: [str(i % 2 + 1) for i in range(155)] for name in names}
    cells["AGE"] = ["30.5", None] + ["40"] * 153
    raw = CellTable(cells, ["1"] * 32 + ["2"] * 123, "")
    asked = openml_copy("hepatitis", raw, monkeypatch)
    data = load("hepatitis", as_frame="pandas")
    assert [options["data_id"] for options in asked] == [55]
    numbers = ["age", "bilirubin", "alk_phosphate", "sgot", "albumin", "protime"]
    assert [c for c in data.feature_names if c not in data.categorical] == numbers
    assert data.X["age"].tolist()[0] == 30.5
    assert np.isnan(data.X["age"][1])
    assert data.X["sex"].cat.categories.tolist() == ["1", "2"]  # not "1.0"
    assert counts(data.y) == {1: 32, 2: 123}


def test_openml_names_and_labels():
    frame = pd.DataFrame({"V1": [1.5, None], "V2": pd.Categorical(["a", None])})
    at = OpenML(7, labels={"good": 1}, columns=("size", "kind"))
    raw = _sources.from_frame("x", at, frame, pd.Series(["good", "2"]))
    assert raw.columns == {"size": ["1.5", None], "kind": ["a", None]}
    assert raw.labels == ["1", "2"]
    with pytest.raises(ValueError, match="another version"):
        _sources.from_frame("x", at, frame[["V1"]], pd.Series(["good", "2"]))
