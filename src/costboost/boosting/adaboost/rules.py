"""The AdaBoost family: one small `Rule` per algorithm, one loop (`loop.py`) for all.

With m = +1 where the round's vote is right and -1 where it is wrong, every algorithm of the family
multiplies a row's weight by

    factor * exp(-alpha * size * m * exponent)

(`size` is 1 for a discrete vote) and they differ only in what follows: the first weights, the
the learner's weights, `exponent` and `factor` as functions of the cost of a mistake and of
whether there was one, how alpha is chosen, and how votes become a decision. Section numbers are
those of the literature survey, docs/algorithms.md; half-log convention throughout.

A rule's functions get a `RuleInput`: the costs and the setting, as arrays over any set of rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.formulas import (
    Beta,
    Function,
    RuleInput,
    cost,
    cost_or_one,
    one,
    row_cost,
    zero,
)
from costboost.costs import Costs
from costboost.inputs.arrays import STEEPEST, read_finite
from costboost.typing import Floats


@dataclass(frozen=True)
class Rule:
    """One algorithm of the family.

    Attributes
    ----------
    name : str
    source : str
        Where it was published.
    first : RuleInput -> weights
        The weights before the first round, up to a constant.
    round_factor : RuleInput -> factor, or None
        Multiplies the weights before every round (AsymAda).
    learner_factor : RuleInput -> factor, or None
        The learner is trained on the weights times this.
    right, wrong : RuleInput -> exponent
        See the head of this module.
    right_factor, wrong_factor : RuleInput -> factor
    step : "half-log" | "search"
        The published alpha: 1/2 ln(sum q (1 + u) / sum q (1 - u)), or the minimiser of Z.
    step_margin : "vote" | "exponent"
        u in the half-log step: m itself, or m * exponent.
    step_factor : bool
        q in the half-log step: D times the factor (True), or D (False).
    update : "alpha" | "one"
        What multiplies the exponent in the weight update; "one" is CSB1's fixed step.
    scale : "none" | "smallest" | "largest" | "first-step"
        How costs are scaled: not at all; to a smallest positive cost of 1; to a largest cost of
        1; to a largest cost at which the first step is positive.
    rate : RuleInput -> rate
        The loss is w exp(-rate y F) up to weights that depend on costs and rounds only. Its
        minimiser is ln(w+ p / (w- (1 - p))) / (rate+ + rate-): the link of F, see `formulas.py`.
    decision : "sign" | "cheapest"
        How votes decide without calibration.
    many_classes : bool
        Whether it is defined for K > 2.
    partition : bool
        The two sides of the vote get an alpha each (RareBoost).
    joint : bool
        The built-in stump and alpha are chosen together (CSAda, AdaBoostDB).
    negative_steps : bool
        Whether a negative alpha is kept (Gradient-CSB).
    needs_n_rounds : bool
        Whether the number of rounds is part of the algorithm: no early stopping or warm start.
    trains_on_costs : bool
        Whether costs enter training: the scores then contain them.
    bounded : bool
        Whether sum c * prod Z bounds the training cost.
    takes_beta : bool
        Whether a user's beta may take the place of its own (AdaCost).
    takes_objective : bool
        Whether it descends on an objective that the user chooses (Gradient-CSB).
    estimates_step : bool
        Whether its paper has a first guess at the step, in closed form (AdaCost).
    calibrated : bool
        Whether its scores are calibrated unless the user says otherwise.
    remedy : str
        What to try where it ends early.

    Examples
    --------
    >>> from costboost.extend import RULES
    >>> RULES["adac2"].name, RULES["adac2"].many_classes
    ('adac2', True)
    """

    name: str
    source: str
    first: Function = one
    round_factor: Function | None = None
    learner_factor: Function | None = None
    right: Function = one
    wrong: Function = one
    right_factor: Function = one
    wrong_factor: Function = one
    step: Literal["half-log", "search"] = "half-log"
    step_margin: Literal["vote", "exponent"] = "vote"
    step_factor: bool = False
    update: Literal["alpha", "one"] = "alpha"
    scale: Literal["none", "smallest", "largest", "first-step"] = "none"
    rate: Function = one
    decision: Literal["sign", "cheapest"] = "sign"
    many_classes: bool = False
    partition: bool = False
    joint: bool = False
    negative_steps: bool = False
    needs_n_rounds: bool = False
    trains_on_costs: bool = True
    bounded: bool = False
    takes_beta: bool = False
    takes_objective: bool = False
    estimates_step: bool = False
    calibrated: bool = False
    remedy: str = "deeper trees"

    @property
    def plain_rounds(self) -> bool:
        """Whether exponents and factors do not depend on costs."""
        return all(term in (one, zero) for term in self._terms)

    @property
    def plain_loss(self) -> bool:
        """Whether a round descends on sum D exp(-y F), to which leaf values can be fitted."""
        plain = all(term is one for term in self._terms) and self.learner_factor is None
        return plain and self.update == "alpha" and not self.partition

    @property
    def fixed_z(self) -> bool:
        """Whether Z does not depend on alpha: no exponent, or a fixed one."""
        return self.update == "one" or (self.right is zero and self.wrong is zero)

    @property
    def discrete_only(self) -> bool:
        """Whether votes have one size: two alphas, or an objective's b, know of no other."""
        return self.partition or self.takes_objective

    @property
    def _terms(self) -> tuple[Function, ...]:
        return self.right, self.wrong, self.right_factor, self.wrong_factor


