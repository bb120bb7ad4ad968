"""Scores that the tests of calibration share."""

import numpy as np
from hypothesis import strategies as st
from scipy.special import expit, softmax

from costboost.calibration import CALIBRATORS

NAMES = [name for name in CALIBRATORS if name is not None]


def sample(seed, n=200, scale=1.0):
    """Margins whose log-odds are 1.5 times too large, labels and integer weights."""
    rng = np.random.default_rng(seed)
    margin = rng.normal(size=n)
    y = (rng.random(n) < expit(margin)).astype(int)
    return 1.5 * scale * margin, y, rng.integers(0, 4, n).astype(float)


seeds = st.integers(0, 10_000)


def class_scores(n=400, seed=0, shift=(0.0, 1.0, -2.0)):
    """Return logits of three classes that lean to some of them, and the classes."""
    rng = np.random.default_rng(seed)
    logits = 2.0 * rng.standard_normal((n, 3))
    p = softmax(0.5 * logits + np.array(shift), axis=1)
    y = (rng.uniform(size=(n, 1)) > np.cumsum(p, axis=1)).sum(axis=1).clip(max=2)
    return logits, y
