"""A short run of the fuzzer; `make fuzz` makes the long one."""

import sys

import pytest


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
def test_changed_files_give_the_right_model_or_one_error():
    from fuzzing import CHANGES, fuzz

    found, failed = fuzz(0, 600)
    assert not failed, failed[:5]
    assert sum(found.values()) == 600
    for how in ("damage", *(change.__name__ for change in CHANGES)):
        assert found[f"{how}: refused"], f"{how} was never tried, or never refused"
    assert found["change_arrays: another model"], "no changed number ever reached a model"
