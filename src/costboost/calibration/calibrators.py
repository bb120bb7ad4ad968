"""Calibrators of one score: a few numbers and one function each.

``predict`` maps scores to probabilities, ``fit`` returns a fitted copy, and the unfitted object is
the plain link: ``Beta()`` is the identity, ``Sigmoid()`` the logistic function.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, least_squares
from scipy.special import expit, logit, softmax
from sklearn.isotonic import IsotonicRegression

from costboost.boosting import formulas
from costboost.calibration._logistic import (
    log_odds_of,
    logistic,
    minimise,
    minimise_classes,
    share,
    standardise,
)
from costboost.inputs.arrays import read_weights
from costboost.typing import Floats

#: Scores in [0, 1] are kept this far from both ends before a logarithm is taken.
EPSILON = float(np.finfo(np.float64).eps)
#: Penalty on standardised slopes, per unit of weight: separable scores get a finite slope, others
#: move in the eighth digit.
RIDGE = 1e-8
#: Penalty on a squared bias, in rows: a prior of mean 0 and deviation 0.45, soon outvoted.
BIAS_RIDGE = 5.0
#: The bias of a class without rows.
NEVER = -1e3
#: Counts beyond this leave Platt's targets indistinguishable from 0 and 1.
LARGEST_COUNT = 1e12
#: A minimum found elsewhere is taken if its squared error is lower by this share of it.
MIN_GAIN = 1e-9
#: It is looked for on at most so many weighted scores, by so many descents.
GATHERED, STARTS = 128, 8
#: Logits that differ by less are constant: a slope for them would overflow.
LEAST = 1e-300


def _rows(
    scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, *, columns: bool = False
) -> tuple[Floats, NDArray[Any], Floats]:
    """Check one calibration set and drop its rows of weight zero.

    Labels of a single score are 1 where positive, so that {-1, 1} serves as well as {0, 1}.
    """
    s, t = finite(scores, columns=columns), np.asarray(y)
    w = read_weights(sample_weight, len(s))
    if not len(s):
        raise ValueError("Calibration needs rows, and there are none.")
    if t.shape != (len(s),):
        raise ValueError(
            f"Scores of shape {s.shape} and y of shape {t.shape} do not belong together: give one "
            "label per row of scores."
        )
    alive = slice(None) if np.all(w > 0) else w > 0
    t = t[alive].astype(np.intp) if columns else (t[alive] > 0).astype(np.int8)
    return s[alive], t, w[alive]


def finite(scores: ArrayLike, *, columns: bool = False) -> Floats:
    """Read scores as floats ``(n,)``, or also ``(n, K)``, and refuse what is not finite."""
    s = np.asarray(scores, dtype=np.float64)
    if s.ndim != 1 and not (columns and s.ndim == 2):
        wanted = "(n,) or (n, K)" if columns else "(n,)"
        raise ValueError(f"Scores must have shape {wanted}, got {s.shape}.")
    if not np.isfinite(s).all():
        raise ValueError("Scores must be finite: clip infinite margins before calibrating them.")
    return s


def row_counts(w: Floats) -> Floats:
    """Return how many rows each row counts for, where weights are set against numbers of rows.

    A row of weight 3 is three rows, so weights of 1 and more are the counts. Weights below 1 have
    some other unit: those that sum to 1 are not one row. All are multiplied by
    ``max(1, sum w / sum w^2)``, by which small ones add up to Kish's effective number of rows,
    ``(sum w)^2 / sum w^2``, whatever their unit.
    """
    if w.min() >= 1.0:
        return w
    top = w.max()
    shares = w / top  # whose squares stay in range
    effective = shares.sum() / (shares @ shares)
    return w if effective <= top else shares * effective


def _platt_targets(y: NDArray[Any], w: Floats) -> Floats:
    """(N+ + 1) / (N+ + 2) for positives, 1 / (N- + 2) for negatives: Platt 1999, section 2.2."""
    n = row_counts(w)
    with np.errstate(over="ignore"):
        positives, negatives = (min(float(n[y == side].sum()), LARGEST_COUNT) for side in (1, 0))
    return np.where(y == 1, (positives + 1) / (positives + 2), 1 / (negatives + 2))


@dataclass(frozen=True)
class Sigmoid:
    """Platt scaling: ``p = 1 / (1 + exp(A s + B))``, fitted by cross-entropy.

    The targets are Platt's smoothed ones, ``(N+ + 1) / (N+ + 2)`` and ``1 / (N- + 2)`` with
    weighted counts (`row_counts`), so that A and B are finite for separable scores. At the solution
    ``sum w (p - t) = 0`` and ``sum w s (p - t) = 0``. A is negative for a useful score. Constant
    scores give A = 0 and the mean of the targets, which is the prior drawn towards one half; so do
    misleading ones where the map must not fall (``rising=True``).

    References
    ----------
    Platt 1999, "Probabilistic outputs for support vector machines".

    Examples
    --------
    >>> from costboost.calibration import Sigmoid
    >>> sigmoid = Sigmoid().fit([-1.0, 1.0], [0, 1])  # targets 1/3 and 2/3
    >>> round(sigmoid.A, 4), [round(float(p), 4) for p in sigmoid.predict([-1.0, 1.0])]
    (-0.6931, [0.3333, 0.6667])
    """

    A: float = -1.0
    B: float = 0.0

    def fit(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        rising: bool = False,
    ) -> Sigmoid:
        """Return the map fitted to scores ``(n,)`` and labels y in {0, 1}."""
        s, t, w = _rows(scores, y, sample_weight)
        targets = _platt_targets(t, w)
        slopes, intercept = logistic(s[:, None], targets, w, ridge=0.0)
        if rising and slopes[0] < 0:
            return self._constant(targets, w)
        return replace(self, A=-float(slopes[0]), B=-intercept)

    def _constant(self, targets: Floats, w: Floats) -> Self:
        """Return the best map without a slope, by either error."""
        return replace(self, A=0.0, B=-log_odds_of(targets, w))

    def predict(self, scores: ArrayLike) -> Floats:
        """Return the probability of the positive class, ``(n,)``."""
        return np.asarray(expit(-(self.A * finite(scores) + self.B)))


@dataclass(frozen=True)
class SigmoidBrier(Sigmoid):
    """Platt scaling by squared error, ``sum w (p - t)^2``: the fit of Nikolaou et al.

    Squared error is not convex in (A, B): with few rows it has several local minima. The search
    starts at the solution of `Sigmoid` and wherever the error is small on a grid of slopes and
    places, and keeps the least minimum. The poster's own code starts at A = B = 1 alone.

    References
    ----------
    Nikolaou et al. 2016, "Cost-sensitive boosting algorithms: do we really need them?", step 3.3.

    Examples
    --------
    >>> from costboost.calibration import SigmoidBrier
    >>> fitted = SigmoidBrier().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
    >>> [round(float(p), 3) for p in fitted.predict([0.0, 0.5, 1.0])]
    [0.295, 0.5, 0.705]
    """

    def fit(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        rising: bool = False,
    ) -> SigmoidBrier:
        """Return the map fitted to scores ``(n,)`` and labels y in {0, 1}."""
        s, t, w = _rows(scores, y, sample_weight)
        start = Sigmoid().fit(s, t, w)
        z, centre, scale = standardise(s[:, None], w)
        if not scale.any():
            return replace(self, A=start.A, B=start.B)
        rows = _Squares(z[:, 0], _platt_targets(t, w), w / w.max())
        near = np.array([start.A / scale[0], start.B + start.A * centre[0]])
        found = rows.least(near, rising=rising)
        slope = float(found[0] * scale[0])
        return replace(self, A=slope, B=float(found[1]) - slope * float(centre[0]))


@dataclass(frozen=True)
class _Squares:
    """The squared error of sigmoids 1 / (1 + exp(a z + b)) on standardised scores z, (n,)."""

    z: Floats
    targets: Floats
    w: Floats

    def error(self, at: Floats) -> float:
        """Return sum w (p - t)^2 at (a, b)."""
        return float(self.w @ (expit(-(at[0] * self.z + at[1])) - self.targets) ** 2)

    def descend(self, start: Floats) -> Floats:
        """Return the local minimum that a descent from (a, b) ends in."""
        z, root = np.column_stack([self.z, np.ones(len(self.z))]), np.sqrt(self.w)
        found = least_squares(
            lambda at: root * (expit(-(z @ at)) - self.targets),
            start,
            jac=lambda at: -(z.T * (root * expit(z @ at) * expit(-(z @ at)))).T,
            ftol=1e-14,
            xtol=1e-14,
            gtol=1e-14,
        )
        return np.asarray(found.x)

    def least(self, near: Floats, *, rising: bool) -> Floats:
        """Return the least minimum: that of the descent from `near`, unless another is lower.

        Where p must not fall with z, of those that do not, the constant among them.
        """
        few, found = self._gathered(), self.descend(near)
        if rising and found[0] > 0.0:
            found = np.array([0.0, -float(logit(share(self.targets, self.w)))])
        others = [few.descend(at) for at in few._starts(rising=rising)]
        others = [at for at in others if not (rising and at[0] > 0.0)]
        best = min(others, key=few.error, default=found)
        if few.error(best) < few.error(found) * (1.0 - MIN_GAIN):
            best = self.descend(best)
            found = best if self.error(best) < self.error(found) else found
        return found

    def _gathered(self) -> _Squares:
        """Return at most `GATHERED` weighted scores; the error of few changes by a constant."""
        inverse = np.unique(self.z, return_inverse=True)[1]
        n_scores = int(inverse.max()) + 1
        group = inverse * min(n_scores, GATHERED) // n_scores
        w, z, t = (self.w * x for x in (1.0, self.z, self.targets))
        total = np.bincount(group, w).astype(np.float64)
        return _Squares(np.bincount(group, z) / total, np.bincount(group, t) / total, total)

    def _starts(self, *, rising: bool) -> list[Floats]:
        """Return where descents begin: the best places of the steepest and of the flattest steps.

        Places are the scores, the middles between them, and some beyond their ends.
        """
        z = self.z
        ends = np.ptp(z) * 2.0 ** np.arange(-2, 4)
        places = np.concatenate([z, 0.5 * (z[1:] + z[:-1]), z[0] - ends, z[-1] + ends])
        slopes = 2.0 ** np.arange(-3, 11)
        starts = []
        for a in -slopes if rising else np.concatenate([-slopes, slopes]):
            p = expit(-a * (z - places[:, None]))
            place = places[np.argmin((p - self.targets) ** 2 @ self.w)]
            starts.append(np.array([a, -a * place]))
        return sorted(starts, key=self.error)[:STARTS]


@dataclass(frozen=True)
class Beta:
    """Beta calibration: ``logit p = a ln s - b ln(1 - s) + c`` with a, b >= 0.

    A logistic regression on ``(ln s, -ln(1 - s))``; where a slope would be negative its column is
    dropped, which is the constrained optimum. a = b = 1, c = 0 is the identity: unlike the sigmoid
    it can leave good probabilities alone. Scores are kept `EPSILON` from 0 and 1.

    Parameters
    ----------
    a, b, c : float
        The map.
    margins : bool, default=False
        Scores are real-valued margins, to be put into (0, 1) by the logistic function first.

    References
    ----------
    Kull, Silva Filho and Flach 2017, "Beta calibration".

    Examples
    --------
    >>> from costboost.calibration import Beta
    >>> [round(float(p), 6) for p in Beta().predict([0.1, 0.5, 0.9])]
    [0.1, 0.5, 0.9]
    """

    a: float = 1.0
    b: float = 1.0
    c: float = 0.0
    margins: bool = False

    def fit(self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Beta:
        """Return the map fitted to scores ``(n,)`` and labels y in {0, 1}."""
        s, t, w = _rows(scores, y, sample_weight)
        columns, targets = self._columns(s), t.astype(np.float64)
        fits = []
        for keep in ([0, 1], [1], [0], []):
            slopes = np.zeros(2)
            slopes[keep], c = logistic(columns[:, keep], targets, w, RIDGE)
            if slopes.min() >= 0:
                f = columns @ slopes + np.clip(c, -1e3, 1e3)
                loss = float(share(np.logaddexp(0, f) - targets * f, w))
                fits.append((loss, replace(self, a=float(slopes[0]), b=float(slopes[1]), c=c)))
            if len(keep) == 2 and fits:
                break
        return min(fits, key=lambda fit: fit[0])[1]

    def predict(self, scores: ArrayLike) -> Floats:
        """Return the probability of the positive class, ``(n,)``."""
        columns = self._columns(finite(scores))
        return np.asarray(expit(self.a * columns[:, 0] + self.b * columns[:, 1] + self.c))

    def _columns(self, s: Floats) -> Floats:
        return formulas.log_sides(_clipped(np.asarray(expit(s)) if self.margins else s))


def unit_interval(s: Floats) -> Floats:
    """Refuse scores outside [0, 1], but for rounding."""
    if s.size and (s.min() < -1e-6 or s.max() > 1 + 1e-6):
        raise ValueError(
            f"Scores must lie in [0, 1], got [{float(s.min()):.6g}, {float(s.max()):.6g}]: give "
            "probabilities or vote fractions, or say margins=True."
        )
    return np.clip(s, 0.0, 1.0)


def _size(columns: Floats, w: Floats) -> float:
    """Return the root of the mean square of rows, (n, d), also where squares leave the range."""
    with np.errstate(over="ignore"):
        size = float(np.sqrt(share((columns**2).sum(axis=1), w)))
    if 0.0 < size < np.inf:
        return size
    top = float(np.abs(columns).max())
    return top * float(np.sqrt(share(((columns / top) ** 2).sum(axis=1), w)))


def _logs(s: Floats) -> Floats:
    return formulas.log_sides(s.ravel())[:, 0].reshape(s.shape)


def _clipped(s: Floats) -> Floats:
    return np.clip(unit_interval(s), EPSILON, 1 - EPSILON)


@dataclass(frozen=True)
class Isotonic:
    """The best increasing map by weighted least squares (pool adjacent violators).

    scikit-learn's `IsotonicRegression`, kept as its knots: linear between them, constant outside.
    It needs hundreds of rows: on few it overfits, and its ends are exactly 0 or 1.

    References
    ----------
    Zadrozny and Elkan 2002, "Transforming classifier scores into accurate multiclass probability
    estimates".

    Examples
    --------
    >>> from costboost.calibration import Isotonic
    >>> fitted = Isotonic().fit([1.0, 2.0, 3.0, 4.0], [0, 1, 0, 1])
    >>> [float(p) for p in fitted.predict([0.0, 2.5, 3.5, 9.0])]
    [0.0, 0.5, 0.75, 1.0]
    """

    knots: Floats = field(default_factory=lambda: np.array([0.0, 1.0]))
    values: Floats = field(default_factory=lambda: np.array([0.0, 1.0]))

    def fit(
        self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Isotonic:
        """Return the map fitted to scores ``(n,)`` and labels y in {0, 1}."""
        s, t, w = _rows(scores, y, sample_weight)
        pav = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        pav.fit(s, t.astype(np.float64), w / w.max())
        return replace(self, knots=pav.X_thresholds_, values=pav.y_thresholds_)

    def predict(self, scores: ArrayLike) -> Floats:
        """Return the probability of the positive class, ``(n,)``."""
        return np.interp(finite(scores), self.knots, self.values)


@dataclass(frozen=True)
class Temperature:
    """One number for all classes: ``p = softmax(beta * logits)``, beta >= 0, by cross-entropy.

    Keeps the order of the classes. Scores ``(n, K)`` are probabilities, whose logarithms are the
    logits; scores ``(n,)`` are the probability of the second of two classes. A penalty of `RIDGE`
    on beta gives separable scores a finite solution. Ours rather than scikit-learn's, which has it
    from 1.8 only.

    Parameters
    ----------
    beta : float
        The inverse temperature; below 1 it makes the scores less sure.
    prior : tuple of float, optional
        Set where the scores were constant: what is then predicted.
    margins : bool, default=False
        Scores are logits already.

    References
    ----------
    Guo, Pleiss, Sun and Weinberger 2017, "On calibration of modern neural networks".

    Examples
    --------
    >>> from costboost.calibration import Temperature
    >>> fitted = Temperature().fit([0.1, 0.1, 0.9, 0.9, 0.9, 0.9], [0, 1, 1, 1, 1, 0])
    >>> round(fitted.beta, 3)
    0.315
    """

    beta: float = 1.0
    prior: tuple[float, ...] | None = None
    margins: bool = False

    def fit(
        self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Temperature:
        """Return the map fitted to scores ``(n,)`` or ``(n, K)`` and class numbers y."""
        s, t, w = _rows(scores, y, sample_weight, columns=True)
        logits = self._logits(s)
        n_classes = logits.shape[1]
        if np.ptp(logits, axis=0).max() < LEAST:
            shares = share(np.eye(n_classes)[t], w)
            return replace(self, prior=tuple(float(p) for p in shares))
        unit = _size(logits, w)
        logits, w = logits / unit, w / w.max() / (w / w.max()).sum()
        right = w @ logits[np.arange(len(t)), t]

        def slope(beta: float) -> float:
            expected = w @ (softmax(beta * logits, axis=1) * logits).sum(axis=1)
            return float(expected - right + RIDGE * beta)

        # By Cauchy-Schwarz |expected - right| <= 2 in this unit: the penalty wins at 3 / RIDGE.
        beta = 0.0 if slope(0.0) >= 0 else brentq(slope, 0.0, 3 / RIDGE, xtol=1e-12, rtol=1e-14)
        return replace(self, beta=float(beta) / unit, prior=None)

    def predict(self, scores: ArrayLike) -> Floats:
        """Return probabilities of the shape of the scores."""
        s = finite(scores, columns=True)
        logits = self._logits(s)
        if self.prior is None:
            p = formulas.softmax(self.beta * logits)
        else:
            p = np.tile(self.prior, (len(s), 1))
        return np.asarray(p if s.ndim == 2 else p[:, 1])

    def _logits(self, s: Floats) -> Floats:
        if not self.margins:
            s = _clipped(s)
            s = _logs(s) if s.ndim == 2 else np.asarray(logit(s))
        logits = s if s.ndim == 2 else np.column_stack([-s / 2, s / 2])
        return np.asarray(logits - logits.mean(axis=1, keepdims=True))


@dataclass(frozen=True)
class BiasCorrected:
    """Temperature and a shift: ``logit p = beta * logit s + bias``, beta >= 0, by cross-entropy.

    Boosted scores of few or rare positives lean to one side, which a temperature alone cannot
    mend. The bias is drawn to 0 by a penalty of `BIAS_RIDGE` rows: small tables stay close to
    `Temperature`, large ones get the bias that they ask for. Scores that are constant, or worse
    than chance, give beta = 0 and the prior.

    Parameters
    ----------
    beta, bias : float
        The map.
    margins : bool, default=False
        Scores are logits already.

    References
    ----------
    Alexandari, Kundaje and Shrikumar 2020, "Maximum likelihood with bias-corrected calibration is
    hard-to-beat at label shift adaptation"; the penalty is ours.

    Examples
    --------
    >>> from costboost.calibration import BiasCorrected
    >>> s, y = [-1.0] * 400 + [1.0] * 400, [0] * 390 + [1] * 10 + [0] * 300 + [1] * 100
    >>> fitted = BiasCorrected(margins=True).fit(s, y)  # the shares are 0.025 and 0.25
    >>> [round(float(p), 3) for p in fitted.predict([-1.0, 1.0])]
    [0.038, 0.263]
    """

    beta: float = 1.0
    bias: float = 0.0
    margins: bool = False

    def fit(
        self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> BiasCorrected:
        """Return the map fitted to scores ``(n,)`` and labels y in {0, 1}."""
        s, t, w = _rows(scores, y, sample_weight)
        logits = self._logits(s)
        prior = replace(self, beta=0.0, bias=log_odds_of(t.astype(np.float64), w))
        if np.ptp(logits) < LEAST or np.ptp(t) == 0:
            return prior
        unit = _size(logits[:, None], w)
        with np.errstate(over="ignore"):
            count = min(float(row_counts(w).sum()), LARGEST_COUNT)
        penalty = np.array([RIDGE, BIAS_RIDGE / count])
        w = w / w.max() / (w / w.max()).sum()
        beta, bias = minimise((logits / unit)[:, None], t, w, penalty, np.zeros(2))
        if beta <= 0:
            return prior
        return replace(self, beta=float(beta) / unit, bias=float(bias))

    def predict(self, scores: ArrayLike) -> Floats:
        """Return the probability of the positive class, ``(n,)``."""
        s = finite(scores)
        if self.beta == 0:
            return np.full(len(s), float(expit(self.bias)))
        return np.asarray(expit(self.beta * self._logits(s) + self.bias))

    def _logits(self, s: Floats) -> Floats:
        return s if self.margins else np.asarray(logit(_clipped(s)))


@dataclass(frozen=True)
class ClassBiases:
    """A temperature and one bias per class: ``p = softmax(beta * logits + biases)``, beta >= 0.

    `BiasCorrected` for more than two classes: by cross-entropy, each bias drawn to 0 by a penalty
    of `BIAS_RIDGE` rows. A class without rows gets the bias `NEVER`. A class whose scores are
    constant, as a model's are that never saw it, gets its share for a score. Scores that are
    constant, or worse than chance, give beta = 0 and the shares of the classes.

    Parameters
    ----------
    beta : float
    biases : tuple of float
        One for each class.
    margins : bool, default=False
        Scores are logits already, not probabilities.

    References
    ----------
    Alexandari, Kundaje and Shrikumar 2020, as for `BiasCorrected`.

    Examples
    --------
    >>> from costboost.calibration import ClassBiases
    >>> scores = [[0.4, 0.3, 0.3]] * 500 + [[0.2, 0.4, 0.4]] * 500
    >>> fitted = ClassBiases().fit(scores, [0] * 400 + [1] * 80 + [2] * 420 + [1] * 100)
    >>> [round(float(p), 2) for p in fitted.predict([[0.2, 0.4, 0.4]])[0]]
    [0.0, 0.3, 0.7]
    """

    beta: float = 1.0
    biases: tuple[float, ...] = ()
    margins: bool = False

    def fit(
        self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> ClassBiases:
        """Return the map fitted to scores ``(n, K)`` and class numbers y."""
        s, t, w = _rows(scores, y, sample_weight, columns=True)
        shares = share(np.eye(s.shape[1])[t], w)
        prior = np.log(np.maximum(shares, EPSILON))
        raw = self._raw(s)
        moved = np.where(np.ptp(raw, axis=0) < LEAST, prior - raw[0], 0.0)
        logits = _centred(raw + moved)
        if np.ptp(logits, axis=0).max() < LEAST or np.ptp(t) == 0:
            return replace(self, beta=0.0, biases=tuple(prior.tolist()))
        unit = _size(logits, w)
        with np.errstate(over="ignore"):
            count = min(float(row_counts(w).sum()), LARGEST_COUNT)
        seen = np.flatnonzero(shares > 0)
        penalty = np.append(RIDGE, np.full(len(seen), BIAS_RIDGE / count))
        w = w / w.max() / (w / w.max()).sum()
        numbers = np.searchsorted(seen, t)
        beta, *found = minimise_classes(logits[:, seen] / unit, numbers, w, penalty).tolist()
        if beta <= 0:
            return replace(self, beta=0.0, biases=tuple(prior.tolist()))
        biases = np.full(len(shares), NEVER)
        biases[seen] = found + beta / unit * moved[seen]
        return replace(self, beta=beta / unit, biases=tuple(biases.tolist()))

    def predict(self, scores: ArrayLike) -> Floats:
        """Return probabilities, ``(n, K)``."""
        logits = _centred(self._raw(finite(scores, columns=True)))
        return formulas.softmax(self.beta * logits + np.array(self.biases))

    def _raw(self, s: Floats) -> Floats:
        return s if self.margins else _logs(_clipped(s))


def _centred(logits: Floats) -> Floats:
    return np.asarray(logits - logits.mean(axis=1, keepdims=True))


#: Every calibration by name. None is the identity, for scores that are probabilities already.
CALIBRATORS: dict[str | None, type[Any] | None] = {
    None: None,
    "sigmoid": Sigmoid,
    "sigmoid-brier": SigmoidBrier,
    "beta": Beta,
    "isotonic": Isotonic,
    "temperature": Temperature,
    "bias-corrected": BiasCorrected,
}
