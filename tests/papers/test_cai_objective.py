"""Objective (17) has the cases that it claims."""

import numpy as np

from costboost.papers import cai_objective
from costboost.papers.options import load_set


def test_the_objective_recovers_the_methods_that_are_cases_of_it():
    rows = cai_objective.rows(load_set("breast_cancer"), (0.2, 0.7))
    assert len(rows) == len(cai_objective.CASES)
    for row, case in zip(rows, cai_objective.CASES, strict=True):
        assert row["verdict"].endswith("as it must be"), row
        assert (row["scores apart"] <= 1e-9) == case.equal
        assert row["rounds"] == cai_objective.ROUNDS


def test_a_case_that_is_none_is_told(monkeypatch):
    claims = cai_objective.CASES[0]._replace(objective="adac1")
    monkeypatch.setattr(cai_objective, "CASES", (claims,))
    (row,) = cai_objective.rows(load_set("breast_cancer"), (0.2,))
    assert row["verdict"] == "another run, NOT as expected"
    assert row["steps apart"] > cai_objective.EQUAL


def test_runs_are_compared_relatively_and_at_their_worst(monkeypatch):
    assert cai_objective._apart(np.array([1.0, -4.0]), np.array([1.5, -4.0])) == 0.125
    gaps = {0.2: (3, 0.1, 0.0), 0.7: (2, 0.0, 0.7)}
    monkeypatch.setattr(cai_objective, "_gap", lambda case, X, y, price: gaps[price])
    row, *_ = cai_objective.rows(load_set("breast_cancer"), (0.2, 0.7))
    assert (row["rounds"], row["steps apart"], row["scores apart"]) == (2, 0.1, 0.7)
