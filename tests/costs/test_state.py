"""The canonical form of costs: its cells, and how it is written down."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from costboost.costs import Costs


def test_a_price_per_row_keeps_scalars_scalar():
    fn = np.arange(1.0, 6.0)
    costs = Costs(fp=1, fn=fn)
    assert costs.shape == (5, 2, 2)
    assert len(costs) == costs.n_rows == 5
    assert costs.per_row
    assert sum(column.size for column in costs._state.columns) == 5 + 3
    assert_array_equal(np.asarray(costs)[:, 1, 0], fn)


def test_every_pickle_protocol_gives_back_read_only_arrays():
    costs = Costs(1, np.arange(1.0, 9.0), positive="a").bind(["a", "b"])[::2]
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        twin = pickle.loads(pickle.dumps(costs, protocol))
        assert twin == costs
        assert not any(column.flags.writeable for column in twin._state.columns)


def test_unread_prices_cannot_be_taken_for_others():
    costs = Costs(fp=8, fn="amount").bind([0, 1])
    for use in (
        lambda: np.asarray(costs),
        lambda: costs.expected([[0.5, 0.5]]),
        lambda: costs.decide([[0.5, 0.5]]),
        lambda: costs.of_labels([0, 1]),
        lambda: costs.thresholds(),
        lambda: costs.mean(),
        lambda: costs.total([0], [1]),
        lambda: costs.largest,
        lambda: costs.to_frame(),
    ):
        with pytest.raises(ValueError, match=r"the column 'amount' of a table.*bind_table\(X\)"):
            use()
