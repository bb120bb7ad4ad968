"""A short run of the fuzzer; `make fuzz` makes the long one."""

import sys

import numpy as np
import pytest

import costboost as cb
from costboost.persistence import ModelFileError
from zoo import MAKERS, fitted


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
def test_changed_files_give_the_right_model_or_one_error():
    from fuzzing import CHANGES, fuzz

    found, failed = fuzz(0, 600)
    assert not failed, failed[:5]
    assert sum(found.values()) == 600
    for how in ("damage", *(change.__name__ for change in CHANGES)):
        assert found[f"{how}: refused"], f"{how} was never tried, or never refused"


def test_a_changed_number_may_reach_a_model(tmp_path):
    """Else the fuzz would show only that everything is refused."""
    from fuzzing import answers, change_arrays, original

    data, expected = original("stumps")
    for seed in range(500):
        (tmp_path / "model").write_bytes(change_arrays(data, np.random.default_rng(seed)))
        try:
            told = answers(cb.load(tmp_path / "model"), fitted("stumps")[1])
        except (ModelFileError, ValueError):  # refused, or a model of another table
            continue
        if told.tobytes() != expected.tobytes():
            return
    raise AssertionError("no changed number ever reached a model")


def test_every_kind_of_model_is_changed():
    from fuzzing import NAMES

    assert set(NAMES) <= set(MAKERS)
    assert len({type(fitted(name)[0]) for name in NAMES}) >= 6
