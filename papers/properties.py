"""The four properties of Nikolaou et al. (2016), computed for every rule from the rule itself.

Nikolaou, Edakunni, Kull, Flach and Brown sort cost-sensitive boosting by what it keeps of its
theory. Made operational, each is a number that is zero or not:

FGD, functional gradient descent
    There is a loss sum_i l(y_i F(x_i)), one l for each class and round, such that the weights
    handed to the learner are -l' at F, and alpha minimises the same loss along the votes. So the
    weights may depend on a row's margin but not on the way it came there, nor on the other alphas
    (`path_dependence`), and the slope of that loss vanishes at alpha (`step_slope`).
CC, cost-consistent
    The score at which that loss is least has the sign of the cheapest decision: at margin 0 the
    last weights of the classes stand to each other as their costs (`cost_distortion`); or the
    decision itself is that of minimum expected cost.
AP, asymmetry-preserving
    RuleInput equal margins the dearer class never weighs less (`asymmetry`, the least log ratio).
CAL, calibrated
    Scores are probabilities: of fresh rows to which they give p, a share of p is positive
    (`calibration_error`, of the rule's own scores, and of the calibrated ones).

AdaC2 hands its learner c^(t-1) e^(-yF)
and minimises c^t e^(-yF): two losses, hence no FGD here, where a reading that overlooks the shift
says yes; with the cost multiplied in *before* each round it has it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost import steps
from costboost.boosting.adaboost.rules import RULES, Rule
from costboost.boosting.adaboost.steps import CellSums
from costboost.boosting.formulas import OBJECTIVES, Function, RuleInput
from costboost.costs import Costs
from costboost.estimators.adaboost.classifier import CostBoostClassifier
from papers.experiment import read_options
from papers.report import Report

Floats = NDArray[np.float64]

N_ROUNDS = 8
COSTS = ((1.0, 0.2), (1.0, 0.6), (0.9, 0.5))  # of a missed positive, of a false alarm
ZERO = 1e-9
CALIBRATED = 0.05  # the largest calibration error that sampling alone may explain


@dataclass(frozen=True)
class Properties:
    """What a rule keeps of boosting's theory.

    Attributes
    ----------
    fgd, cc, ap, cal : bool
        Functional gradient descent, cost-consistent, asymmetry-preserving, calibrated.
    cal_after : bool
        Calibrated, once a sigmoid is fitted to its scores.
    """

    fgd: bool
    cc: bool
    ap: bool
    cal: bool
    cal_after: bool


@dataclass(frozen=True)
class Row:
    """A kind of rows under a rule: a class and its cost.

    Its weight is a function of what happened: `alphas` (t,), the steps, and `margins` (t,), +1
    where the vote was right and -1 where it was wrong.
    """

    rule: Rule
    at: RuleInput

    def weight(self, alphas: Floats, margins: Floats, *, learner_factor: bool = True) -> float:
        """Return the log weight in the next round, as the learner or as alpha sees it."""
        rule = self.rule
        log = self._log(rule.first)
        log += self._log(rule.round_factor) * (len(alphas) + 1)
        for alpha, margin in zip(alphas, margins, strict=True):
            right = margin > 0
            step = 1.0 if rule.update == "one" else float(alpha)
            log += self._log(rule.right_factor if right else rule.wrong_factor)
            log -= step * float(margin) * self.exponent(right)
        return log + (self._log(rule.learner_factor) if learner_factor else 0.0)

    def exponent(self, right: bool) -> float:
        """Return the rule's exponent for a right or a wrong vote."""
        return float((self.rule.right if right else self.rule.wrong)(self.at)[0])

    def factor(self, right: bool) -> float:
        """Return the rule's factor for a right or a wrong vote."""
        return float((self.rule.right_factor if right else self.rule.wrong_factor)(self.at)[0])

    def weight_at(self, margin: float, n_rounds: int, *, learner_factor: bool = True) -> float:
        """Return the log weight after so many rounds, all but the first of no effect."""
        alphas, margins = np.zeros(n_rounds), np.ones(n_rounds)
        if n_rounds:
            alphas[0], margins[0] = abs(margin), 1.0 if margin >= 0 else -1.0
        return self.weight(alphas, margins, learner_factor=learner_factor)

    def _log(self, term: Function | None) -> float:
        return 0.0 if term is None else float(np.log(term(self.at)[0]))


