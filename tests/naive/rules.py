"""The AdaBoost family in plain NumPy: slow, obvious, written from the formulas alone.

Binary twins go through `boost`: ``y`` in {-1, +1}, ``c`` (n,) the cost of getting row i wrong,
``h`` (n,) one vote per row, ``m = y * h``. A round of any of them is

    D_{t+1}  =  D_t * factor * exp(-exponent) / Z_t,      Z_t = sum D_t * factor * exp(-exponent)

and each method is one function `_step_*` that says what alpha, factor and exponent are. Section
numbers in the comments are those of docs/algorithms.md.

Conventions that the literature leaves open, fixed here:

- D_t are the normalised weights of round t and eps_t = sum D_t [m < 0] is always the error under
  D_t, also where the learner is handed something else (CSAda: c*D, Gradient-CSB: |a|*D).
- alpha is half-log (1.1) except: AdaCost (exact minimiser, twice AdaBoost's at c = 0),
  CSAda (alpha_Ada / k at c = k), RareBoost (a pair), `samme`, `samme_c2`, `adaboost_m2` (full log).
- A round with alpha <= 0 is not taken and ends training (`stop == "alpha"`); Gradient-CSB keeps
  negative steps and ends at alpha == 0 only. RareBoost ends if either side that occurs is <= 0.
- A perfect learner (no weighted row with m < 0; for a searched alpha: no finite minimiser) is kept
  and ends training. An infinite closed form is `max_alpha`; a searched alpha is the minimiser,
  however long, and without one `max_alpha` in the margins' own unit: over the mean of |u|.
- Ties: + iff F > 0 (AdaMEC: F > threshold); the first class for K classes; the first stump.
- `train_cost` is the sum of s_i c_i over wrong rows, in the costs that the caller gave.
- AsymAda's factor is applied before the round, so D_t contains t of the M factors and Z_t is
  the normaliser of the exponential alone; the last row of `weights` has no factor ahead of it.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

EPS = float(np.finfo(np.float64).eps)
MAX_ALPHA = 0.5 * float(np.log((1.0 - EPS) / EPS))  # 18.02: the half log of an error of one ulp
TIE = 1e-12  # two learners closer than this, on weights of sum 1, are equally good

METHODS_K = ["adaboost", "adamec", "cgada", "adac2", "csb0", "csb1", "csb2", "adacost"]
COST_FIRST = {"cgada", "adacost", "csb0", "csb1", "csb2"}  # first weights proportional to cost
UNIT_COSTS = {"adac1", "adac3", "adacost-beta1"}  # closed forms that are valid for c <= 1 only


@dataclass
class Result:
    """One training run of T rounds on n rows."""

    alphas: np.ndarray  # (T,), RareBoost (T, 2): alpha_p, alpha_n
    errors: np.ndarray  # (T,) eps_t under D_t
    normalizers: np.ndarray  # (T,) Z_t
    weights: np.ndarray  # (T+1, n) D_1 .. D_{T+1}, each of sum 1
    margins: np.ndarray  # (T, n) F_t, K classes (T, n, K)
    train_cost: np.ndarray  # (T,) sum s c [wrong] of the method's own decision
    stop: str  # "rounds", "alpha", "perfect", or "votes" when the replayed votes ran out
    votes: np.ndarray  # (T, n) h_t
    exponents: np.ndarray  # (T, n) sum_k of the exponents: -log of the weights, factors aside
    bound: np.ndarray | None = None  # (T,) sum s c * prod Z (AdaCost, CGAda)
    rejected: Any = None  # the alpha that ended training
    constant: int | None = None  # the cheapest constant answer, for a run without rounds
    costs: np.ndarray | None = None  # (n,) the costs used, after `cost_scale`
    extra: dict = field(default_factory=dict)

    @property
    def n_rounds(self) -> int:
        return len(self.errors)


@dataclass
class _Step:
    alpha: Any
    vote: np.ndarray  # what F gains
    exponent: np.ndarray
    factor: np.ndarray
    perfect: bool


@dataclass
class _Options:
    alpha: str = "published"  # or "search"; AdaCost also "estimate"
    max_alpha: float = MAX_ALPHA
    learning_rate: float = 1.0
    init: str | None = None  # "uniform", "cost", "balanced"; None is the method's own
    cost_scale: Any = None  # None: as given; a number: the largest cost; "auto": 2.1, 2.3
    auto_largest: float = 0.1  # AdaCost's largest cost under "auto", or
    auto_fraction: float = 0.5  # of the supremum, where that is less
    beta: Any = None  # AdaCost: beta(sign, c)
    c_delta: bool = False  # AdaCost(beta1, beta2): oaidtb's extra factor c on errors
    ratio: float | None = None  # AdaUBoost's beta; None: mean cost of + over mean cost of -
    objective: Any = "asymboost"  # Gradient-CSB: a name or (a, b, w0)
    pool: np.ndarray | None = None  # (P, n): learner = best of the pool; CSAda: joint search
    logw: Any = None  # ln of the weights of this round
    c_fp: Any = None  # AdaMEC's decision; None: read off c, constant per class
    c_fn: Any = None


# ---------------------------------------------------------------- learners and line search


def stump_pool(X):
    """All axis-aligned stumps at midpoints of distinct values, both signs: (n_stumps, n)."""
    rows = []
    for column in np.asarray(X, dtype=float).T:
        values = np.unique(column)
        for threshold in (values[:-1] + values[1:]) / 2:
            vote = np.where(column > threshold, 1.0, -1.0)
            rows += [vote, -vote]
    return np.array(rows)


def pool_learner(pool):
    """The learner that returns the row of the pool with the largest sum w * target * vote.

    Ties up to rounding go to the first row, so that the order of summation cannot break them.
    """

    def learner(weights, targets):
        edges = pool @ (weights * targets)
        return pool[np.flatnonzero(edges >= edges.max() - TIE)[0]]

    return learner


def half_log(q, u):
    """Schapire and Singer's estimate 1/2 ln((1+r)/(1-r)), r = E_q[u]; exact if |u| = 1 (1.2).

    Written as a ratio of two sums so that nothing cancels as r -> 1.
    """
    plus, minus = np.sum(q * (1 + u)), np.sum(q * (1 - u))
    if minus <= 0:
        return np.inf
    return 0.5 * np.log(plus / minus) if plus > 0 else -np.inf


def log_sum(logs):
    """ln sum exp(logs), without overflow; -inf of nothing."""
    top = np.max(logs, initial=-np.inf)
    return top + np.log(np.sum(np.exp(logs - top))) if np.isfinite(top) else -np.inf


def bounded(logq, u):
    """Whether sum q exp(-alpha u) has a finite minimiser: u takes both signs where q > 0."""
    u = u[np.isfinite(logq)]
    return bool((u > 0).any() and (u < 0).any())


def minimise_z(q, u, max_alpha=MAX_ALPHA, logq=None):
    """argmin of Z(alpha) = sum q exp(-alpha u), by bisection of Z' (1.2).

    Where Z falls for ever, +-max_alpha over the mean of |u|: what `max_alpha` is to |u| = 1.
    `logq` are the logarithms of q where q itself may have vanished.
    """
    logq = _log(np.asarray(q, dtype=float)) if logq is None else logq
    u, logq = u[np.isfinite(logq)], logq[np.isfinite(logq)]
    plus, minus = u > 0, u < 0

    def descent(alpha):  # the sign of -Z'(alpha), each side summed relative to its largest term
        sides = [log_sum(logq[s] + np.log(np.abs(u[s])) - alpha * u[s]) for s in (plus, minus)]
        return 0.0 if sides[0] == sides[1] else sides[0] - sides[1]

    if not np.any(u) or abs(descent(0.0)) <= 1e-15:
        return 0.0
    sign = np.sign(descent(0.0))
    if not bounded(logq, u):
        q = np.exp(logq - logq.max())
        return sign * max_alpha * q.sum() / np.sum(q * np.abs(u))
    low, high = 0.0, 1.0
    while sign * descent(sign * high) > 0:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if sign * descent(sign * middle) > 0:
            low = middle
        else:
            high = middle
    return sign * (low + high) / 2


def fan_beta(sign, c):
    """beta_+ = 1/2 - c/2 when right, beta_- = 1/2 + c/2 when wrong (2.1, Cai Eq. 4)."""
    return 0.5 - 0.5 * sign * c


def check_beta(beta, c):
    """The theorem's conditions: beta_- >= beta_+ >= 0; beta_- rises with c, beta_+ falls (2.1)."""
    c = np.unique(c)
    right, wrong = beta(np.ones_like(c), c), beta(-np.ones_like(c), c)
    if (right < 0).any() or (wrong < right).any():
        raise ValueError("beta must satisfy beta_- >= beta_+ >= 0 at every cost")
    if (np.diff(wrong) < 0).any() or (np.diff(right) > 0).any():
        raise ValueError("beta_- must not fall and beta_+ must not rise as the cost rises")


