"""Cai, Song and Zhang: the table's rows, and the command on tiny data."""

import numpy as np
import pytest

from costboost.papers import cai
from costboost.papers.cells import read_rows
from costboost.papers.options import Options


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cai")
    cai.run(Options(folder), {"Tumour": "breast_cancer"}, 2, (0.5,))
    return folder


def test_the_command_leaves_tables_and_pictures(out):
    rows = read_rows(out / "table3.csv")
    assert {row["method"] for row in rows} == {"c45", "adaboost", *cai.PRICED}
    best = {row["method"]: float(row["best of the means"].split()[0]) for row in rows}
    assert best["adaboost"] > 85  # the set is easy
    assert (out / "prices.png").exists()
    assert "Objective (17)" in (out / "results.md").read_text()


def test_the_best_price_is_chosen_by_means_over_splits():
    found = {0.1: [50.0, 60.0], 0.9: [80.0, 40.0], 0.5: [10.0, 90.0]}
    assert cai.best_of_means(found).mean == 60
    rows = [
        {"dataset": "Pima", "split": k, "method": "gradient", "price": p, "f": v, "rounds": 1}
        for p, values in found.items()
        for k, v in enumerate(values)
    ]
    (row,) = cai.table_rows(rows)
    assert row["published"] == 69.84
    assert row["mean of the bests"] == 85
    assert row["at 0.5"] == 50


def test_splits_differ_and_repeat():
    a, b, c = (
        [row["f"] for row in cai.split_cell("breast_cancer", "x", k, (), None)] for k in (0, 1, 0)
    )
    assert a == c
    assert not np.allclose(a, b)