def rows_of(rule: Rule, fn: float, fp: float) -> tuple[Row, Row]:
    """Return the positives and the negatives, at costs scaled as the rule wants them."""
    if rule.scale == "smallest":
        fn, fp = fn / min(fn, fp), fp / min(fn, fp)
    elif rule.scale != "none":
        fn, fp = fn / max(fn, fp), fp / max(fn, fp)

    def row(cost: float, sign: float) -> Row:
        at = RuleInput(np.array([cost]), np.array([sign]), n_rounds=N_ROUNDS, ratio=fn / fp)
        objective = OBJECTIVES["asymboost"](at)
        return Row(rule, RuleInput(at.cost, at.sign, N_ROUNDS, 2, fn / fp, None, objective))

    return row(fn, 1.0), row(fp, -1.0)


def path_dependence(rule: Rule) -> float:
    """Return how much handed weights depend on more than class, margin and round.

    Rows of one class whose steps a, a, 2a were right, right, wrong or wrong, wrong, right have the
    same margin in one run; a positive and a negative of the same margin in two runs with other
    alphas must have the same ratio.
    """
    worst = 0.0
    for (fn, fp), a in product(COSTS, (0.2, 0.7)):
        positive, negative = rows_of(rule, fn, fp)
        steps_taken = np.array([a, a, 2 * a])
        for row in (positive, negative):
            paths = [row.weight(steps_taken, sign * np.array([1.0, 1, -1])) for sign in (1, -1)]
            worst = max(worst, abs(paths[0] - paths[1]))
        ratios = [
            positive.weight(alphas, margins) - negative.weight(alphas, margins)
            for alphas in (steps_taken, 0.3 * steps_taken)
            for margins in (np.array([1.0, 1, -1]), np.array([-1.0, -1, 1]))  # margin 0
        ]
        worst = max(worst, float(np.ptp(ratios)))
    return worst


def step_slope(rule: Rule, seed: int = 0) -> float:
    """Return the largest slope, at the rule's own alpha, of the loss whose slope it hands out.

    Random populations of positives and negatives at random margins; rounds 2 and 4.
    """
    rng = np.random.default_rng(seed)
    worst = 0.0
    for (fn, fp), n_rounds, _ in product(COSTS, (1, 3), range(3)):
        pair = rows_of(rule, fn, fp)
        rows = [pair[k] for k in (0, 0, 0, 1, 1, 1)]
        start = rng.uniform(-0.5, 0.5, 6)
        m = np.array([1.0, 1.0, -1.0, 1.0, 1.0, -1.0])
        size = rng.uniform(1, 2, 6) * np.where(m > 0, 4, 1)  # mostly right: alpha > 0
        start_weights = [
            row.weight_at(f, n_rounds, learner_factor=False)
            for row, f in zip(rows, start, strict=True)
        ]
        D = size * np.exp(start_weights)
        for side in _sides(rule, m, [row.at.sign[0] for row in rows]):
            alpha = _alpha(rule, rows, D / D.sum(), m, side)
            log = [
                row.weight_at(f, n_rounds) for row, f in zip(rows, start + alpha * m, strict=True)
            ]
            pull = (size * np.exp(log))[side]
            worst = max(worst, abs(float(pull @ m[side])) / float(pull.sum()))
    return worst


def _sides(rule: Rule, m: Floats, signs: list[float]) -> list[NDArray[np.bool_]]:
    """Return the rows that share a step: all, or (RareBoost) those of one vote."""
    votes = m * np.array(signs)
    return [votes > 0, votes < 0] if rule.partition else [np.ones(len(m), dtype=bool)]


def _alpha(rule: Rule, rows: list[Row], D: Floats, m: Floats, side: NDArray[np.bool_]) -> float:
    """Return the published step, from the same sums as in training."""
    right = [bool(margin > 0) for margin in m]
    search = rule.step == "search"
    u, q = m, D
    if search or rule.step_margin == "exponent":
        u = m * [row.exponent(r) for row, r in zip(rows, right, strict=True)]
    if search or rule.step_factor:
        q = D * [row.factor(r) for row, r in zip(rows, right, strict=True)]
    sums = CellSums(np.asarray(q)[side], np.asarray(u)[side])
    return steps.search(sums) if search else steps.half_log(sums)


