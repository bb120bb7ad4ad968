"""The model to explain: forests of a fitted estimator, and the map from margins to decisions.

    member 0: forest -> margins (n, J) \
    member 1: forest -> margins (n, J)  -> decision values (n,) or (n, K)
    ...                                /

One member is a model on its own; several are the models of calibration folds, whose probabilities
are averaged. They have one binner, so that rows are encoded once for all of them. An estimator
makes its `ExplainedModel` in `_explained_model`; nothing here knows the estimator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from costboost.trees.forest import Forest, encode_once
from costboost.typing import Codes, Floats


class Encoded(NamedTuple):
    """Rows of a table, and their codes in the columns that any member looks at."""

    X: Any
    codes: Codes


@dataclass(frozen=True)
class Member:
    """One model.

    Attributes
    ----------
    forest : Forest
    weights : float64 array of shape (n_trees,)
        How much each tree counts in importances: alpha, where the learner does not know it.
    first : callable or None
        Called with a table: margins, (n, J), that come from elsewhere than the trees.
    probabilities : callable or None
        From margins (n, J) to calibrated probabilities (n, K); None without calibration.
    """

    forest: Forest
    weights: Floats
    first: Callable[[Any], Floats] | None = None
    probabilities: Callable[[Floats], Floats] | None = None

    def margins(self, rows: Encoded, n_threads: int) -> Floats:
        """Return the margins of rows, (n, J)."""
        margins = self.forest.margins_of_codes(rows.codes, n_threads)
        return margins if self.first is None else margins + self.first(rows.X)


@dataclass(frozen=True)
class ExplainedModel:
    """A fitted estimator in the form that explanations read.

    Attributes
    ----------
    members : tuple of Member
    decide : callable
        From the members' margins to decision values, (n,) or (n, K).
    unit : str
        Unit of the decision values.
    outputs : tuple or None
        What the K decision values of a row belong to: classes.
    output : label or None
        The class that the one decision value of two classes speaks for.
    """

    members: tuple[Member, ...]
    decide: Callable[[list[Floats]], Floats]
    unit: str
    outputs: tuple[Any, ...] | None = None
    output: Any = None

    @property
    def is_sum(self) -> bool:
        """Whether decision values are sums over trees: one model, not calibrated."""
        return self.members[0].probabilities is None

    def encode(self, X: Any, n_threads: int) -> Encoded:
        """Return rows as all members read them."""
        codes = encode_once([member.forest for member in self.members], X, n_threads)
        assert codes is not None
        return Encoded(X, codes)

    def margins(self, rows: Encoded, n_threads: int) -> list[Floats]:
        """Return the margins of rows by each member, (n, J)."""
        return [member.margins(rows, n_threads) for member in self.members]
