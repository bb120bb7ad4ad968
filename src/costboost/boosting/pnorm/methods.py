"""The multi-class L_p family: the examples that each method makes for its learner.

A round of every method, with H the mixture so far, (n, K), and C the cost of every answer, 0 for
the cheapest one, y*:

    H, C -> weights -> relational examples ((x, y), l, w) -> learner -> h(x, y) -> H

Relational examples are kept as one *signed* weight per row and class, v = +w where the label l is
1 and -w where it is 0; the table is never copied. A learner that answers h in {0, 1} then errs by

    sum |v| [h != l]  =  sum of the positive v  -  sum v h

so it maximises sum v h, and a method is one function from H and C to v: a small `Method` each, one
loop (`loop.py`) for all. Equations are those of Lozano and Abe, "Cost-sensitive boosting with
p-norm loss functions and its applications", unless said otherwise. L_p-CSB is described in
US 8,275,721 B2, GBSE in US 7,558,764 B2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from costboost.typing import AnyInts, Floats

Answers = Literal["relational", "stochastic", "functional"]


@dataclass(frozen=True)
class MethodInput:
    """Mixture, costs and weights of some rows: input of a method's functions.

    Attributes
    ----------
    mixture : float64 array of shape (m, K)
        H_{t-1}.
    costs : float64 array of shape (m, K)
        C, 0 at the label.
    labels : class numbers of shape (m,)
        y*, the cheapest answer.
    p : float
    mislabel : float64 array of shape (m, K) or None
        AdaBoost.M2's D, 0 at the label.
    """

    mixture: Floats
    costs: Floats
    labels: AnyInts
    p: float = 2.0
    mislabel: Floats | None = None


Examples = Callable[[MethodInput], Floats]


def power(base: Floats, exponent: float) -> Floats:
    """Return base ** exponent; small whole exponents by products, alike on every machine."""
    if exponent == 0.0:
        return np.ones_like(base)
    # `np.power` is not correctly rounded and differs from machine to machine; products do not.
    if exponent.is_integer() and 1.0 <= exponent <= 16.0:
        out = base
        for _ in range(int(exponent) - 1):
            out = out * base
        return out
    return np.asarray(np.power(base, exponent))


def norm_weights(at: MethodInput) -> Floats:
    """Return w = H^(p - 1) C, (m, K) (Eq. 5); at p = 1 that is C, whatever H."""
    if at.p == 1.0:
        return at.costs
    return np.asarray(power(at.mixture, at.p - 1.0) * at.costs)


def pseudo_loss_examples(weights: Floats, labels: AnyInts) -> Floats:
    """Return S_2 of section 3.3.1: -w/2 for wrong answers, half of their sum for y*.

    The weighted error on these examples is the pseudo-loss
    1/2 sum w (1 - h(x, y*) + h(x, y)).
    """
    signed = -0.5 * weights
    # y* costs nothing, so its own weight is 0 and the sum is that of the wrong answers.
    signed[np.arange(len(labels)), labels] = 0.5 * weights.sum(axis=1)
    return np.asarray(signed)


def _pseudo_loss(at: MethodInput) -> Floats:
    return pseudo_loss_examples(norm_weights(at), at.labels)


def _adjusted(at: MethodInput) -> Floats:
    """Return the examples of w~ = w - (1/K) sum w (Proposition 3.1).

    The label-1 weight is sum w~ / 2 = sum w / (2 K), and w~ < 0 turns a label 0 into a 1: in
    signs, (sum w / K - w) / 2 for y* (where w is 0) and for all others alike.
    """
    weights = norm_weights(at)
    return np.asarray(0.5 * (weights.mean(axis=1, keepdims=True) - weights))


def _abstract(at: MethodInput) -> Floats:
    """Return -w: a stochastic f minimises sum w f itself (Eq. 4)."""
    return -norm_weights(at)


def _expanded(at: MethodInput) -> Floats:
    """Return max w - w: every answer is a label, more or less right (section 3.3)."""
    weights = norm_weights(at)
    return np.asarray(weights.max(axis=1, keepdims=True) - weights)


def _mean_cost(at: MethodInput) -> Floats:
    """Return E_{y' ~ H} C, (m, 1): what the mixture costs at x."""
    return np.asarray(np.sum(at.mixture * at.costs, axis=1, keepdims=True))


def _gbse(at: MethodInput) -> Floats:
    """Return E_{y' ~ H} C - C: label 1 for answers cheaper than the mixture (Abe et al. 2004)."""
    return _mean_cost(at) - at.costs


def _gbse_t(at: MethodInput) -> Floats:
    """Return E_{y' ~ H} C / K - C, as section 3.3.3 describes the variant with a proof."""
    return np.asarray(_mean_cost(at) / at.costs.shape[1] - at.costs)


def _average_cost(at: MethodInput) -> Floats:
    """Return the mean cost of the wrong answers for y*, 0 for all others (Margineantu 2001)."""
    signed = np.zeros_like(at.costs)
    n_wrong = at.costs.shape[1] - 1
    signed[np.arange(len(at.labels)), at.labels] = at.costs.sum(axis=1) / n_wrong
    return signed


def _mislabel(at: MethodInput) -> Floats:
    assert at.mislabel is not None
    return pseudo_loss_examples(at.mislabel, at.labels)


@dataclass(frozen=True)
class Method:
    """One method of the family.

    Attributes
    ----------
    name, source : str
    examples : MethodInput -> signed weights (m, K)
    answers : "relational" | "stochastic" | "functional"
        What a hypothesis adds to the mixture: h in {0, 1} as it is; h made a distribution
        (uniform over the labels with h = 1, over all where there is none); or exactly one label.
    one_label : bool
        Whether the built-in tree's leaves answer 1 for exactly one label. Always so for
        functional hypotheses; also where stochastic ones are required (L_p-CSB-PA).
    uses_p : bool
        Whether the p-norm functional is what the method descends on.
    constant : bool
        Whether weights never change, whatever p.
    adaptive : bool
        Whether steps follow from the error, and votes are added up (AdaBoost.M2).
    """

    name: str
    source: str
    examples: Examples
    answers: Answers = "relational"
    one_label: bool = False
    uses_p: bool = True
    constant: bool = False
    adaptive: bool = False

    def repeats(self, p: float) -> bool:
        """Whether every round sees the same weights, so that rounds must sample."""
        return self.constant or (self.uses_p and p == 1.0)

    def is_bounded(self, p: float) -> bool:
        """Whether Theorem 4.2 applies: stochastic hypotheses, a Lipschitz gradient."""
        return self.uses_p and self.answers != "relational" and p >= 2.0


# The methods, by name. They differ in the weights of the examples, in what a hypothesis may answer
# and in whether weights follow the mixture; loop, learner and messages are the same for all.
_PAPER = "Lozano and Abe 2008"
_ABE = "Abe, Zadrozny and Langford 2004"

LP_CSB = Method("lp-csb", f"{_PAPER}, Figure 1", _pseudo_loss)
_GBSE = Method("gbse", _ABE, _gbse, "stochastic", uses_p=False)
_DSE = Method("dse", f"{_ABE}; p > 1: {_PAPER}", _expanded, "functional", one_label=True)

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        LP_CSB,
        replace(
            LP_CSB,
            name="lp-csb-pa",
            source=f"{_PAPER}, section 3.3.3",
            examples=_adjusted,
            answers="stochastic",
            one_label=True,
        ),
        replace(_DSE, name="lp-csb-a", source=f"{_PAPER}, Figure 2", examples=_abstract),
        _DSE,
        _GBSE,
        replace(_GBSE, name="gbse-t", examples=_gbse_t),
        Method(
            "average-cost",
            "Margineantu 2001",
            _average_cost,
            "functional",
            one_label=True,
            uses_p=False,
            constant=True,
        ),
        Method(
            "adaboost.m2",
            "Freund and Schapire 1997, from mislabel weights proportional to cost",
            _mislabel,
            uses_p=False,
            adaptive=True,
        ),
    )
}