# AdaCost (2.1): beta_+ = 1/2 - c/2 when right, beta_- = 1/2 + c/2 when wrong (Fan et al. 1999).


def _adacost_right(at: RuleInput) -> Floats:
    if at.beta is not None:
        return np.asarray(at.beta(np.ones_like(at.cost), at.cost), dtype=float)
    return 0.5 - 0.5 * at.cost


def _adacost_wrong(at: RuleInput) -> Floats:
    beta = 0.5 + 0.5 * at.cost
    if at.beta is not None:
        beta = np.asarray(at.beta(-np.ones_like(at.cost), at.cost), dtype=float)
    return beta / (at.n_classes - 1)  # K > 2: SAMME codes a wrong vote as -1/(K-1)


def _adacost_rate(at: RuleInput) -> Floats:
    # Without costs F is twice AdaBoost's; K > 2: 4 (K-1)/K times SAMME's half-log votes.
    return np.full_like(at.cost, at.n_classes / (4.0 * (at.n_classes - 1)))


# AsymAda (2.8): c^(1/M) before each of the M rounds (Viola and Jones 2001).


def _root_of_cost(at: RuleInput) -> Floats:
    return np.asarray(at.cost ** (1.0 / at.n_rounds))


# AdaUBoost (2.12): beta on positives at first, (1/beta)^(1/T) on their exponents.


def _beta_on_positives(at: RuleInput) -> Floats:
    return np.where(at.sign > 0, at.ratio, 1.0)


def _shrunk_positives(at: RuleInput) -> Floats:
    return np.where(at.sign > 0, (1.0 / at.ratio) ** (1.0 / at.n_rounds), 1.0)


# Gradient-CSB (2.13): sum w0 exp(-sum alpha (a f + b)) (Cai, Song and Zhang, Eq. 17).


def _objective(at: RuleInput) -> tuple[Floats, Floats, Floats]:
    assert at.objective is not None
    return at.objective


def _gradient_first(at: RuleInput) -> Floats:
    return _objective(at)[2]


def _gradient_learner_factor(at: RuleInput) -> Floats:
    return np.abs(_objective(at)[0])


def _gradient_right(at: RuleInput) -> Floats:
    a, b, _ = _objective(at)
    return np.abs(a) + b


def _gradient_wrong(at: RuleInput) -> Floats:
    a, b, _ = _objective(at)
    return np.abs(a) - b


RULES: dict[str, Rule] = {}


def register(rule: Rule) -> Rule:
    """Make a rule known by its name to `CostBoostClassifier(method=...)`."""
    RULES[rule.name] = rule
    return rule


