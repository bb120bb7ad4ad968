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

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from costboost.boosting.formulas import Function, RuleInput, cost, cost_or_one, one, row_cost, zero
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
        minimiser is ln(w+ p / (w- (1 - p))) / (rate+ + rate-): the link of F, see `evaluation.py`.
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
register(
    replace(
        CSADA,
        name="adaboostdb",
        source="Landesa-Vazquez and Alba-Castro 2013",
    )
)
register(
    Rule(
        "rareboost",
        "Joshi, Kumar and Agarwal 2001",
        partition=True,
        trains_on_costs=False,
    )
)
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