def make_stochastic(answers: NDArray[Any]) -> Floats:
    """Return h in {0, 1} as distributions: uniform over the labels with h = 1, or over all.

    Examples
    --------
    >>> import numpy as np
    >>> make_stochastic(np.array([[1, 1, 0, 0], [0, 0, 0, 0]])).tolist()
    [[0.5, 0.5, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]]
    """
    # Where nothing is answered, the division is left out and the uniform row stays.
    total = answers.sum(axis=1, keepdims=True, dtype=np.float64)
    uniform = np.full(answers.shape, 1.0 / answers.shape[1])
    return np.asarray(np.divide(answers, total, out=uniform, where=total > 0))


def lipschitz(largest_cost: float, p: float) -> float:
    """Return M = max C p (p - 1) 2^(p - 2), the constant of Theorems 4.1 and 4.2."""
    return float(largest_cost * p * (p - 1.0) * 2.0 ** (p - 2.0))


def rate_bound(largest_cost: float, p: float, n_rounds: int) -> Floats:
    """Return 9 M / (t + 2) for t = 1 .. T (Eq. 14), in units of cost.

    The paper's proof holds for the mean over rows of Eq. 2, not for the sum of section 3.2.
    """
    t = np.arange(1, n_rounds + 1)
    return np.asarray(9.0 * lipschitz(largest_cost, p) / (t + 2))
