"""What it costs that rates differ less between groups, and who pays it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost.costs import as_costs
from costboost.decisions import Parity, ParityFrontier, parity_frontier
from costboost.decisions.parity import FEW_ROWS, group_labels
from costboost.decisions.responses import innermost, probabilities
from costboost.plots.style import (
    axes_for,
    curve_style,
    dress,
    entry,
    need_matplotlib,
    once,
    plain_ticks,
    show_legend,
    unit,
)
from costboost.text import count, money

_WORDS = {
    "rate": "share acted on",
    "blocked": "share of negatives decided positive",
    "missed": "share of positives decided negative",
}


@dataclass(eq=False, repr=False, kw_only=True)
class FairnessFrontierDisplay:
    """The expected bill as rates of groups may differ less and less, and what each group pays.

    A curve for all rows and one for each group: what its rows are expected to cost more than if
    rates could differ as they like; below zero it gains. Which difference is right is not for
    a picture to say.

    It is recommended to use `from_estimator`.

    Parameters
    ----------
    frontier : ParityFrontier
        From :func:`costboost.decisions.parity_frontier`.
    of : {"rate", "missed", "blocked"}, default="rate"
        Which rate.
    currency : str, default=None
        What costs are counted in, such as "EUR".

    Attributes
    ----------
    lines_ : list of Line2D
        Of all rows, and of each group.
    ax_, figure_, legend_
        Where it was drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from costboost.decisions import Parity, parity_frontier
    >>> from costboost.plots import FairnessFrontierDisplay
    >>> parity = Parity(["a", "a", "b", "b"], action=1)
    >>> frontier = parity_frontier([[0, 9], [0, 7], [0, -5], [0, -1]], None, parity)
    >>> display = FairnessFrontierDisplay(frontier=frontier).plot()
    >>> float(display.lines_[0].get_ydata()[-1])
    6.0
    >>> plt.close(display.figure_)
    """

    frontier: ParityFrontier
    of: str = "rate"
    currency: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        parity: Parity,
        *,
        costs: Any = None,
        capacity: Any = None,
        groups: ArrayLike | None = None,
        n_points: int = 21,
        currency: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw what parity would cost a fitted model on some rows.

        Parameters
        ----------
        estimator : classifier
            Fitted, with ``predict_proba``.
        X : array-like of shape (n_samples, n_features)
        parity : Parity
            Which rates of which groups; how far they may differ is what is drawn.
        costs : Costs, dict, array-like of shape (K, K) or None, default=None
            What decisions cost; None: the costs that the model decides by, else 1 for mistakes.
        capacity, groups
            As for `decide`.
        n_points : int, default=21
            How many differences.
        currency : str, default=None
            What costs are counted in, such as "EUR".
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.

        Returns
        -------
        display : FairnessFrontierDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_estimator")
        if costs is None:
            costs = getattr(innermost(estimator, X)[0], "costs_", None)
        classes = np.asarray(estimator.classes_)
        proba = probabilities(estimator, X, classes)
        priced = as_costs(costs, classes, len(proba), X)
        frontier = parity_frontier(
            priced.expected(proba),
            capacity,
            replace(parity, groups=group_labels(parity.groups, X)),
            n_points=n_points,
            actions=classes if priced.is_square else priced.actions,
            groups=groups,
            cheapest=priced.decide(proba, encoded=True),
            proba=proba,
            classes=classes,
            positive=priced.positive,
        )
        return cls(frontier=frontier, of=parity.of, currency=currency).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the curves, the permitted difference falling from left to right.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.

        Returns
        -------
        self
        """
        self.ax_ = axes_for(ax, "FairnessFrontierDisplay.plot")
        self.figure_ = self.ax_.figure
        found = self.frontier
        once(self.ax_, "costboost-zero", [0, 100 * found.within[0]], [0, 0], linestyle="-")
        self.lines_ = []
        more = found.cost - found.cost[0]
        texts = [("all rows", f"{money(more[-1], self.currency)} more at no difference")]
        curves = [more]
        for j, group in enumerate(found.groups.tolist()):
            curves.append(found.group_costs[:, j] - found.group_costs[0, j])
            few = ", few" if found.sizes[j] < FEW_ROWS else ""
            texts.append((str(group), f"{count(int(found.sizes[j]), 'row')}{few}"))
        for values, (name, facts) in zip(curves, texts, strict=True):
            style = {"label": entry(self.ax_, name, facts), **curve_style(self.ax_, {})}
            self.lines_ += self.ax_.plot(100 * found.within, values, **style)
        words = f"Permitted difference of the {_WORDS[self.of]} (points)"
        dress(self.ax_, words, unit("Expected to cost more", self.currency))
        if found.within[0] > 0:
            self.ax_.set_xlim(100 * found.within[0], 0)
        plain_ticks(self.ax_.yaxis)
        self.legend_ = show_legend(self.ax_)
        return self
