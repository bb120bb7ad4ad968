"""Decisions made jointly, as users read them."""

import pickle

import numpy as np
import pytest

from costboost.decisions import Allocation, allocate


def test_result_reads_like_a_sentence():
    result = allocate([[9, 1], [7, 2], [3, 0]], {"review": 1}, actions=np.array(["pass", "review"]))
    assert repr(result) == (
        "Allocation of 3 rows: 2 pass, 1 review\n"
        "  expected cost 11, 8 more than without limits\n"
        "  review: 1 of 1; one more would save 5"
    )
    assert np.asarray(result).tolist() == ["review", "pass", "pass"]
    assert np.array_equal(pickle.loads(pickle.dumps(result)).decisions, result.decisions)


def made(**changed):
    parts = {
        "codes": np.array([0, 1, 1, 0]),
        "actions": np.array(["pass", "review"]),
        "expected_costs": np.array([1.0, 2.0, 3.0, 4.0]),
        "unlimited_cost": 7.5,
        "groups": None,
        "limited": (1,),
        "limits": np.array([[2]]),
        "used": np.array([[2]]),
        "prices": np.array([[0.0]]),
    }
    return Allocation(**{**parts, **changed})


def test_limits_and_prices_are_told_by_action_and_group():
    plain = made()
    assert plain.capacities == {"review": 2}
    assert plain.shadow_prices == {"review": 0.0}
    assert plain.counts == {"pass": 2, "review": 2}
    assert plain.expected_cost == 10.0
    days = made(
        groups=np.array(["mon", "tue"]),
        limited=(0, 1),
        limits=np.array([[1, 2], [3, 4]]),
        used=np.array([[1, 1], [1, 1]]),
        prices=np.array([[0.5, 0.0], [0.0, 9.0]]),
    )
    assert days.capacities == {"pass": {"mon": 1, "tue": 3}, "review": {"mon": 2, "tue": 4}}
    assert days.shadow_prices == {"pass": {"mon": 0.5, "tue": 0}, "review": {"mon": 0, "tue": 9}}


def test_an_action_that_nobody_takes_is_counted():
    assert made(codes=np.zeros(4, dtype=np.int64)).counts == {"pass": 4, "review": 0}


def test_decisions_are_an_array_that_may_be_written_to_when_copied():
    plan = made()
    copied = np.array(plan)
    copied[0] = "other"
    assert plan.decisions.tolist() == ["pass", "review", "review", "pass"]
    numbers = made(actions=np.array([10, 20]))
    assert np.asarray(numbers, dtype=float).tolist() == [10, 20, 20, 10]
    assert len(numbers) == 4


def test_only_the_dearest_groups_are_shown():
    names = np.array([f"day {i}" for i in range(5)])
    text = repr(
        made(
            groups=names,
            limits=np.full((5, 1), 1000),
            used=np.array([[1], [2], [3], [4], [5]]),
            prices=np.array([[0.0], [8.0], [2.5], [1e-9], [8.0]]),
        )
    )
    assert text.split("\n") == [
        "Allocation of 4 rows: 2 pass, 2 review",
        "  expected cost 10, 2.50 more than without limits",
        "  review: 2 of 1,000 in day 1; one more would save 8",
        "  review: 5 of 1,000 in day 4; one more would save 8",
        "  review: 3 of 1,000 in day 2; one more would save 2.50",
        "  review: and 2 more groups",
    ]


@pytest.mark.parametrize(
    ("cost", "text"),
    [(0.0, "0"), (1234.5, "1,235"), (0.05, "0.05"), (1e-300, "1e-300"), (1e300, "1e+300")],
)
def test_costs_of_any_size_are_written_short(cost, text):
    free = made(expected_costs=np.array([cost, 0, 0, 0]), limited=())
    assert repr(free).endswith(f"\n  expected cost {text}")