# ---------------------------------------------------------------- one round of each method
# Every _step_* takes (D, h, y, c, o, n_rounds) and returns a _Step.


def _choose(o, closed, D, u, m, exact=False, factor=1.0):
    """(alpha, perfect): the published closed form, or the minimiser of sum q exp(-alpha u).

    q = factor D; the minimiser also sees weights that are too small for D to hold.
    """
    q = D * factor
    if exact or o.alpha == "search":
        logq = o.logw + _log(factor * np.ones_like(u))
        alpha = minimise_z(q, u, o.max_alpha, logq)
        perfect = not bounded(logq, u)
    else:
        alpha = o.max_alpha if closed == np.inf else closed
        perfect = not (m[q > 0] < 0).any()
    return o.learning_rate * alpha, perfect


def _plain(alpha, perfect, h, u, factor=1.0):
    return _Step(alpha, alpha * h, alpha * u, factor * np.ones_like(h), perfect)


def _step_adaboost(D, h, y, c, o, n_rounds):
    # 1.1: alpha = 1/2 ln((1-eps)/eps), D e^{-alpha y h}. AdaMEC (2.9), CGAda (2.7: D_1 = c/sum c)
    # and AsymAda (2.8: c^{1/M} before each round) differ from it outside the round only.
    m = y * h
    return _plain(*_choose(o, half_log(D, m), D, m, m), h, m)