def cost_distortion(rule: Rule) -> float:
    """Return how far the classes' last weights at margin 0 are from the ratio of their costs."""
    worst = 0.0
    last = N_ROUNDS - 1
    alphas = np.r_[np.full(last - 1, 0.3), 0.3 * ((last - 1) % 2)]
    margins = np.r_[np.resize([1.0, -1.0], last - 1), -1.0]
    for fn, fp in COSTS:
        positive, negative = rows_of(rule, fn, fp)
        ratio = positive.weight(alphas, margins) - negative.weight(alphas, margins)
        worst = max(worst, abs(float(ratio) - float(np.log(fn / fp))))
    return worst


def asymmetry(rule: Rule, seed: int = 0) -> float:
    """Return the least log ratio of a dear row's weight to a cheap one's, at equal margins.

    Over random runs of up to N_ROUNDS rounds in which both are right and wrong together, among
    them runs that are always right and always wrong.
    """
    rng = np.random.default_rng(seed)
    least = np.inf
    for (fn, fp), n_rounds, run in product(COSTS, range(N_ROUNDS), range(8)):
        positive, negative = rows_of(rule, fn, fp)
        alphas = rng.uniform(0.05, 4.0, n_rounds)
        margins = np.where(rng.uniform(size=n_rounds) < (0, 1, 0.5, 0.8)[run % 4], 1.0, -1.0)
        least = min(least, positive.weight(alphas, margins) - negative.weight(alphas, margins))
    return float(least)


def calibration_error(method: str, calibration: str | None = None, seed: int = 0) -> float:
    """Return the mean gap between probability and truth over ten bins of fresh rows.

    Nine columns of noise beside one that tells: an ensemble that learns its 2,000 rows by heart is
    too sure of itself, and one that trains on costs reports them. The larger gap of two: misses as
    dear as false alarms, and three times as dear. Half of the rows are left to the calibration, as
    in the poster.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12_000, 10))
    truth = 1.0 / (1.0 + np.exp(-X[:, 0]))
    y = (rng.uniform(size=len(X)) < truth).astype(int)
    train, test = slice(0, 2000), slice(2000, None)
    gaps = []
    for fn in (1.0, 3.0):
        model = CostBoostClassifier(
            method, 30, max_depth=5, calibration=calibration, cv=0.5, random_state=seed
        )
        with warnings.catch_warnings():  # how soon a method ends is not what is asked here
            warnings.filterwarnings("ignore", message="method=.* ended after")
            model.fit(X[train], y[train], costs=Costs(fp=1, fn=fn))
        score = model.predict_proba(X[test])[:, 1]
        bins = np.array_split(np.argsort(score, kind="stable"), 10)
        means = [(score[rows].mean(), truth[test][rows].mean()) for rows in bins]
        gaps.append(float(np.mean([abs(a - b) for a, b in means])))
    return max(gaps)


def properties_of(rule: Rule | str) -> Properties:
    """Return the four properties of a registered rule, given itself or by its name.

    Examples
    --------
    >>> properties_of("cgada")
    Properties(fgd=True, cc=True, ap=True, cal=False, cal_after=True)

    Raises
    ------
    ValueError
        If `rule` is the name of no rule.
    """
    if isinstance(rule, str):
        if rule not in RULES:
            raise ValueError(f"There is no rule {rule!r}: {', '.join(RULES)}.")
        rule = RULES[rule]
    return Properties(
        fgd=path_dependence(rule) < ZERO and step_slope(rule) < ZERO,
        cc=rule.decision == "cheapest" or cost_distortion(rule) < ZERO,
        ap=asymmetry(rule) > -ZERO,
        cal=calibration_error(rule.name) < CALIBRATED,
        cal_after=calibration_error(rule.name, "sigmoid") < CALIBRATED,
    )


HEADS = ("FGD", "CC", "AP", "CAL", "CAL, calibrated")


def table_rows(rules: Iterable[Rule]) -> list[dict[str, str]]:
    """Return a row of the table for each rule."""
    table = []
    for rule in rules:
        words = ["yes" if kept else "no" for kept in vars(properties_of(rule)).values()]
        table.append({"method": rule.name, **dict(zip(HEADS, words, strict=True))})
    return table


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table of all rules; it takes seconds, so that its small form is the whole."""
    report = Report("The four properties", read_options("properties", __doc__ or "", arguments))
    report.table("properties", table_rows(RULES.values()))
    report.close()
