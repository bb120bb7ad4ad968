"""Maps from margins to probabilities, each with scores and with what Python makes of them."""

import numpy as np
from scipy.special import expit, softmax

from costboost.calibration import CALIBRATORS, ClassCalibration, Isotonic
from costboost.model import Calibrate, Logistic, Normalise, Second, VoteShares

RNG = np.random.default_rng(11)
MARGINS = np.array([0.0, -0.0, 1e-300, 0.3, -0.7, 2.5, -8.0, 30.0, -45.0])
SHARES = np.array([0.0, 1.0, 0.5, 0.25, 0.75, 1e-12, 1 - 1e-12, 0.3, 0.65])


def three(column):
    """Return scores of three classes, (n, 3)."""
    return np.column_stack([column, np.roll(column, 1), np.roll(column, 4)])


def calibrations():
    """Yield a calibration of every kind, of two and of three classes, with its scores."""
    for method in filter(None, CALIBRATORS):
        for margins in (False, True):
            for n_classes in (2, 3):
                fitted = ClassCalibration(method, n_classes, margins)
                y = np.arange(60) % n_classes
                scores = RNG.normal(size=(60, n_classes)) + np.eye(n_classes)[y]
                scores = scores if margins else softmax(scores, axis=1)
                if n_classes == 2:
                    scores = scores[:, 1] - scores[:, 0] if margins else scores[:, 1]
                asked = MARGINS if margins else SHARES
                asked = asked[:, None] if n_classes == 2 else three(asked)
                name = f"{method} of {n_classes}, {'margins' if margins else 'shares'}"
                yield name, fitted.fit(scores, y), asked


def cases():
    """Yield name, map, scores (n, J) and what is expected, (n, K)."""
    one, many = MARGINS[:, None], three(MARGINS)
    yield "logistic", Logistic(2.0), one, np.hstack([expit(-2 * one), expit(2 * one)])
    yield "softmax", Logistic(0.5), many, softmax(0.5 * many, axis=1)
    share = np.clip(0.5 * (1 + one / 4.0), 0, 1)
    yield "vote shares", VoteShares(4.0), one, np.hstack([1 - share, share])
    votes = np.array([[1.0, 3.0, 0.0], [0.0, 0.0, 0.0], [1e-300, 1e-300, 0.0], [1e300, 0.0, 0.0]])
    total = votes.sum(axis=1, keepdims=True)
    shares = np.where(total > 0, votes / np.where(total > 0, total, 1), 1 / 3)
    yield "normalise", Normalise(), votes, shares
    yield "vote shares of 3", VoteShares(4.0), votes, shares
    pair = np.column_stack([1 - SHARES, SHARES])
    yield "second", Second(), pair, SHARES[:, None]
    for name, fitted, scores in calibrations():
        given = scores[:, 0] if scores.shape[1] == 1 else scores
        yield name, Calibrate(fitted), scores, fitted.predict(given)
    for margins in (False, True):  # a score of each of two classes
        fitted = ClassCalibration("sigmoid", 2, margins)
        fitted = fitted.fit(np.linspace(0, 1, 40), np.arange(40) % 4 == 3)
        scores = three(MARGINS if margins else SHARES)[:, :2]
        name = f"sigmoid of a pair, {'margins' if margins else 'shares'}"
        yield name, Calibrate(fitted), scores, fitted.predict(scores)
    steps = Isotonic(np.array([0.2, 0.3, 0.3, 0.8]), np.array([0.0, 0.1, 0.6, 1.0]))
    flat = Isotonic(np.array([0.5]), np.array([0.4]))
    for name, knots in (("isotonic with a step", steps), ("isotonic of one knot", flat)):
        fitted = ClassCalibration("isotonic", 2, False, (knots,))
        scores = np.array([0.0, 0.2, 0.25, 0.3, np.nextafter(0.3, 1), 0.5, 0.8, 1.0])
        yield name, Calibrate(fitted), scores[:, None], fitted.predict(scores)


CASES = {name: rest for name, *rest in cases()}