def _step_adacost(D, h, y, c, o, n_rounds):
    # 2.1: u = y h beta(sign(y h), c), alpha = argmin sum D e^{-alpha u}, D e^{-alpha u}.
    m = y * h
    u = m * (o.beta or fan_beta)(np.sign(m), c)
    exact = o.alpha != "estimate"
    return _plain(*_choose(o, half_log(D, u), D, u, m, exact=exact), h, u)


def _step_adacost_beta(D, h, y, c, o, closed):
    # 2.2: D e^{-alpha c y h}; without the factor C_delta unless asked for.
    m = y * h
    factor = np.where(m < 0, c, 1.0) if o.c_delta else np.ones_like(m)
    return _plain(*_choose(o, closed, D, c * m, m, factor=factor), h, c * m, factor)


def _step_adacost_beta1(D, h, y, c, o, n_rounds):
    return _step_adacost_beta(D, h, y, c, o, half_log(D, c * y * h))  # r = sum D y h c


def _step_adacost_beta2(D, h, y, c, o, n_rounds):
    return _step_adacost_beta(D, h, y, c, o, half_log(D, y * h))  # r = sum D y h


def _step_csb0(D, h, y, c, o, n_rounds):
    # 2.3: w C_delta, C_delta = c if wrong else 1; alpha = 1/2 ln((1+r)/(1-r)), r = sum D y h.
    # Z does not depend on alpha: a searched alpha minimises the voting loss sum D e^{-alpha y h}.
    m = y * h
    alpha, perfect = _choose(o, half_log(D, m), D, m, m)
    return _Step(alpha, alpha * h, np.zeros_like(m), np.where(m < 0, c, 1.0), perfect)


def _step_csb1(D, h, y, c, o, n_rounds):
    # 2.3: w C_delta e^{-delta H} = C_delta e^{-y h}: a step of 1 whatever alpha is.
    m = y * h
    alpha, perfect = _choose(o, half_log(D, m), D, m, m)
    return _Step(alpha, alpha * h, m, np.where(m < 0, c, 1.0), perfect)


def _step_csb2(D, h, y, c, o, n_rounds):
    # 2.3: w C_delta e^{-alpha y h}.
    m = y * h
    factor = np.where(m < 0, c, 1.0)
    return _plain(*_choose(o, half_log(D, m), D, m, m, factor=factor), h, m, factor)


def _step_adac1(D, h, y, c, o, n_rounds):
    # 2.4: D e^{-alpha c y h}; alpha = 1/2 ln((1+S+-S-)/(1-S++S-)), S = sum cD (Cai Eq. 6-7).
    m = y * h
    return _plain(*_choose(o, half_log(D, c * m), D, c * m, m), h, c * m)


def _step_adac2(D, h, y, c, o, n_rounds):
    # 2.4: c D e^{-alpha y h}; alpha = 1/2 ln(S+/S-), S = sum cD.
    m = y * h
    return _plain(*_choose(o, half_log(c * D, m), D, m, m, factor=c), h, m, c)


def _step_adac3(D, h, y, c, o, n_rounds):
    # 2.4: c D e^{-alpha c y h}; alpha = 1/2 ln((S+Q+-Q-)/(S-Q++Q-)), S = sum cD, Q = sum c^2 D.
    m = y * h
    return _plain(*_choose(o, half_log(c * D, c * m), D, c * m, m, factor=c), h, c * m, c)


def _step_csada(D, h, y, c, o, n_rounds):
    # 2.5 (and 2.6): alpha = argmin sum D e^{-c alpha y h}, D e^{-alpha c y h} (Cai Eq. 8).
    u = c * y * h
    return _plain(*_choose(o, None, D, u, u, exact=True), h, u)


def _step_rareboost(D, h, y, c, o, n_rounds):
    # 2.11: alpha_p = 1/2 ln(TP/FP), alpha_n = 1/2 ln(TN/FN); a side without weight gets 0 and is
    # no reason to end. F gains alpha_p where h = +, -alpha_n where h = -.
    plus = h > 0
    alphas = []
    for side, label in ((plus, 1), (~plus, -1)):
        right, wrong = np.sum(D[side & (y == label)]), np.sum(D[side & (y != label)])
        if right + wrong == 0:
            alpha = np.nan
        elif wrong == 0:
            alpha = o.max_alpha
        else:
            alpha = 0.5 * np.log(right / wrong) if right > 0 else -np.inf
        alphas.append(o.learning_rate * alpha)
    vote = np.where(plus, np.nan_to_num(alphas[0]), -np.nan_to_num(alphas[1]))
    perfect = not ((D > 0) & (y * np.where(plus, 1, -1) < 0)).any()
    return _Step(np.array(alphas), vote, y * vote, np.ones_like(h), perfect)


def _step_adauboost(D, h, y, c, o, n_rounds):
    # 2.12: exponent of positives times (1/beta)^{1/T}; AdaBoost's alpha. D_1: beta on positives.
    m = y * h
    u = np.where(y > 0, (1 / o.ratio) ** (1 / n_rounds), 1.0) * m
    return _plain(*_choose(o, half_log(D, m), D, u, m), h, u)


