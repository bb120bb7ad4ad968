"""Tasks on threads: results in order, errors as they were raised."""

import threading

import pytest

from costboost.runtime.machine import run, worthwhile


@pytest.mark.parametrize("n_threads", [0, 1, 2, 50])
def test_results_are_in_the_order_of_tasks(n_threads):
    assert run(lambda number: number**2, range(20), n_threads) == [i**2 for i in range(20)]
    assert run(lambda number: number, [], n_threads) == []


def test_tasks_run_at_the_same_time():
    both = threading.Barrier(2, timeout=30)

    def meet(number):
        both.wait()  # passes only if the other task runs as well
        return number

    assert run(meet, [7, 8], 2) == [7, 8]


@pytest.mark.parametrize(("n_tasks", "n_threads"), [(3, 1), (1, 4)])
def test_one_thread_or_one_task_needs_no_other_thread(n_tasks, n_threads):
    own = threading.get_ident()
    assert run(lambda _: threading.get_ident(), range(n_tasks), n_threads) == [own] * n_tasks


def test_threads_end_with_their_tasks():
    before = threading.active_count()
    run(abs, range(9), 3)
    assert threading.active_count() == before


@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_of_a_task_is_raised(n_threads):
    with pytest.raises(ZeroDivisionError):
        run(lambda number: 1 // number, [1, 0, 2], n_threads)


def test_small_tables_are_worth_one_thread():
    assert not worthwhile(0)
    assert not worthwhile(100 * 100)
    assert worthwhile(10_000 * 100)
