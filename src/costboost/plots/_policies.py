"""Costs of policies on the same rows, and what exchanging one for another saves, as bars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost.metrics import DecisionSwap
from costboost.metrics.policies import sum_interval
from costboost.metrics.prices import realise
from costboost.plots.style import (
    COLORS,
    axes_for,
    few_ticks,
    need_matplotlib,
    plain,
    plain_ticks,
    show_legend,
    unit,
)
from costboost.text import money, percent
from costboost.typing import Floats

_HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++", "oo")


@dataclass(eq=False, repr=False, kw_only=True)
class PolicyDisplay:
    """Cost of each of several policies on the same rows: a bar, its parts, and an interval.

    A policy is any set of decisions: of a model, of a rule, of today's practice, or one answer for
    all. Parts of a bar are what rows cost on which the policy took one action: frauds that were let
    through, investigations.

    It is recommended to use `from_decisions`.

    Parameters
    ----------
    names : list of str
        The policies.
    actions : list of str
        The actions.
    parts : ndarray of shape (n_policies, n_actions)
        What rows cost altogether on which a policy took an action.
    low, high : ndarray of shape (n_policies,)
        Ends of the intervals of the totals.
    n_rows : int
        How many rows were decided.
    confidence : float, default=0.95
        Coverage of the intervals.
    baseline : int, default=None
        Number of the policy that others are compared with.
    currency : str, default=None
        What costs are counted in, such as "EUR".

    Attributes
    ----------
    bars_ : list of BarContainer
        One for each action, or one where parts earn.
    errors_ : ErrorbarContainer
        The intervals.
    ax_, figure_, legend_
        Where it was drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from costboost.plots import PolicyDisplay
    >>> y = [0, 0, 0, 1, 1, 0, 0, 1]
    >>> display = PolicyDisplay.from_decisions(
    ...     y, {"nothing": [0] * 8, "model": [0, 0, 1, 1, 1, 0, 0, 0]},
    ...     costs={"fp": 5, "fn": 80, "tp": 5}, baseline="nothing",
    ... )
    >>> display.costs.tolist(), display.parts.tolist()
    ([240.0, 95.0], [[240.0, 0.0], [80.0, 15.0]])
    >>> plt.close(display.figure_)
    """

    names: list[str]
    actions: list[str]
    parts: Floats
    low: Floats
    high: Floats
    n_rows: int
    confidence: float = 0.95
    baseline: int | None = None
    currency: str | None = None

    @property
    def costs(self) -> Floats:
        """Total cost of each policy, shape (n_policies,)."""
        return np.asarray(self.parts.sum(axis=1))

    @classmethod
    def from_decisions(
        cls,
        y_true: ArrayLike,
        policies: Mapping[str, ArrayLike],
        *,
        costs: Any = None,
        sample_weight: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        baseline: str | None = None,
        confidence: float = 0.95,
        currency: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw decisions.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        policies : dict of str to array-like of shape (n_samples,)
            The decisions of each policy, drawn from top to bottom.
        costs : Costs, dict, array-like of shape (K, K) or None, default=None
            What each decision costs, constant or per row; None: every mistake costs 1.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.
        labels : array-like of shape (n_classes,), default=None
            The classes, where the costs do not name them and some do not occur.
        baseline : str, default=None
            The policy that the others' savings are measured against.
        confidence : float, default=0.95
            Coverage of the intervals.
        currency : str, default=None
            What costs are counted in, such as "EUR".
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : PolicyDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_decisions")
        names = list(policies)
        if not names:
            raise ValueError("policies is empty: give at least one, {name: decisions}")
        if baseline is not None and baseline not in names:
            raise ValueError(f"baseline={baseline!r} is not one of the policies {names}")
        found = realise(y_true, *policies.values(), costs=costs, labels=labels)
        paid = np.column_stack(found.paid)
        if sample_weight is not None:
            paid = paid * np.asarray(sample_weight, dtype=np.float64)[:, None]
        intervals = [sum_interval(column, confidence=confidence) for column in paid.T]
        assert found.costs.actions is not None  # bound
        actions = [str(action) for action in found.costs.actions.tolist()]
        parts = [
            np.bincount(numbers, weights=paid[:, j], minlength=len(actions))
            for j, numbers in enumerate(found.numbers)
        ]
        made = cls(
            names=[str(name) for name in names],
            actions=actions,
            parts=np.array(parts),
            low=np.array([interval.low for interval in intervals]),
            high=np.array([interval.high for interval in intervals]),
            n_rows=len(paid),
            confidence=confidence,
            baseline=None if baseline is None else names.index(baseline),
            currency=currency,
        )
        return made.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        **kwargs : dict
            Passed to matplotlib's `barh`.

        Returns
        -------
        self
        """
        size = (8.0, 1.4 + 0.5 * len(self.names))
        self.ax_ = axes_for(ax, "PolicyDisplay.plot", figsize=size)
        self.figure_ = self.ax_.figure
        self.bars_ = self._draw_bars(kwargs)
        reach = np.maximum([self.costs - self.low, self.high - self.costs], 0.0)
        style = {"fmt": "none", "ecolor": "#333333", "capsize": 3, "elinewidth": 1.0}
        label = f"{percent(self.confidence)} interval"
        rows = np.arange(len(self.names))
        self.errors_ = self.ax_.errorbar(self.costs, rows, xerr=reach, label=label, **style)
        self._annotate()
        self._dress()
        self.legend_ = show_legend(self.ax_)
        return self

    def _draw_bars(self, kwargs: dict[str, Any]) -> list[Any]:
        rows = np.arange(len(self.names))
        style = {"edgecolor": "white", "linewidth": 0.5, "height": 0.66, **kwargs}
        if (self.parts < 0).any():  # what earns cannot be stacked on what costs
            return [self.ax_.barh(rows, self.costs, **{"color": COLORS[0], **style})]
        bars, left = [], np.zeros(len(rows))
        for a in np.flatnonzero(self.parts.any(axis=0)).tolist():
            mine = {"color": COLORS[a % len(COLORS)], "hatch": _HATCHES[a % len(_HATCHES)]}
            label = plain(f"rows answered {self.actions[a]}")
            bars.append(
                self.ax_.barh(rows, self.parts[:, a], left=left, label=label, **{**mine, **style})
            )
            left = left + self.parts[:, a]
        return bars

    def _annotate(self) -> None:
        """Write what each policy costs, and saves, to the right of its bar."""
        for j, cost in enumerate(self.costs.tolist()):
            text = money(cost, self.currency)
            if self.baseline is not None and j != self.baseline:
                text += self._saving(cost)
            at = max(cost, float(self.high[j]), 0.0)
            style = {"textcoords": "offset points", "va": "center", "fontsize": "small"}
            self.ax_.annotate(plain(text), (at, j), xytext=(6, 0), **style)

    def _saving(self, cost: float) -> str:
        assert self.baseline is not None
        before = float(self.costs[self.baseline])
        if before == 0:
            return ""
        saved = (before - cost) / abs(before)
        return f"   saves {percent(saved)}" if saved >= 0 else f"   {percent(-saved)} more"

    def _dress(self) -> None:
        ax = self.ax_
        ax.set_yticks(np.arange(len(self.names)), [plain(name) for name in self.names])
        ax.set_ylim(len(self.names) - 0.5, -0.5)
        low, high = float(np.min(self.low)), float(np.max(self.high))
        # Room for the numbers beside the bars.
        ax.set_xlim(min(1.05 * low, 0.0), max(high, 0.0) + 0.42 * (max(high, 0.0) - min(low, 0.0)))
        ax.set_xlabel(plain(unit(f"Cost on {self.n_rows:,} rows", self.currency)))
        plain_ticks(ax.xaxis)
        few_ticks(ax)
        ax.tick_params(axis="y", length=0)
        ax.spines[["top", "right", "left"]].set_visible(False)


