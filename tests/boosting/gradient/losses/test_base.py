"""What all losses share, and what is asked of a user's own."""

import numpy as np
import pytest

from costboost.boosting.gradient.losses import OwnLoss, SquaredLoss
from costboost.boosting.gradient.rows import Rows


def test_a_users_hessian_must_not_be_negative():
    class Bad(SquaredLoss):
        def hessian(self, y, raw):
            return -np.ones_like(raw)

    with pytest.raises(ValueError, match="negative in row 0"):
        OwnLoss(Bad()).derivatives(Rows(np.zeros(3)), np.zeros((3, 1)))
