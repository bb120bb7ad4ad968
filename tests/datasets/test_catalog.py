"""The catalogue against its documentation and against the files."""

import numpy as np
import pandas as pd
import pytest

from costboost.datasets import load, names
from costboost.datasets._catalog import CATALOG
from counting_labels import counts

# name: rows, features kept, of these categories. From the sources' documentation, less what is no
# feature: wpbc's time, the flares' other targets, the bank's after-call columns, wdbc's patients.
SHAPES = {
    "breast_cancer_ljubljana": (286, 9, 9),
    "hepatitis": (155, 19, 13),
    "pima": (768, 8, 0),
    "sick_euthyroid": (3163, 25, 18),
    "hypothyroid": (3163, 25, 18),
    "dis": (3772, 29, 22),
    "crx": (690, 15, 9),
    "breast_cancer_wisconsin": (699, 9, 0),
    "wpbc": (198, 32, 0),
    "wdbc": (569, 30, 0),
    "boolean_standin": (32768, 15, 0),
    "sick": (3772, 29, 22),
    "splice": (3190, 60, 60),
    "anneal": (898, 38, 32),
    "satimage": (6435, 36, 0),
    "solar_flare_zurich": (1389, 12, 9),
    "solar_flare_c": (1389, 10, 10),
    "letter": (20000, 16, 0),
    "pendigits": (10992, 16, 0),
    "segment": (2310, 19, 0),
    "ann_thyroid": (7200, 21, 15),
    "haberman": (306, 3, 0),
    "ionosphere": (351, 34, 0),
    "house_votes84": (435, 16, 16),
    "liver_bupa": (345, 6, 0),
    "parkinsons": (195, 22, 0),
    "german_credit": (1000, 20, 13),
    "german_credit_numeric": (1000, 24, 0),
    "spambase": (4601, 57, 0),
    "sonar": (208, 60, 0),
    "kr_vs_kp": (3196, 36, 36),
    "heart_statlog": (270, 13, 6),
    "semeion": (1593, 256, 0),
    "mushroom": (8124, 22, 22),
    "waveform_noise": (5000, 40, 0),
    "credit_default_taiwan": (30000, 23, 3),
    "bank_marketing": (37931, 10, 7),
    "creditcard_fraud_sample": (1409, 29, 0),
    "south_german_credit": (1000, 20, 17),
    "nik_congress": (435, 16, 0),
    "nik_german_credit": (1000, 24, 0),
    "nik_heart": (270, 13, 0),
    "nik_ionosphere": (351, 34, 0),
    "nik_krvskp": (3196, 36, 0),
    "nik_landsatm": (6435, 36, 0),
    "nik_liver": (345, 6, 0),
    "nik_mushroom": (8124, 21, 0),
    "nik_musk2": (6598, 166, 0),
    "nik_parkinsons": (195, 22, 0),
    "nik_pima": (768, 8, 0),
    "nik_semeion": (1593, 256, 0),
    "nik_sonar": (208, 60, 0),
    "nik_spambase": (4601, 57, 0),
    "nik_splicem": (3175, 60, 0),
    "nik_survival": (306, 3, 0),
    "nik_waveformm": (5000, 40, 0),
    "nik_wdbc": (569, 30, 0),
}


# Label 1 of the authors' files, which is the rarer class in most and not in all.
NIKOLAOU_POSITIVES = {"nik_landsatm": 703, "nik_semeion": 161, "nik_splicem": 765, "nik_pima": 500}


PER_ROW = {
    "bank_marketing",
    "credit_default_taiwan",
    "creditcard_fraud_sample",
    "south_german_credit",
}


CONSTANT = {"german_credit", "german_credit_numeric", "heart_statlog"}


def test_the_catalogue_is_the_documented_one():
    assert len(names()) == 57
    assert set(names()) == set(SHAPES) == set(CATALOG)
    for name, spec in CATALOG.items():
        assert sum(spec.classes.values()) == SHAPES[name][0]
        assert (spec.positive is None) == (len(spec.classes) > 2)
        assert spec.positive is None or spec.positive in spec.classes
        assert spec.description
        assert spec.source


@pytest.mark.data
@pytest.mark.parametrize("name", sorted(SHAPES))
def test_every_set_loads(name, data_folder):
    data = load(name, folder=data_folder)
    rows, features, categories = SHAPES[name]
    assert data.X.shape == (rows, features)
    assert list(data.X.columns) == list(data.feature_names)
    assert counts(data.y) == dict(CATALOG[name].classes)
    assert len(data.categorical) == categories
    for column in data.X.columns:
        is_category = isinstance(data.X[column].dtype, pd.CategoricalDtype)
        assert is_category == (column in data.categorical)
        assert is_category or data.X[column].dtype == np.float64
    if name in NIKOLAOU_POSITIVES:
        assert int((data.y == 1).sum()) == NIKOLAOU_POSITIVES[name]
    if name in PER_ROW:
        assert data.costs.shape == (rows, 2, 2)
        assert data.amount.shape == (rows,)
    else:
        assert (data.costs is not None) == (name in CONSTANT)
    if data.costs is not None:
        assert data.costs.bind(np.unique(data.y)).positive == data.positive


@pytest.mark.data
def test_missing_cells_are_kept_or_named(data_folder):
    assert load("sick_euthyroid", folder=data_folder).X.isna().sum().sum() == 5329
    assert load("crx", folder=data_folder).X.isna().sum().sum() == 67
    votes = load("house_votes84", folder=data_folder).X
    assert votes.isna().sum().sum() == 0
    assert int((votes == "?").sum().sum()) == 392


@pytest.mark.data
def test_first_rows_of_a_mixed_set(data_folder):
    data = load("crx", folder=data_folder)
    first = data.X.iloc[0]
    assert first["A1"] == "b"
    assert first["A2"] == 30.83
    assert first["A9"] == "t"
    assert data.y[0] == "+"