ADABOOST = register(
    Rule(
        "adaboost",
        "Freund and Schapire 1997; SAMME, Zhu et al. 2009",
        many_classes=True,
        trains_on_costs=False,
    )
)
# 2.9: plain AdaBoost, cheapest decision by the vote fraction
register(
    replace(
        ADABOOST,
        name="adamec",
        source="Ting 2000; Nikolaou et al. 2016",
        decision="cheapest",
        calibrated=True,
    )
)
# 2.7: AdaBoost from weights c / sum c
register(
    Rule(
        "cgada",
        "Landesa-Vazquez and Alba-Castro 2012",
        first=cost_or_one,
        many_classes=True,
        bounded=True,
        calibrated=True,
    )
)
register(
    Rule(
        "asymada",
        "Viola and Jones 2001",
        round_factor=_root_of_cost,
        needs_n_rounds=True,
        calibrated=True,
    )
)
register(
    Rule(
        "adacost",
        "Fan, Stolfo, Zhang and Chan 1999",
        first=cost_or_one,
        right=_adacost_right,
        wrong=_adacost_wrong,
        rate=_adacost_rate,
        step="search",
        step_margin="exponent",
        scale="first-step",
        many_classes=True,
        bounded=True,
        takes_beta=True,
        estimates_step=True,
        remedy='a smaller cost_scale, votes="confidence" (its authors\' own), or deeper trees',
    )
)
# 2.2: beta_+ = beta_- = c; alpha with costs (beta1) or without (beta2)
BETA1 = register(
    Rule(
        "adacost-beta1",
        "Ting 2000",
        right=cost,
        wrong=cost,
        rate=cost,
        step_margin="exponent",
        scale="largest",
    )
)
register(replace(BETA1, name="adacost-beta2", step_margin="vote"))
# 2.3: C_delta on mistakes; no exponent, a step of 1, a step of alpha
CSB2 = register(
    Rule(
        "csb2",
        "Ting 2000",
        first=cost_or_one,
        wrong_factor=cost,
        scale="smallest",
        many_classes=True,
    )
)
register(replace(CSB2, name="csb1", source="Ting and Zheng 1998", update="one"))
register(replace(CSB2, name="csb0", source="Ting and Zheng 1998", right=zero, wrong=zero))
# 2.4: the cost inside the exponent, outside it, both
SUN = "Sun, Kamel, Wong and Wang 2007"
CGADA_INSTEAD = 'method="cgada", or deeper trees'
register(replace(BETA1, name="adac1", source=SUN, remedy=CGADA_INSTEAD))
register(
    Rule(
        "adac2",
        SUN + "; SAMME.C2, So et al. 2021",
        right_factor=row_cost,
        wrong_factor=row_cost,
        step_factor=True,
        many_classes=True,
        remedy=CGADA_INSTEAD,
    )
)
register(
    Rule(
        "adac3",
        SUN,
        right=cost,
        wrong=cost,
        rate=cost,
        right_factor=cost,
        wrong_factor=cost,
        step_factor=True,
        step_margin="exponent",
        scale="largest",
        remedy=CGADA_INSTEAD,
    )
)
# 2.5, 2.6: sum exp(-c y F), stump and alpha chosen together
CSADA = register(
    Rule(
        "csada",
        "Masnadi-Shirazi and Vasconcelos 2007",
        learner_factor=cost,
        right=cost,
        wrong=cost,
        rate=cost,
        step="search",
        step_margin="exponent",
        scale="largest",
        joint=True,
    )
)
register(replace(CSADA, name="adaboostdb", source="Landesa-Vazquez and Alba-Castro 2013"))
register(Rule("rareboost", "Joshi, Kumar and Agarwal 2001", partition=True, trains_on_costs=False))
register(
    Rule(
        "adauboost",
        "Karakoulas and Shawe-Taylor 1998",
        first=_beta_on_positives,
        right=_shrunk_positives,
        wrong=_shrunk_positives,
        rate=_shrunk_positives,
        needs_n_rounds=True,
    )
)
register(
    Rule(
        "gradient-csb",
        "Cai, Song and Zhang",
        first=_gradient_first,
        learner_factor=_gradient_learner_factor,
        right=_gradient_right,
        wrong=_gradient_wrong,
        rate=_gradient_learner_factor,
        step="search",
        step_margin="exponent",
        scale="largest",
        negative_steps=True,
        takes_objective=True,
    )
)