def _step_gradient_csb(D, h, y, c, o, n_rounds):
    # 2.13: alpha = argmin sum w e^{-alpha (a f + b)} (w without |a|), w e^{-alpha (a f + b)}.
    a, b, _ = o.objective
    return _plain(*_choose(o, None, D, a * h + b, y * h, exact=True), h, a * h + b)


_STEPS = {
    "adaboost": _step_adaboost,
    "adamec": _step_adaboost,
    "cgada": _step_adaboost,
    "asymada": _step_adaboost,
    "adacost": _step_adacost,
    "adacost-beta1": _step_adacost_beta1,
    "adacost-beta2": _step_adacost_beta2,
    "csb0": _step_csb0,
    "csb1": _step_csb1,
    "csb2": _step_csb2,
    "adac1": _step_adac1,
    "adac2": _step_adac2,
    "adac3": _step_adac3,
    "csada": _step_csada,
    "adaboostdb": _step_csada,
    "rareboost": _step_rareboost,
    "adauboost": _step_adauboost,
    "gradient-csb": _step_gradient_csb,
}
METHODS = list(_STEPS)


# ---------------------------------------------------------------- before and after the rounds


def gradient_objective(name, y, c):
    """(a, b, w0) of Cai's objective sum w0 exp(-sum_k alpha_k (a f_k + b)) (2.13, Eq. 17)."""
    zero, one = np.zeros(len(y)), np.ones(len(y))
    if name == "adaboost":
        return y, zero, one
    if name == "adacost":
        return y / 2, -c / 2, c if c.any() else one
    if name in ("adac1", "asymboost"):
        return c * y, zero, one
    raise ValueError(f"objective={name!r} is not one of adaboost, adacost, adac1, asymboost")


def cost_scale_limit(D, m, c, beta=fan_beta):
    """Supremum of the s in [0, 1] at which AdaCost's first step is positive, c = s c / max c.

    r(s) = sum D m beta(sign m, s c / max c) falls in s under the theorem's conditions, and alpha
    has its sign. The supremum itself gives alpha = 0 unless it is 1 and r(1) > 0.
    """

    def positive(s):
        return np.sum(D * m * beta(np.sign(m), s * c / c.max())) > 0

    low, high = 0.0, 1.0
    if positive(1.0):
        return 1.0
    if not positive(0.0):
        return 0.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if positive(middle) else (low, middle)
    return low


def scale_costs(method, c, o, first_margin):
    """`first_margin()` gives (D_1, m_1): AdaCost's "auto" needs the first learner."""
    if o.cost_scale is None or not c.any():
        return c
    if o.cost_scale != "auto":
        return c * (o.cost_scale / c.max())
    if method.startswith("csb"):
        return c / c[c > 0].min()  # every factor at least 1
    if method == "adacost":
        D, m = first_margin()
        beta = o.beta or fan_beta
        limit = cost_scale_limit(D, m, c, beta)
        scale = min(o.auto_largest, o.auto_fraction * limit) if limit else o.auto_largest
        return c * (scale / c.max())
    to_one = UNIT_COSTS | {"adacost-beta2", "csada", "adaboostdb", "gradient-csb"}
    return c / c.max() if method in to_one else c


def check_costs(method, c, o):
    if not np.isfinite(c).all() or (c < 0).any():
        raise ValueError("costs must be finite and not negative")
    if method == "adacost":
        if o.beta is None and (c > 1).any():  # beta_+ = 1/2 - c/2 would be negative
            raise ValueError("adacost needs costs within [0, 1]; set cost_scale")
        check_beta(o.beta or fan_beta, c)
    if method in UNIT_COSTS and (c > 1).any() and o.alpha != "search":
        raise ValueError(f"{method} needs costs within [0, 1]; set cost_scale")


def first_weights(method, y, c, s, o):
    if o.init == "uniform":
        return s
    if o.init == "balanced":  # 1/(2 N+), 1/(2 N-) (2.5)
        return s / np.where(y > 0, 2 * s[y > 0].sum(), 2 * s[y < 0].sum())
    if method == "adauboost" and o.init is None:
        return s * np.where(y > 0, o.ratio, 1.0)
    if method == "gradient-csb" and o.init is None:
        return s * o.objective[2]
    if o.init == "cost" or method in COST_FIRST:
        return s * c if (s * c).any() else s  # c == 0 is AdaCost's reduction to AdaBoost (2.1)
    return s


def handed_to_learner(method, D, y, c, o):
    """(weights, targets): CSAda c*w (2.5), Gradient-CSB |a|*w and sign(a) (2.13), else D and y."""
    weights, targets = D, y
    if method in ("csada", "adaboostdb"):
        weights = c * D
    if method == "gradient-csb":
        a = o.objective[0]
        weights, targets = np.abs(a) * D, np.where(a == 0, y, np.sign(a))
    total = weights.sum()
    return (weights / total if total > 0 else D), targets


