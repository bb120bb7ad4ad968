"""How many rows each label has."""

import numpy as np


def counts(y):
    return dict(zip(*[a.tolist() for a in np.unique(y, return_counts=True)], strict=True))