@dataclass(eq=False, repr=False, kw_only=True)
class SwapDisplay:
    """What each exchange of one decision for another saves: two bars, expected and realised.

    It is recommended to use `from_swap`.

    Parameters
    ----------
    swap : DecisionSwap
        From :func:`costboost.metrics.compare_decisions`.
    currency : str, default=None
        What costs are counted in, such as "EUR".

    Attributes
    ----------
    bars_ : dict of str to BarContainer
        ``"expected"`` and ``"realised"``, those that are known, the total on top.
    ax_, figure_, legend_
        Where it was drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from costboost.metrics import compare_decisions
    >>> from costboost.plots import SwapDisplay
    >>> swap = compare_decisions([0, 0, 1], [0, 1, 0], np.zeros((3, 1)), [0, 1, 1])
    >>> display = SwapDisplay.from_swap(swap)
    >>> sorted(display.bars_)
    ['realised']
    >>> plt.close(display.figure_)
    """

    swap: DecisionSwap
    currency: str | None = None

    @classmethod
    def from_swap(cls, swap: DecisionSwap, *, currency: str | None = None, ax: Any = None) -> Self:
        """Draw what `compare_decisions` found.

        Parameters
        ----------
        swap : DecisionSwap
        currency : str, default=None
            What costs are counted in, such as "EUR".
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.

        Returns
        -------
        display : SwapDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_swap")
        return cls(swap=swap, currency=currency).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the bars, with intervals.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.

        Returns
        -------
        self
        """
        self.ax_ = axes_for(ax, "SwapDisplay.plot")
        self.figure_ = self.ax_.figure
        lines = [*reversed(self.swap.exchanges), self.swap.total]
        known = [name for name in ("expected", "realised") if getattr(lines[-1], name) is not None]
        if not known:
            raise ValueError("neither expected nor realised savings are known: nothing to draw")
        places, height = np.arange(len(lines)), 0.8 / len(known)
        self.bars_ = {}
        for i, name in enumerate(known):
            parts = [getattr(line, name) for line in lines]
            totals = np.array([part.total for part in parts])
            ends = np.array([[p.total - p.low for p in parts], [p.high - p.total for p in parts]])
            self.bars_[name] = self.ax_.barh(
                places - 0.4 + height * (len(known) - i - 0.5),
                totals,
                height,
                color=COLORS[i],
                hatch=_HATCHES[i],
                edgecolor="white",
                xerr=np.maximum(ends, 0.0),
                error_kw={"capsize": 3, "linewidth": 1},
                label={"expected": "expected to save", "realised": "did save"}[name],
            )
        self.ax_.axvline(0, color="black", linewidth=0.8)
        texts = [f"{line.old} \N{RIGHTWARDS ARROW} {line.new}" for line in lines[:-1]] + ["all"]
        labels = [f"{t}\n{line.n_rows:,} rows" for t, line in zip(texts, lines, strict=True)]
        self.ax_.set_yticks(places, [plain(label) for label in labels])
        self.ax_.set_xlabel(unit("Saved by the new decisions", self.currency))
        self.ax_.spines[["top", "right"]].set_visible(False)
        plain_ticks(self.ax_.xaxis)
        few_ticks(self.ax_)
        self.legend_ = show_legend(self.ax_)
        return self
