"""Weighted logistic regression of few parameters: the fit behind Platt and beta calibration.

scikit-learn's takes no targets between 0 and 1, and stops at its tolerance; these few parameters
deserve the exact optimum, so that the score equations hold to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

BLOCK = 1 << 16  # rows


def share(values: Floats, w: Floats) -> Floats:
    """Weighted mean over rows, safe where the sum of the weights would overflow."""
    w = w / w.max()
    return np.asarray(w @ values / w.sum())


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
    prior = float(share(targets, w))
    if prior <= 0 or prior >= 1 or not scale.any():
        return np.zeros(columns.shape[1]), float(logit(prior))
    w = w / w.max()
    penalty = np.append(np.where(scale > 0, ridge, 1.0), 0.0)
    start = np.append(np.zeros(columns.shape[1]), logit(prior))
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

    def loss_and_gradient(at: Floats) -> tuple[float, Floats]:
        loss, gradient = 0.0, np.zeros(len(at))
        for z, t, own in blocks():
            f = z @ at
            loss += float(own @ (np.logaddexp(0, f) - t * f))
            gradient += z.T @ (own * (expit(f) - t))
        return float(loss + penalty @ at**2 / 2), gradient + penalty * at

    def hessian(at: Floats) -> Floats:
        out = np.zeros((len(at), len(at)))
        for z, _, own in blocks():
            f = z @ at
            out += (z.T * (own * expit(f) * expit(-f))) @ z
        return out + np.diag(penalty)

    return descend(loss_and_gradient, hessian, theta)


def minimise_classes(logits: Floats, y: Ints, w: Floats, penalty: Floats) -> Floats:
    """Minimise ``sum w [log sum_k e^f_k - f_y] + penalty theta^2 / 2``.

    f_k = theta_0 s_k + theta_k with logits s of shape (n, K): a slope, and a bias for each class.
    """
    rows, n_classes = np.arange(len(y)), logits.shape[1]
    aims = np.bincount(y, weights=w, minlength=n_classes)
    aim = float(w @ logits[rows, y])

    def proba(at: Floats) -> tuple[Floats, Floats]:
        f = at[0] * logits + at[1:]
        top = f.max(axis=1, keepdims=True)
        powers = np.exp(f - top)
        whole = powers.sum(axis=1, keepdims=True)
        return powers / whole, np.asarray((np.log(whole) + top)[:, 0] - f[rows, y])

    def loss_and_gradient(at: Floats) -> tuple[float, Floats]:
        p, losses = proba(at)
        slope = float(w @ (p * logits).sum(axis=1)) - aim
        gradient = np.append(slope, w @ p - aims) + penalty * at
        return float(w @ losses + penalty @ at**2 / 2), gradient

    def hessian(at: Floats) -> Floats:
        p, _ = proba(at)
        weighted = p * w[:, None]
        apart = logits - (p * logits).sum(axis=1, keepdims=True)
        out = np.empty((n_classes + 1, n_classes + 1))
        out[0, 0] = np.sum(weighted * apart**2)
        out[0, 1:] = out[1:, 0] = np.sum(weighted * apart, axis=0)
        out[1:, 1:] = np.diag(weighted.sum(axis=0)) - weighted.T @ p
        return out + np.diag(penalty)

    return descend(loss_and_gradient, hessian, np.append(1.0, np.zeros(n_classes)))


def descend(
    loss_and_gradient: Callable[[Floats], tuple[float, Floats]],
    hessian: Callable[[Floats], Floats],
    theta: Floats,
) -> Floats:
    """Minimise a smooth convex function from a starting point.

    Newton's method with Levenberg's damping, which finds its way back from saturated
    probabilities, where halving Newton's steps does not. Once the loss moves by rounding only, a
    falling gradient still counts as progress: the last steps are the exact ones.
    """
    (loss, grad), damping = loss_and_gradient(theta), 1.0
    for _ in range(500):
        damped = hessian(theta) + damping * np.eye(len(theta))
        step = np.linalg.lstsq(damped, grad, rcond=1e-300)[0]
        if np.all(np.abs(step) <= 1e-15 * (1 + np.abs(theta))):
            break
        new_loss, new_grad = loss_and_gradient(theta - step)
        falls = np.linalg.norm(new_grad) < np.linalg.norm(grad)
        if new_loss < loss - 0.25 * (grad @ step) or (falls and new_loss <= loss + 1e-14):
            theta, loss, grad, damping = theta - step, new_loss, new_grad, damping / 8
        else:
            damping *= 8
    return theta
