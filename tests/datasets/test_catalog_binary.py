"""The entries of two classes without prices: what they say fits together."""

import pytest

from costboost.datasets._catalog import BINARY
from costboost.datasets._spec import unpriced

# What a positive decision means, as the papers and the sources have it.
RARER = {
    "breast_cancer_ljubljana": 85,
    "breast_cancer_wisconsin": 241,
    "boolean_standin": 4371,
    "crx": 307,
    "dis": 58,
    "haberman": 81,
    "hepatitis": 32,
    "house_votes84": 168,
    "hypothyroid": 151,
    "ionosphere": 126,
    "kr_vs_kp": 1527,
    "liver_bupa": 145,
    "mushroom": 3916,
    "pima": 268,
    "sick": 231,
    "sick_euthyroid": 293,
    "spambase": 1813,
    "wdbc": 212,
    "wpbc": 47,
}
COMMONER = {"parkinsons": 147, "sonar": 111}  # the sick voices, the mines


def test_the_positive_class_is_the_rarer_one_but_for_voices_and_mines():
    assert set(BINARY) == {*RARER, *COMMONER}
    for name, spec in BINARY.items():
        positives = spec.classes[spec.positive]
        assert positives == {**RARER, **COMMONER}[name], name
        others = sum(spec.classes.values()) - positives
        assert (positives < others) == (name in RARER), name


@pytest.mark.parametrize("name", BINARY)
def test_entries_are_of_two_classes_of_one_kind_and_without_prices(name):
    spec = BINARY[name]
    assert len(spec.classes) == 2
    assert len({type(label) for label in spec.classes}) == 1
    assert dict(spec.pricing) == {"none": unpriced}
    assert spec.n_train is None or 0 < spec.n_train < sum(spec.classes.values())
    assert not spec.one_against_rest


def test_only_the_time_of_a_recurrence_is_no_feature():
    # It is known only once the cancer has come back.
    assert {n: s.not_features for n, s in BINARY.items() if s.not_features} == {"wpbc": ("time",)}


def test_a_sub_list_of_codes_excepts_the_numbers_only():
    hepatitis = BINARY["hepatitis"]
    numbers = [name for name in hepatitis.openml.columns if not hepatitis.is_coded(name)]
    assert numbers == ["age", "bilirubin", "alk_phosphate", "sgot", "albumin", "protime"]
    assert len(hepatitis.openml.columns) == hepatitis.n_features