def csada_step(pool, w, y, c, max_alpha=MAX_ALPHA):
    """(index, alpha, loss): the vote and alpha >= 0 of least sum w exp(-c alpha y h) (2.5)."""
    best = (0, 0.0, np.inf)
    for index, h in enumerate(pool):
        forward = np.sum(w * c * y * h) > 0  # else the best alpha >= 0 is 0
        alpha = minimise_z(w, c * y * h, max_alpha) if forward else 0.0
        loss = np.exp(log_sum(_log(w) - c * alpha * y * h))
        if loss < best[2] - TIE:
            best = (index, float(alpha), float(loss))
    return best


def hyperbolic_residual(alpha, h, w, y, c_fp, c_fn):
    """2 C1 b cosh(C1 a) + 2 C2 d cosh(C2 a) - C1 T+ e^{-C1 a} - C2 T- e^{-C2 a} (2.5)."""
    positive, wrong = y > 0, y * h < 0
    b, d = w[positive & wrong].sum(), w[~positive & wrong].sum()
    left = 2 * c_fn * b * np.cosh(c_fn * alpha) + 2 * c_fp * d * np.cosh(c_fp * alpha)
    right = c_fn * w[positive].sum() * np.exp(-c_fn * alpha)
    return left - right - c_fp * w[~positive].sum() * np.exp(-c_fp * alpha)


def mec_decision(F, A, c_fp, c_fn):
    """+1 iff F > A (c_fp - c_fn)/(c_fp + c_fn), else -1 (2.9); costs may be per row."""
    return np.where(F * (c_fp + c_fn) > A * (np.asarray(c_fp) - c_fn), 1, -1)


def cheapest_constant(y, c, s):
    return 1 if np.sum(s * c * (y < 0)) < np.sum(s * c * (y > 0)) else -1


def _class_costs(y, c, o):
    if o.c_fp is not None and o.c_fn is not None:
        return o.c_fp, o.c_fn
    c_fp, c_fn = c[y < 0], c[y > 0]
    if np.ptp(c_fp) > 0 or np.ptp(c_fn) > 0:
        raise ValueError("adamec with costs per row needs both c_fp and c_fn")
    return c_fp[0], c_fn[0]


def _normalised(logw):
    w = np.exp(logw - logw.max())
    return w / w.sum()


def _log(w):
    with np.errstate(divide="ignore"):
        return np.log(w)


def boost(
    method, y, c, votes=None, learner=None, n_rounds=10, sample_weight=None, **options
) -> Result:
    """Train one binary method; see the module for conventions and `_Options` for options.

    `votes` (T, n) replays fixed votes, `learner(weights, targets)` returns a vote per row for
    weights of sum 1, `pool=` is a fixed set of candidates. `n_rounds` is also the M of AsymAda and
    the T of AdaUBoost, so give a replay the number that the replayed run was asked for.
    """
    if method not in METHODS:
        raise ValueError(f"method={method!r} is not one of {METHODS}")
    o = _Options(**options)
    y, given = np.asarray(y, dtype=float), np.asarray(c, dtype=float)
    s = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if o.ratio is None and method == "adauboost":
        mean = [np.average(given[y == k], weights=s[y == k]) for k in (1, -1)]
        o.ratio = mean[0] / mean[1]
    if votes is None and learner is None and method not in ("csada", "adaboostdb"):
        learner = pool_learner(o.pool)

    def vote_of(t, D, costs):
        if votes is not None:
            return np.asarray(votes[t], dtype=float)
        if learner is None:
            return o.pool[csada_step(o.pool, D, y, costs, o.max_alpha)[0]]
        return np.asarray(learner(*handed_to_learner(method, D, y, costs, o)), dtype=float)

    def first_margin():  # AdaCost: D_1 = c/sum c does not depend on the scale
        D = _normalised(_log(first_weights(method, y, given, s, o)))
        return D, y * vote_of(0, D, given)

    c = scale_costs(method, given, o, first_margin)
    check_costs(method, c, o)
    if isinstance(o.objective, str):
        o.objective = gradient_objective(o.objective, y, c)

    logw, rejected, stop = _log(first_weights(method, y, c, s, o)), None, "rounds"
    F, E = np.zeros(len(y)), np.zeros(len(y))
    rows: dict[str, list] = {k: [] for k in ["alpha", "eps", "Z", "D", "F", "E", "h"]}
    for t in range(n_rounds):
        if votes is not None and t >= len(votes):
            stop = "votes"
            break
        ahead = _log(c) / n_rounds if method == "asymada" else 0.0
        o.logw = logw + ahead
        D = _normalised(o.logw)
        h = vote_of(t, D, c)
        step = _STEPS[method](D, h, y, c, o, n_rounds)
        taken = (
            step.alpha != 0
            if method == "gradient-csb"
            else not np.any(np.less_equal(step.alpha, 0))
        )
        if not taken:
            rejected, stop = step.alpha, "alpha"
            break
        F, E = F + step.vote, E + step.exponent
        o.logw = o.logw - log_sum(o.logw)
        new = o.logw + _log(step.factor) - step.exponent
        Z = np.exp(log_sum(new))
        eps = np.sum(D[y * h < 0])
        for key, value in zip(rows, (step.alpha, eps, Z, D, F, E, h), strict=True):
            rows[key].append(value)
        logw = new
        if step.perfect:
            stop = "perfect"
            break

    n, T = len(y), len(rows["eps"])
    margins = np.array(rows["F"]).reshape(T, n)
    alphas = np.nan_to_num(np.array(rows["alpha"], dtype=float))  # nan: a side without weight
    if method == "rareboost":
        alphas = alphas.reshape(T, 2)
    decisions = np.where(margins > 0, 1, -1)
    if method == "adamec":
        c_fp, c_fn = _class_costs(y, given, o)
        decisions = mec_decision(margins, np.cumsum(alphas)[:, None], c_fp, c_fn)
    Z = np.array(rows["Z"])
    return Result(
        alphas=alphas,
        errors=np.array(rows["eps"]),
        normalizers=Z,
        weights=np.array([*rows["D"], _normalised(logw)]),
        margins=margins,
        train_cost=(s * given * (decisions != y)).sum(axis=1),
        stop=stop,
        votes=np.array(rows["h"]).reshape(T, n),
        exponents=np.array(rows["E"]).reshape(T, n),
        bound=np.sum(s * given) * np.cumprod(Z) if method in ("adacost", "cgada") else None,
        rejected=rejected,
        constant=None if T else cheapest_constant(y, given, s),
        costs=c,
    )


