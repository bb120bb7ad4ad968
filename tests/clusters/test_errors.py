"""Errors of clusters, which are made on one machine and raised on another."""

import pickle

import pytest

from costboost.clusters import protocol

ERRORS = [name for name in protocol.__all__ if name.endswith("Error")]


@pytest.mark.parametrize("name", ERRORS)
def test_errors_survive_the_journey_and_are_caught_as_errors_of_a_cluster(name):
    error = getattr(protocol, name)("Part 3 was lost.")
    error.add_note("Raised on worker a")
    there = pickle.loads(pickle.dumps(error))
    with pytest.raises(protocol.ClusterError, match=r"Part 3 was lost\.") as caught:
        raise there
    assert type(caught.value) is type(error)
    assert caught.value.__notes__ == ["Raised on worker a"]
    assert not isinstance(there, (ValueError, TypeError))  # those are taken for the user's own
