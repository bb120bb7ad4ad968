"""Margins of the training rows, and what the decisions by them cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost.hypothesis import Hypothesis
from costboost.boosting.adaboost.links import voted_proba
from costboost.boosting.adaboost.messages.voting import Vote, VoteClasses
from costboost.boosting.paying import Payer, PriceDecisions
from costboost.costs import Costs
from costboost.shards.local import Shards
from costboost.shards.messages import Message

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class VotedProba:
    """What AdaMEC prices; see `voted_proba`."""

    shares: bool

    def __call__(self, margins: Floats, total: float) -> Floats:
        """Return probabilities, (m, K)."""
        return voted_proba(margins, total, shares=self.shares)


class Ledger:
    """Keeps margins and says what the decisions so far cost on the training rows.

    Parameters
    ----------
    shards : Shards
    costs : Costs
    n_classes : int
    cheapest : bool
        Whether the cheapest answer is decided for, else the largest vote.
    shares : bool
        Whether margins over the sum of alphas are shares of votes; else half the log odds.
    own_labels : bool
        Whether all rows aim at their true classes.
    """

    def __init__(
        self,
        shards: Shards,
        costs: Costs,
        n_classes: int,
        *,
        cheapest: bool,
        shares: bool = True,
        own_labels: bool = True,
    ) -> None:
        self.shards, self.shares = shards, shares
        self.payer = Payer(
            shards,
            costs,
            n_classes,
            cheapest=cheapest,
            odds=None if shares else 2.0,
            proba=VotedProba(shares),
            own_labels=own_labels,
        )
        self._total_alpha = 0.0
        if n_classes > 2:
            self.payer.set_prices()
        else:
            self.payer.pay_for_first()

    def votes(self, hypothesis: Hypothesis, values: Floats, total_alpha: float) -> list[Message]:
        """Return what adds a round's votes to the margins; the answers go to `pay`."""
        before = self._total_alpha
        self._total_alpha = total_alpha if self.shares else 1.0
        if self.payer.n_classes == 2:
            return [self._vote(hypothesis, values, before)]
        return self._vote_classes(hypothesis, values)

    def pay(self, answers: Sequence[Any]) -> float:
        """Return the total cost of the decisions."""
        return self.payer.pay(answers[-1], self._total_alpha)

    def _vote(self, hypothesis: Hypothesis, values: Floats, before: float) -> Message:
        payer, own = self.payer, np.ascontiguousarray(values[:, 0])
        totals = (before, self._total_alpha)
        return Vote(hypothesis, own, payer.limits, *totals, payer.sum_scale, payer.priced)

    def _vote_classes(self, hypothesis: Hypothesis, values: Floats) -> list[Message]:
        payer = self.payer
        own = np.ascontiguousarray(values[np.arange(len(values)), hypothesis.votes])
        how = (payer.class_prices, payer.weight_scale, payer.priced)
        vote = VoteClasses(hypothesis.votes, own, *how)
        return [vote, PriceDecisions(payer.scale)] if payer.priced else [vote]