# Costs as training takes them: the label to aim at, and the cost of missing it.


@dataclass(frozen=True)
class MistakePrices:
    """Costs of mistakes, by class or by row.

    Attributes
    ----------
    row_price : float64 array of shape (K,) or (m,)
        The mean cost of the wrong answers: the price of a row in general.
    answer_price : float64 array of shape (K, K) or (m, K)
        The cost of each wrong answer; at the label itself, `row_price`.
    constant : bool
        Whether the arrays are by class.
    """

    row_price: Floats
    answer_price: Floats
    constant: bool

    def scaled(self, factor: float) -> MistakePrices:
        """Return the prices multiplied by a factor."""
        return replace(
            self, row_price=self.row_price * factor, answer_price=self.answer_price * factor
        )

    @property
    def largest(self) -> float:
        """The largest cost of a mistake."""
        return float(np.max(self.answer_price, initial=0.0))

    @property
    def smallest(self) -> float:
        """The smallest positive cost of a mistake; infinite if there is none."""
        return float(np.min(self.answer_price, initial=math.inf, where=self.answer_price > 0))

    def by_row(self, labels: NDArray[Any]) -> MistakePrices:
        """Return the same prices as arrays over rows of these labels."""
        if not self.constant:
            return self
        return MistakePrices(self.row_price[labels], self.answer_price[labels], constant=False)


def class_prices(costs: Costs, n_classes: int, *, aim: bool = True) -> MistakePrices | None:
    """Return the prices by class, or None where rows of a class differ.

    Parameters
    ----------
    costs : Costs
        Bound to the K classes. Where the actions are not the classes, no answer has a price, and
        all mistakes cost 1: such costs are for decisions only.
    n_classes : int
    aim : bool
        Whether rows may aim at a cheaper answer than the true one.
    """
    if not costs.is_square:
        return MistakePrices(np.ones(n_classes), np.ones((n_classes, n_classes)), constant=True)
    if not costs.is_constant:
        return None
    table = costs.of_labels(np.arange(n_classes), encoded=True)
    excess = table - np.diagonal(table)[:, None]
    # Some answer is cheaper than the true one: rows aim at it, and prices by true class are not
    # those of what they aim at.
    if excess.min() < 0 and aim:
        return None
    return mean_and_wrong(np.maximum(excess, 0.0), np.arange(n_classes), constant=True)


def mean_and_wrong(excess: Floats, labels: NDArray[Any], *, constant: bool) -> MistakePrices:
    """Return the prices of rows that aim at `labels`, given what every answer costs more."""
    rows = np.arange(len(labels))
    # Divided first: costs of 1e300 must not overflow in the sum.
    mean = np.sum(excess / (excess.shape[1] - 1), axis=1)
    wrong = excess.copy()
    wrong[rows, labels] = mean
    return MistakePrices(mean, wrong, constant)


# A rule evaluated at costs: by class where rows of a class are alike, else by row. The same
# evaluation runs on the driver, for tables over classes, and where the rows are. Whatever a rule
# answers is checked: it may be a user's.

_LARGEST = 1e300  # factors beyond are refused: they are multiplied by weights


