"""Weighted logistic regression of few parameters: the fit behind Platt and beta calibration.

scikit-learn's takes no targets between 0 and 1, and stops at its tolerance; these few parameters
deserve the exact optimum, so that the score equations hold to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from costboost.typing import Floats, Indices

Expansion = tuple[float, Floats, Floats]  # a loss, its gradient and its hessian

BLOCK = 1 << 16  # rows


def share(values: Floats, w: Floats) -> Floats:
    """Weighted mean over rows, safe where the sum of the weights would overflow."""
    w = w / w.max()
    return np.asarray(w @ values / w.sum())


def log_odds_of(targets: Floats, w: Floats) -> float:
    """Return the log odds of the weighted mean of targets in [0, 1], which rounding may leave.

    Finite where both sides have weight: a mean that rounds to 1 has the odds of what it lacks.
    """
    found = float(logit(np.clip(share(targets, w), 0.0, 1.0)))
    return found if found < np.inf else -float(logit(np.clip(share(1.0 - targets, w), 0.0, 1.0)))


def standardise(columns: Floats, w: Floats) -> tuple[Floats, Floats, Floats]:
    """Columns with weighted mean 0 and deviation 1; one that does not vary gets scale 0."""
    top = np.abs(columns).max(axis=0)
    top[top < 1e-300] = 1.0
    unit = columns / top
    centre = share(unit, w)
    spread = np.sqrt(share((unit - centre) ** 2, w))
    spread[spread < 1e-12] = 0.0  # below this, A * s + B would cancel to noise
    with np.errstate(divide="ignore"):
        scale = np.where(spread > 0, 1 / spread, 0.0)
    return (unit - centre) * scale, centre * top, scale / top


def logistic(columns: Floats, targets: Floats, w: Floats, ridge: float) -> tuple[Floats, float]:
    """Slopes and intercept of a weighted logistic regression on targets in [0, 1].

    Columns of shape (n, d). ``ridge`` penalises squared slopes of the standardised columns, per
    unit of weight. Columns that do not vary get slope 0.
    """
    z, centre, scale = standardise(columns, w)
    prior = log_odds_of(targets, w)
    if not math.isfinite(prior) or not scale.any():
        return np.zeros(columns.shape[1]), prior
    w = w / w.max()
    penalty = np.append(np.where(scale > 0, ridge, 1.0), 0.0)
    start = np.append(np.zeros(columns.shape[1]), prior)
    theta = minimise(z, targets, w / w.sum(), penalty, start)
    slopes = theta[:-1] * scale
    return slopes, float(theta[-1] - slopes @ centre)


def minimise(
    columns: Floats, targets: NDArray[Any], w: Floats, penalty: Floats, theta: Floats
) -> Floats:
    """Minimise ``sum w [log(1 + e^f) - t f] + penalty theta^2 / 2`` with f = (columns, 1) theta.

    Rows go by blocks, so that nothing as large as they are is made beside them.
    """

    def blocks() -> Iterator[tuple[Floats, Floats, Floats]]:
        for start in range(0, len(columns), BLOCK):
            rows = slice(start, start + BLOCK)
            part = columns[rows]
            yield np.column_stack([part, np.ones(len(part))]), targets[rows].astype(float), w[rows]

    def expand(at: Floats) -> Expansion:
        loss = float(penalty @ at**2 / 2)
        gradient, hessian = penalty * at, np.diag(penalty)
        for z, t, own in blocks():
            f = z @ at
            p = expit(f)
            loss += float(own @ (np.logaddexp(0, f) - t * f))
            gradient += z.T @ (own * (p - t))
            hessian += (z.T * (own * p * expit(-f))) @ z
        return loss, gradient, hessian

    return descend(expand, theta)


def minimise_classes(logits: Floats, y: Indices, w: Floats, penalty: Floats) -> Floats:
    """Minimise ``sum w [log sum_k e^f_k - f_y] + penalty theta^2 / 2``.

    f_k = theta_0 s_k + theta_k with logits s of shape (n, K): a slope, and a bias for each class.
    """
    rows, n_classes = np.arange(len(y)), logits.shape[1]
    aims = np.bincount(y, weights=w, minlength=n_classes)
    aim = float(w @ logits[rows, y])

    def expand(at: Floats) -> Expansion:
        f = at[0] * logits + at[1:]
        f -= f.max(axis=1, keepdims=True)
        own = f[rows, y]
        p = np.exp(f)
        whole = p.sum(axis=1, keepdims=True)
        p /= whole
        loss = float(w @ (np.log(whole[:, 0]) - own) + penalty @ at**2 / 2)
        mean = (p * logits).sum(axis=1)
        shares = w @ p
        gradient = np.append(float(w @ mean) - aim, shares - aims) + penalty * at
        weighted = p * w[:, None]
        apart = logits - mean[:, None]
        hessian = np.diag(penalty)
        along = weighted * apart
        hessian[0, 0] += np.sum(along * apart)
        hessian[0, 1:] = hessian[1:, 0] = along.sum(axis=0)
        hessian[1:, 1:] += np.diag(shares) - weighted.T @ p
        return loss, gradient, hessian

    return descend(expand, np.append(1.0, np.zeros(n_classes)))


def descend(expand: Callable[[Floats], Expansion], theta: Floats) -> Floats:
    """Minimise a smooth convex function, known by its first two derivatives, from some point.

    Newton's method with Levenberg's damping, which finds its way back from saturated
    probabilities, where halving Newton's steps does not. A step whose promise is less than the
    loss's rounding is the last one: it squares an error of 1e-8. From there on only the gradient
    can tell whether it was one.
    """
    loss, gradient, hessian = expand(theta)
    damping = 1e-4 * float(np.diag(hessian).max())
    for _ in range(200):
        damped = hessian + damping * np.eye(len(theta))
        step = np.linalg.lstsq(damped, gradient, rcond=1e-300)[0]
        promise = float(gradient @ step)
        moved = expand(theta - step)
        if promise <= 1e-16 * (1.0 + abs(loss)):
            falls = np.linalg.norm(moved[1]) < np.linalg.norm(gradient)
            return theta - step if falls else theta
        if moved[0] <= loss - 0.25 * promise + 1e-15 * (1.0 + abs(loss)):
            theta, (loss, gradient, hessian), damping = theta - step, moved, damping / 8
        else:
            damping *= 8
    return theta