# ---------------------------------------------------------------- K classes


def samme(y, K, votes=None, learner=None, n_rounds=10, sample_weight=None, max_alpha=2 * MAX_ALPHA):
    """SAMME, literally (1.8): alpha = ln((1-eps)/eps) + ln(K-1) (full log), w e^{alpha [wrong]}.

    y and votes hold class numbers 0..K-1; `margins` (T, n, K) are sum alpha [h = k]; Z_t is the
    sum of D e^{alpha [wrong]}; `train_cost` counts the weight of the errors.
    """
    factor = np.ones(len(y))
    return _full_log(y, K, factor, votes, learner, n_rounds, sample_weight, max_alpha)


def samme_c2(
    y, K, c, votes=None, learner=None, n_rounds=10, sample_weight=None, max_alpha=2 * MAX_ALPHA
):
    """SAMME.C2, literally (3.9): SAMME's alpha under D, D <- c_i D e^{-alpha [right]} (full log).

    alpha comes from the error under D, not under c*D, so K = 2 is AdaC2's update with AdaBoost's
    alpha. Z_t is the sum of c D e^{alpha [wrong]}, the same update up to a constant.
    """
    factor = np.asarray(c, dtype=float)
    return _full_log(y, K, factor, votes, learner, n_rounds, sample_weight, max_alpha)


def _full_log(y, K, factor, votes, learner, n_rounds, sample_weight, max_alpha):
    y = np.asarray(y)
    s = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    D, F, stop, rejected = s / s.sum(), np.zeros((len(y), K)), "rounds", None
    rows: dict[str, list] = {k: [] for k in ["alpha", "eps", "Z", "D", "F", "h", "cost"]}
    for t in range(n_rounds):
        h = np.asarray(votes[t]) if votes is not None else learner(D, y)
        wrong = h != y
        eps = D[wrong].sum()
        alpha = np.log((1 - eps) / eps) + np.log(K - 1) if 0 < eps < 1 else np.inf
        alpha = -np.inf if eps >= 1 else max_alpha if eps <= 0 else alpha
        if alpha <= 0:
            stop, rejected = "alpha", alpha
            break
        F = F + alpha * (h[:, None] == np.arange(K))
        new = factor * D * np.exp(alpha * wrong)
        cost = np.sum(s * factor * (F.argmax(axis=1) != y))
        for key, value in zip(rows, (alpha, eps, new.sum(), D, F, h, cost), strict=True):
            rows[key].append(value)
        D = new / new.sum()
        if not wrong.any():
            stop = "perfect"
            break
    return _result_k(rows, D, K, stop, rejected)


def _result_k(rows, D, K, stop, rejected, **more):
    T, n = len(rows["eps"]), len(D)
    return Result(
        alphas=np.array(rows["alpha"]),
        errors=np.array(rows["eps"]),
        normalizers=np.array(rows["Z"]),
        weights=np.array([*rows["D"], D]),
        margins=np.array(rows["F"]).reshape(T, n, K),
        train_cost=np.array(rows["cost"]),
        stop=stop,
        votes=np.array(rows["h"]).reshape(T, n),
        exponents=np.zeros((T, n)),
        rejected=rejected,
        **more,
    )


def row_costs(y, costs):
    """(n,) mean cost of the wrong answers to row i, from (n, K) costs: what K = 2 calls c_i."""
    wrong = np.arange(costs.shape[1]) != np.asarray(y)[:, None]
    return (costs * wrong).sum(axis=1) / (costs.shape[1] - 1)


