"""Extension points: boosting rules and losses of your own, known by name like the built-in ones.

Names that stand here change with notice only; ``docs/extend.md`` shows each of them at work, and
what a new metric or an estimator around ours needs, which is public elsewhere.
"""

from __future__ import annotations

from typing import Literal, TypeVar

from costboost.boosting.adaboost import rules
from costboost.boosting.adaboost.rules import RULES, Rule
from costboost.boosting.formulas import RuleInput
from costboost.boosting.gradient.losses import (
    CLASSIFICATION_LOSSES,
    REGRESSION_LOSSES,
    AbsoluteLoss,
    BuiltIn,
    CostExponentialLoss,
    ExpectedCostLoss,
    ExponentialLoss,
    HuberLoss,
    LogLoss,
    Loss,
    PinballLoss,
    SquaredLoss,
)
from costboost.inputs.checks import check_choice

__all__ = [
    # methods of CostBoostClassifier
    "Rule",
    "RuleInput",
    "RULES",
    "register_rule",
    # losses of GradientBoostClassifier and GradientBoostRegressor
    "Loss",
    "BuiltIn",
    "CLASSIFICATION_LOSSES",
    "REGRESSION_LOSSES",
    "register_loss",
    "LogLoss",
    "ExponentialLoss",
    "CostExponentialLoss",
    "ExpectedCostLoss",
    "SquaredLoss",
    "AbsoluteLoss",
    "HuberLoss",
    "PinballLoss",
]

L = TypeVar("L", bound=type[BuiltIn])

_LOSSES = {"classification": CLASSIFICATION_LOSSES, "regression": REGRESSION_LOSSES}
_OUR_RULES = frozenset(RULES)
_OUR_LOSSES = {task: frozenset(losses) for task, losses in _LOSSES.items()}


def register_rule(rule: Rule) -> Rule:
    """Make a rule known to ``CostBoostClassifier(method=...)`` by its name; return it.

    A rule of the same name that was registered before is replaced; a built-in one is not.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from costboost import CostBoostClassifier
    >>> from costboost.extend import RULES, register_rule
    >>> searched = replace(RULES["adac2"], name="adac2-searched", step="search")
    >>> register_rule(searched).name
    'adac2-searched'
    >>> CostBoostClassifier("adac2-searched", 2).fit([[0], [1]] * 9, [0, 1] * 9).n_iter_
    1
    >>> del RULES["adac2-searched"]
    """
    if not isinstance(rule, Rule):
        raise TypeError(f"register_rule takes a Rule, but {rule!r} was given.")
    if rule.name in _OUR_RULES:
        raise ValueError(f"{rule.name!r} is a built-in method; give the rule another name.")
    return rules.register(rule)


def register_loss(loss: L, task: Literal["classification", "regression"]) -> L:
    """Make a class of losses known to ``loss=...`` by its `kind`; return it.

    A loss of the same kind that was registered before is replaced; a built-in one is not.

    Parameters
    ----------
    loss : subclass of BuiltIn
        With a `kind`; a frozen dataclass if its models are to be saved.
    task : {"classification", "regression"}
        "classification" makes it known to `GradientBoostClassifier`, "regression" to
        `GradientBoostRegressor`.

    Examples
    --------
    >>> from costboost import GradientBoostRegressor
    >>> from costboost.extend import REGRESSION_LOSSES, SquaredLoss, register_loss
    >>> class Halved(SquaredLoss):
    ...     kind = "halved"
    >>> register_loss(Halved, "regression").__name__
    'Halved'
    >>> GradientBoostRegressor("halved", 2).fit([[0.0], [1.0]] * 30, [0.0, 1.0] * 30).n_iter_
    2
    >>> del REGRESSION_LOSSES["halved"]
    """
    check_choice("task", task, tuple(_LOSSES))
    if not (isinstance(loss, type) and issubclass(loss, BuiltIn)):
        raise TypeError(
            f"register_loss takes a subclass of BuiltIn, but {loss!r} was given. An object with "
            "value, gradient and hessian needs no name: give it as loss=."
        )
    kind = getattr(loss, "kind", None)
    if not isinstance(kind, str):
        raise TypeError(f"{loss.__name__} needs a kind, the name for loss=, such as 'focal'.")
    if kind in _OUR_LOSSES[task]:
        raise ValueError(f"{kind!r} is a built-in {task} loss; give {loss.__name__} another kind.")
    _LOSSES[task][kind] = loss
    return loss
