"""Rows by category: names, parts of numbers, rare categories folded."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from costboost import Costs, make_report
from costboost.report.subject import affected, read_column, read_groups
from report_cases import FRAUD, data_of, fraud_model, fraud_rows, two_class_rows


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


def test_categories_are_named_by_size_and_rare_ones_are_folded():
    values = ["b"] * 30 + ["a"] * 40 + ["c"] * 9 + ["d"] + [None] * 3
    labels, codes = read_groups(np.zeros((83, 1)), {"g": np.array(values, dtype=object)})["g"]
    assert labels == ["a", "b", "2 others", "missing"]
    assert np.bincount(codes).tolist() == [40, 30, 10, 3]
    assert [labels[k] for k in codes[[0, 30, 70, 79, 82]]] == [
        "b", "a", "2 others", "2 others", "missing",
    ]  # fmt: skip
    one, _ = read_groups(np.zeros((12, 1)), {"g": np.array(["a"] * 11 + ["b"])})["g"]
    assert one == ["a", "1 other"]


def test_no_more_than_twelve_categories_have_names():
    values = np.repeat([f"k{j:02}" for j in range(15)], 20)
    labels, codes = read_groups(np.zeros((300, 1)), {"g": values})["g"]
    assert labels == [f"k{j:02}" for j in range(12)] + ["3 others"]
    assert np.bincount(codes).tolist() == [20] * 12 + [60]


def test_numbers_are_cut_into_parts_of_as_many_rows_each():
    values = np.concatenate([np.arange(1000.0), [np.nan] * 20])
    labels, codes = read_groups(np.zeros((1020, 1)), {"g": values})["g"]
    assert labels[:2] == ["0 to 199.8", "199.8 to 399.6"]
    assert labels[-1] == "missing"
    assert np.bincount(codes).tolist() == [200] * 5 + [20]
    few, _ = read_groups(np.zeros((60, 1)), {"g": np.arange(60) % 3})["g"]
    assert few == ["0", "1", "2"]  # few distinct numbers are categories
    empty, codes = read_groups(np.zeros((4, 1)), {"g": np.full(4, np.nan)})["g"]
    assert empty == ["missing"]
    assert codes.tolist() == [0, 0, 0, 0]


def test_infinite_numbers_fall_into_the_outer_parts():
    values = np.concatenate([np.arange(1000.0), [np.inf] * 30, [np.nan] * 20])
    labels, codes = read_groups(np.zeros((1050, 1)), {"g": values})["g"]
    assert labels[0] == "0 to 199.8"
    assert labels[4:] == ["799.2 to inf", "missing"]
    assert np.bincount(codes).tolist() == [200] * 4 + [230, 20]
    labels, codes = read_groups(np.zeros((1050, 1)), {"g": -values})["g"]
    assert labels[0] == "-inf to -799.2"
    assert np.bincount(codes)[0] == 230


def test_columns_are_found_by_name_or_refused():
    X = pd.DataFrame({"a": [1.0, 2.0], "b": ["u", "v"]})
    assert list(read_groups(X, "b")) == ["b"]
    assert list(read_groups(X, ["b", "a"])) == ["b", "a"]
    assert read_groups(X, None) == {}
    assert read_column(X, "b", "current").tolist() == ["u", "v"]
    with pytest.raises(ValueError, match=r"time='c' is no column of X: its columns are"):
        read_column(X, "c", "time")
    with pytest.raises(ValueError, match=r"groups has shape \(3,\), but X has 2 rows"):
        read_groups(X, {"g": [1, 2, 3]})
    with pytest.raises(ValueError, match=r"its columns are \[\]"):
        read_groups(X.to_numpy(), ["b"])


def test_the_affected_are_counted_by_weight_truth_and_decision():
    rng = np.random.RandomState(0)
    n = 200
    weight, codes = rng.choice([0.5, 1.0, 3.0], n), rng.randint(3, size=n)
    fn = rng.gamma(2.0, 20.0, n)
    rows = two_class_rows(rng.random_sample(n), rng.randint(2, size=n), Costs(fp=4, fn=fn),
                          weight=weight)  # fmt: skip
    taken = rng.randint(2, size=n)
    found = affected(rows, (["u", "v", "w", "nobody"], codes), taken)
    assert [one["label"] for one in found] == ["u", "v", "w", "nobody"]
    paid = np.where(taken == rows.truth, 0.0, np.where(taken == 1, 4.0, fn))
    for g, one in enumerate(found):
        mine = weight * (codes == g)
        bad, hit = rows.truth == 1, taken == 1
        wanted = {
            "rows": mine.sum(),
            "hit": mine[hit].sum(),
            "good": mine[~bad].sum(),
            "goodHit": mine[~bad & hit].sum(),
            "bad": mine[bad].sum(),
            "badHit": mine[bad & hit].sum(),
            "paid": mine @ paid,
        }
        assert {key: one[key] for key in wanted} == pytest.approx(wanted)


def test_categories_that_no_row_has_are_no_others():
    kind = pd.Categorical(["a", "b"] * 10, categories=["z", "b", "a", "y"])
    labels, codes = read_groups(pd.DataFrame({"kind": kind}), "all")["kind"]
    assert labels == ["b", "a"]  # in their own order, where they are as frequent
    assert [labels[k] for k in codes[:2]] == ["a", "b"]