def boost_k(
    method,
    y,
    C,
    votes=None,
    learner=None,
    n_rounds=10,
    sample_weight=None,
    alpha="published",
    max_alpha=MAX_ALPHA,
    learning_rate=1.0,
    init=None,
    cost_scale=None,
) -> Result:
    """The K-class kin in the half-log convention; K = 2 is `boost`, number for number.

    y and votes hold 0..K-1; C is (K, K) ``C[true, predicted]`` or (n, K). Votes are crisp. With
    delta = +1 right, -1 wrong, C_delta = C[y, h] if wrong else 1, c_i = `row_costs`,
    a* = 1/2 [ln((1-eps)/eps) + ln(K-1)] (half of SAMME's alpha, 1.8):

    - adaboost, adamec: a*, D e^{-alpha delta}. AdaMEC decides argmin_j sum_k F_k C[k, j].
    - cgada: the same from D_1 = c_i / sum c.
    - adac2 (SAMME.C2, 3.9): a*, c_i D e^{-alpha delta}; from uniform weights. Note that alpha uses
      eps under D: K = 2 is `boost("adac2")` only with ``alpha="search"``.
    - csb0, csb1, csb2 (2.3): a*; C_delta D times 1, e^{-delta}, e^{-alpha delta}; D_1 by c_i.
    - adacost (2.1): with SAMME's margin code +1 right, -1/(K-1) wrong,
      u = 1/2 - c_i/2 right, u = -(1/2 + C[y, h]/2)/(K-1) wrong, costs within [0, 1];
      alpha = argmin sum D e^{-alpha u}, D e^{-alpha u}, D_1 by c_i. C == 0 gives SAMME's weights
      with alpha = 4 (K-1)/K a*; K = 2 is AdaCost.

    ``alpha="search"`` minimises sum D factor e^{-alpha m} over SAMME's margin code m and reports
    the result times K / (2 (K-1)), so that it is on the same scale as a*. `cost_scale` as in
    `boost`: a number is the largest cost; ``"auto"`` divides CSB costs by the smallest off the
    truth, AdaCost's by the largest.
    """
    if method not in METHODS_K:
        raise ValueError(f"method={method!r} has no K-class form; allowed: {METHODS_K}")
    y, C = np.asarray(y), np.asarray(C, dtype=float)
    K, n = C.shape[1], len(y)
    s = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    given = C[y] if len(C) == K else C  # a square C is a matrix, also when n == K
    costs = _scaled_k(method, given, y, cost_scale)
    if method == "adacost" and ((costs < 0).any() or (costs > 1).any()):
        raise ValueError("adacost needs costs within [0, 1]; set cost_scale")
    c = row_costs(y, costs)
    by_cost = init == "cost" or (init is None and method in COST_FIRST)
    D = s * c if by_cost and (s * c).any() else s
    D, F, stop, rejected = D / D.sum(), np.zeros((n, K)), "rounds", None
    rows: dict[str, list] = {k: [] for k in ["alpha", "eps", "Z", "D", "F", "h", "cost"]}
    for t in range(n_rounds):
        if votes is not None and t >= len(votes):
            stop = "votes"
            break
        h = np.asarray(votes[t]) if votes is not None else learner(D, y)
        wrong = h != y
        delta, code = np.where(wrong, -1.0, 1.0), np.where(wrong, -1.0 / (K - 1), 1.0)
        c_h = costs[np.arange(n), h]
        factor = {"adac2": c}.get(method, np.ones(n))
        if method.startswith("csb"):
            factor = np.where(wrong, c_h, 1.0)
        eps = D[wrong].sum()
        if method == "adacost":
            u = code * np.where(wrong, 0.5 + c_h / 2, 0.5 - c / 2)
            step, perfect = minimise_z(D, u, max_alpha), not bounded(_log(D), u)
        else:
            u, perfect = delta, not wrong[D > 0].any()
            if perfect:
                step = max_alpha
            elif alpha == "search":
                q = D if method in ("csb0", "csb1") else D * factor
                step = minimise_z(q, code) * K / (2 * (K - 1))
            else:
                right = D[~wrong].sum()
                step = 0.5 * (_log(right / eps) + np.log(K - 1))
        step *= learning_rate
        if step <= 0:
            stop, rejected = "alpha", step
            break
        F = F + step * (h[:, None] == np.arange(K))
        exponent = {"csb0": 0.0, "csb1": delta}.get(method, step * u)
        new = D * factor * np.exp(-exponent)
        answer = (F @ C).argmin(axis=1) if method == "adamec" else F.argmax(axis=1)
        cost = np.sum(s * given[np.arange(n), answer])
        for key, value in zip(rows, (step, eps, new.sum(), D, F, h, cost), strict=True):
            rows[key].append(value)
        D = new / new.sum()
        if perfect:
            stop = "perfect"
            break
    return _result_k(rows, D, K, stop, rejected, costs=costs)


def _scaled_k(method, costs, y, cost_scale):
    wrong = costs[np.arange(costs.shape[1]) != y[:, None]]
    if cost_scale is None or not wrong.any():
        return costs
    if cost_scale != "auto":
        return costs * (cost_scale / wrong.max())
    if method.startswith("csb"):
        return costs / wrong[wrong > 0].min()
    return costs / wrong.max() if method == "adacost" else costs


