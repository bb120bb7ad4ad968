"""Decisions made jointly: what they are, what they are expected to cost, what a place is worth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

_SHOWN = 3  # groups in a repr


@dataclass(frozen=True, eq=False, repr=False)
class Allocation:
    """The cheapest decisions of all rows together, where some actions are limited.

    ``np.asarray`` of it gives the decisions. What is told by action is a dict of the limited
    actions; with groups, a dict of dicts, ``shadow_prices["review"]["Monday"]``.

    Attributes
    ----------
    codes : int64 array of shape (n_samples,)
        Numbers of the actions taken.
    actions : ndarray of shape (n_actions,)
        Their names.
    expected_costs : float64 array of shape (n_samples,)
        Expected cost of each decision.
    unlimited_cost : float
        What the cheapest decisions would be expected to cost if nothing were limited.
    groups : ndarray of shape (n_groups,) or None
        Labels of the groups whose rows compete.
    limited : tuple of int
        Numbers of the limited actions.
    limits, used : int64 arrays of shape (n_groups, n_limited)
        How often each can be taken, and is.
    prices : float64 array of shape (n_groups, n_limited)
        What one more would save.
    """

    codes: Int64
    actions: NDArray[Any]
    expected_costs: Floats
    unlimited_cost: float
    groups: NDArray[Any] | None
    limited: tuple[int, ...]
    limits: Int64
    used: Int64
    prices: Floats

    @cached_property
    def decisions(self) -> NDArray[Any]:
        """The action of each row, by name, shape (n_samples,)."""
        return np.asarray(self.actions[self.codes])

    @property
    def expected_cost(self) -> float:
        """What all decisions together are expected to cost."""
        return float(np.sum(self.expected_costs))

    @property
    def shadow_prices(self) -> dict[Any, Any]:
        """What one more place of each limited action would save."""
        return self._by_action(self.prices)

    @property
    def capacities(self) -> dict[Any, Any]:
        """How many rows each limited action can take."""
        return self._by_action(self.limits)

    @property
    def counts(self) -> dict[Any, int]:
        """How many rows take each action, limited or not."""
        counted = np.bincount(self.codes, minlength=len(self.actions))
        return dict(zip(self.actions.tolist(), counted.tolist(), strict=True))

    def _by_action(self, values: NDArray[Any]) -> dict[Any, Any]:
        names = self.actions[list(self.limited)].tolist()
        if self.groups is None:
            return dict(zip(names, values[0].tolist(), strict=True))
        labels = self.groups.tolist()
        columns = (dict(zip(labels, column.tolist(), strict=True)) for column in values.T)
        return dict(zip(names, columns, strict=True))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        made = self.decisions if dtype is None else self.decisions.astype(dtype)
        return made.copy() if copy else made

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        counts = ", ".join(f"{count:,} {name}" for name, count in self.counts.items())
        lines = [f"Allocation of {len(self):,} rows: {counts}"]
        more = self.expected_cost - self.unlimited_cost
        limits = f", {_money(more)} more than without limits" if self.limited else ""
        lines.append(f"  expected cost {_money(self.expected_cost)}{limits}")
        for j, a in enumerate(self.limited):
            lines += [f"  {self.actions[a]}: {text}" for text in self._texts(j)]
        return "\n".join(lines)

    def _texts(self, j: int) -> list[str]:
        """Return what is to be said of one limited action, by group where there are several."""
        labels = [""] if self.groups is None else [f" in {g}" for g in self.groups.tolist()]
        texts = []
        for g in np.argsort(-self.prices[:, j], kind="stable")[:_SHOWN].tolist():
            saves = f"one more would save {_money(self.prices[g, j])}"
            if not self.prices[g, j]:
                saves = "one more would save nothing"
            texts.append(f"{self.used[g, j]:,} of {self.limits[g, j]:,}{labels[g]}; {saves}")
        hidden = len(labels) - len(texts)
        return texts if hidden <= 0 else [*texts, f"and {hidden:,} more groups"]


def _money(value: float) -> str:
    """Return a cost as text: cents where they can be seen."""
    return f"{value:,.2f}" if 0.1 <= abs(value) < 1e15 or value == 0 else f"{value:.3g}"
