"""Rows by category: names, parts of numbers, rare categories folded."""

import json
import warnings

import numpy as np
import pandas as pd

from costboost import make_report
from costboost.report.groups import read_groups
from report_cases import FRAUD, data_of, fraud_model, fraud_rows


def test_rare_categories_are_not_told_of_by_name():
    X, y = fraud_rows(600)
    X = X.copy()
    names = X["merchant"].astype(str).to_numpy().copy()
    names[:3] = "the only baker in town"
    X["merchant"] = pd.Categorical(names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = make_report(fraud_model(), X, y, costs=FRAUD)
    groups = json.dumps([who["labels"] for who in data_of(report)["who"]])
    assert "baker" not in groups
    assert "other" in groups


def test_groups_by_numbers_and_by_values_given():
    X, y = fraud_rows(600)
    region = np.array(["north", "south"])[np.arange(600) % 2]
    report = make_report(
        fraud_model(),
        X,
        y,
        costs=FRAUD,
        groups={"region": region, "size": "amount", "when": "hour"},
    )
    found = {who["name"]: who["labels"] for who in data_of(report)["who"]}
    assert found["region"] == ["north", "south"]
    assert len(found["size"]) == 5
    assert " to " in found["size"][0]
    assert {"merchant", "channel"} < set(found)
    for who in data_of(report)["who"]:
        assert sum(part["rows"] for part in who["opening"]) == 600


def test_all_categories_of_an_array_without_names():
    X = np.array([[1.0, "a"], [2.0, "b"], [3.0, "a"]] * 10, dtype=object)
    groups = read_groups(X, "all")
    assert list(groups) == ["column 1"]
    labels, codes = groups["column 1"]
    assert labels == ["a", "b"]
    assert np.bincount(codes).tolist() == [20, 10]