@dataclass(frozen=True)
class BoundRule:
    """A rule with the parameters of a fit, ready to be evaluated at costs.

    Attributes
    ----------
    rule : Rule
    n_rounds : int
        The number of rounds asked for.
    n_classes : int
    beta : callable or None
        The user's own, for AdaCost.
    ratio : float
        The mean cost of the positives over that of the negatives (AdaUBoost's beta).
    free : bool
        Whether no mistake costs anything, on any row of the fit.
    """

    rule: Rule
    n_rounds: int
    n_classes: int
    beta: Beta | None = None
    ratio: float = 1.0
    free: bool = False

    def at(
        self,
        cost: Floats,
        labels: NDArray[Any],
        objective: Any = None,
        row_cost: Floats | None = None,
    ) -> RuleInput:
        """Return the input of the rule's functions at costs and labels of the same first dimension.

        `objective` gives Gradient-CSB's (a, b, w0) at a `RuleInput`.
        """
        sign = np.where(labels == 1, 1.0, -1.0) if self.n_classes == 2 else np.ones(len(labels))
        at = RuleInput(
            cost=cost,
            sign=_like(sign, cost),
            row_cost=None if row_cost is None else _like(row_cost, cost),
            n_rounds=self.n_rounds,
            n_classes=self.n_classes,
            ratio=self.ratio,
            beta=self.beta,
            free=self.free,
        )
        return at if objective is None else replace(at, objective=objective(at))

    def exponents(self, name: str, at: RuleInput) -> Floats:
        """Evaluate one of the rule's exponents."""
        return self._asked(name, at, -STEEPEST, STEEPEST)

    def factor(self, name: str, at: RuleInput) -> Floats:
        """Evaluate one of the rule's weights or factors."""
        return self._asked(name, at, 0.0, _LARGEST)

    def round_factor(self, at: RuleInput) -> Floats:
        """Evaluate the rule's factors before a round: ones if it has none."""
        return (
            np.ones_like(at.cost)
            if self.rule.round_factor is None
            else self.factor("round_factor", at)
        )

    def _asked(self, name: str, at: RuleInput, low: float, high: float) -> Floats:
        source = f"{name} of method={self.rule.name!r}"
        if self.beta is not None:
            source += " with your beta"
        answer = getattr(self.rule, name)(at)
        return read_finite(answer, at.cost.shape, source, low=low, high=high)

    def both_exponents(self, at: RuleInput) -> tuple[Floats, Floats]:
        """Return the exponents of (right, wrong) answers.

        Twice the same array where they are equal.
        """
        right = self.exponents("right", at)
        alike = self.rule.wrong is self.rule.right
        return right, right if alike else self.exponents("wrong", at)

    def both_factors(self, at: RuleInput) -> tuple[Floats, Floats]:
        """Return the factors of (right, wrong) answers; twice the same array where they are equal.

        Factors that are all 1 are a view of one number.
        """
        alike = self.rule.wrong_factor is self.rule.right_factor
        if alike and self.rule.right_factor is one:
            ones = np.broadcast_to(1.0, at.cost.shape)
            return ones, ones
        right = self.factor("right_factor", at)
        return right, right if alike else self.factor("wrong_factor", at)

    def terms(
        self, prices: MistakePrices, labels: NDArray[Any], objective: Any = None
    ) -> tuple[Floats, Floats]:
        """Return the effective margins and factors for every answer, (m, K) each.

        `prices` are of the rows, or of the classes, that `labels` names.
        """
        own = np.asarray(labels)[:, None] == np.arange(self.n_classes)
        at = wide = self.at(prices.row_price, labels, objective)
        # Of two classes the wrong answer is the other one, at the price of the row; of more, each
        # wrong answer has a price of its own.
        if self.n_classes > 2:
            wide = self.at(prices.answer_price, labels, objective, prices.row_price)
        right, wrong = self.exponents("right", at), self.exponents("wrong", wide)
        u = np.where(own, _wide(right), -_wide(wrong))
        factors = self.factor("right_factor", at), self.factor("wrong_factor", wide)
        return u, np.where(own, _wide(factors[0]), _wide(factors[1]))


def _like(values: Floats, cost: Floats) -> Floats:
    """Return one value per row as an array of the shape of `cost`, (m,) or (m, K)."""
    return np.broadcast_to(values.reshape(values.shape + (1,) * (cost.ndim - 1)), cost.shape)


def _wide(term: Any) -> Floats:
    """Return a term of shape (m,) as (m, 1); one of shape (m, K) as it is."""
    return np.asarray(term if term.ndim > 1 else term[:, None])