def adaboost_m2(y, K, votes, sample_weight=None):
    """AdaBoost.M2 (1.7); votes (T, n, K) in [0, 1]; alpha = ln(1/beta), eps the pseudo-loss.

    `weights` are the row sums of the mislabel distribution, the distribution itself (T+1, n, K)
    is ``extra["mislabel"]``.
    """
    y = np.asarray(y)
    n = len(y)
    s = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    true = y[:, None] == np.arange(K)
    D, F, stop = np.where(true, 0.0, s[:, None]), np.zeros((n, K)), "rounds"
    D, rejected = D / D.sum(), None
    rows: dict[str, list] = {k: [] for k in ["alpha", "eps", "Z", "D", "F", "h", "cost"]}
    mislabel = [D]
    for h in votes:
        own = h[np.arange(n), y][:, None]
        eps = 0.5 * np.sum(D * (1 - own + h))
        beta = eps / (1 - eps)
        if beta >= 1 or beta <= 0:
            stop, rejected = "alpha", eps
            break
        F = F + np.log(1 / beta) * h
        new = D * beta ** (0.5 * (1 + own - h))
        cost = np.sum(s * (F.argmax(axis=1) != y))
        row = (np.log(1 / beta), eps, new.sum(), D.sum(axis=1), F, h.argmax(axis=1), cost)
        for key, value in zip(rows, row, strict=True):
            rows[key].append(value)
        D = new / new.sum()
        mislabel.append(D)
    result = _result_k(rows, D.sum(axis=1), K, stop, rejected)
    result.extra["mislabel"] = np.array(mislabel)
    return result


# ---------------------------------------------------------------- leaves given, values fitted


def real_adaboost(y, leaves, sample_weight=None, clip=EPS):
    """Real AdaBoost (1.3): f = 1/2 ln(p/(1-p)) in each leaf, p clipped; w e^{-y f}.

    `leaves` (T, n) are leaf numbers; alphas are 1 and votes the f; Z_t = sum D e^{-y f}.
    """

    def value(D, y):
        shares = np.array([D[y > 0].sum(), D[y < 0].sum()]) / D.sum()
        p, not_p = np.clip(shares, clip, 1 - clip)  # both summed: 1 - p would cancel
        return 0.5 * np.log(p / not_p)

    return _leaf_boost(y, leaves, sample_weight, value)


def gentle_adaboost(y, leaves, sample_weight=None):
    """Gentle AdaBoost (1.4): f = P_w(+) - P_w(-) in each leaf; w e^{-y f}."""
    return _leaf_boost(y, leaves, sample_weight, lambda D, y: np.sum(D * y) / D.sum())


def _leaf_boost(y, leaves, sample_weight, value):
    y = np.asarray(y, dtype=float)
    s = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    logw, F = _log(s), np.zeros(len(y))
    rows: dict[str, list] = {k: [] for k in ["eps", "Z", "D", "F", "h"]}
    for leaf in leaves:
        D, f = _normalised(logw), np.zeros(len(y))
        for number in np.unique(leaf):
            inside = leaf == number
            f[inside] = value(D[inside], y[inside]) if D[inside].sum() > 0 else 0.0
        F = F + f
        row = (D[y * f < 0].sum(), np.sum(D * np.exp(-y * f)), D, F, f)
        for key, entry in zip(rows, row, strict=True):
            rows[key].append(entry)
        logw = _log(D) - y * f
    return _leaf_result(rows, _normalised(logw), y, s)


def logitboost(y, leaves, sample_weight=None, z_max=4.0):
    """LogitBoost (1.5): w = s max(p(1-p), 2 eps), |z| <= z_max, F += f/2, p = 1/(1+e^{-2F}).

    `votes` are f, `margins` F; `normalizers` hold the weighted mean of log(1 + e^{-2 y F}) after
    each round, the loss whose Newton step this is.
    """
    y = np.asarray(y, dtype=float)
    s = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    F = np.zeros(len(y))
    rows: dict[str, list] = {k: [] for k in ["eps", "Z", "D", "F", "h"]}

    def weights(F):
        p = 1 / (1 + np.exp(-2 * F))
        return p, np.maximum(p * (1 - p), 2 * EPS)

    for leaf in leaves:
        p, w = weights(F)
        z = np.clip(((y + 1) / 2 - p) / w, -z_max, z_max)
        f = np.zeros(len(y))
        for number in np.unique(leaf):
            inside = leaf == number
            f[inside] = np.sum((s * w * z)[inside]) / np.sum((s * w)[inside])
        D = s * w / np.sum(s * w)
        F = F + f / 2
        loss = np.sum(s * np.logaddexp(0, -2 * y * F)) / s.sum()
        for key, entry in zip(rows, (D[y * f < 0].sum(), loss, D, F, f), strict=True):
            rows[key].append(entry)
    D = s * weights(F)[1]
    return _leaf_result(rows, D / D.sum(), y, s)


def _leaf_result(rows, D, y, s):
    F = np.array(rows["F"])
    return Result(
        alphas=np.ones(len(F)),
        errors=np.array(rows["eps"]),
        normalizers=np.array(rows["Z"]),
        weights=np.array([*rows["D"], D]),
        margins=F,
        train_cost=(s * (np.where(F > 0, 1, -1) != y)).sum(axis=1),
        stop="rounds",
        votes=np.array(rows["h"]),
        exponents=y * F,
    )
