"""Cost by round: on the training rows, on validation rows, and the bound that theory gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost.plots._responses import innermost, model_name
from costboost.plots._style import (
    COLORS,
    CURVE,
    MARKERS,
    Floats,
    amount,
    axes_for,
    dress,
    entry,
    need_matplotlib,
    plain_ticks,
    show_legend,
    tagged,
    unit,
)


def _by_round(values: ArrayLike | None, name: str) -> Floats | None:
    if values is None:
        return None
    costs = np.asarray(values, dtype=np.float64)
    if costs.ndim != 1 or len(costs) == 0:
        raise ValueError(f"{name} has shape {costs.shape}: give one cost per round, at least one")
    if np.isnan(costs).any():
        raise ValueError(f"{name} holds nan: give a cost for every round")
    return costs


@dataclass(eq=False, repr=False, kw_only=True)
class TrainingCostDisplay:
    """Cost by boosting round, with the bound that the method's theorem gives where there is one.

    Several models on the same axes are told apart by colour and marker; line styles say what a
    curve is: solid for training, dashed for the bound, dotted for validation, whose cheapest round
    is marked.

    Parameters
    ----------
    train_cost : array-like of shape (n_rounds,)
        Cost on the training rows after each round.
    cost_bound : array-like of shape (n_rounds,), default=None
        The bound on it.
    validation_cost : array-like of shape (n_rounds,), default=None
        Cost on rows that were not trained on.
    currency : str, default=None
        What costs are counted in, such as "EUR".
    name : str, default=None
        What the legend calls the model.

    Attributes
    ----------
    line_ : Line2D
        The training cost.
    bound_, validation_ : Line2D or None
        The other two.
    best_ : Line2D or None
        The mark at the cheapest validation round.
    ax_, figure_, legend_
        Where it was drawn.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from costboost.plots import TrainingCostDisplay
    >>> display = TrainingCostDisplay(
    ...     train_cost=[0.5, 0.3, 0.2], cost_bound=[0.9, 0.8, 0.7], validation_cost=[0.6, 0.4, 0.5]
    ... ).plot()
    >>> display.best_round
    2
    >>> plt.close(display.figure_)
    """

    _styles: ClassVar[dict[str, Any]] = {
        "training": "-",
        "bound": (0, (5, 1.5)),
        "validation": (0, (1.2, 1.2)),
    }

    train_cost: ArrayLike
    cost_bound: ArrayLike | None = None
    validation_cost: ArrayLike | None = None
    currency: str | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        for field in ("train_cost", "cost_bound", "validation_cost"):
            setattr(self, field, _by_round(getattr(self, field), field))

    @property
    def best_round(self) -> int | None:
        """The round, counted from 1, that was cheapest on the validation rows."""
        if self.validation_cost is None:
            return None
        return int(np.argmin(self.validation_cost)) + 1

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        currency: str | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the rounds of a fitted model.

        Parameters
        ----------
        estimator : boosted model
            Fitted, with ``train_cost_``, and ``cost_bound_`` and ``validation_cost_`` where it has
            them; also a pipeline or a search around one.
        currency : str, default=None
            What costs are counted in, such as "EUR".
        name : str, default=None
            What the legend calls the model; by default its class.
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        **kwargs : dict
            Passed to `plot`.

        Returns
        -------
        display : TrainingCostDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_estimator")
        model = innermost(estimator)
        train_cost = getattr(model, "train_cost_", None)
        if train_cost is None:
            raise ValueError(
                f"{type(model).__name__} has no train_cost_: give a fitted model that boosts, or "
                "the arrays themselves, TrainingCostDisplay(train_cost=...).plot()"
            )
        made = cls(
            train_cost=train_cost,
            cost_bound=getattr(model, "cost_bound_", None),
            validation_cost=getattr(model, "validation_cost_", None),
            currency=currency,
            name=model_name(estimator) if name is None else name,
        )
        return made.plot(ax=ax, **kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        yscale: Literal["auto", "linear", "log"] = "auto",
        **kwargs: Any,
    ) -> Self:
        """Draw the rounds.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.
        name : str, default=None
            What the legend calls the model; by default the name it has.
        yscale : {"auto", "linear", "log"}, default="auto"
            Scale of the costs; "auto" is "log" when they differ more than fiftyfold.
        **kwargs : dict
            Passed to matplotlib's `plot` for all curves of this model.

        Returns
        -------
        self
        """
        self.ax_ = axes_for(ax, "TrainingCostDisplay.plot")
        self.figure_ = self.ax_.figure
        name = self.name if name is None else name
        i = len(tagged(self.ax_, CURVE))
        style = {"color": COLORS[i % len(COLORS)], "marker": MARKERS[i % len(MARKERS)], **kwargs}
        line = self._draw(self.train_cost, "training", name, style)
        line.set_gid(CURVE)
        self.line_ = line
        self.bound_ = self._draw(self.cost_bound, "bound", name, style)
        self.validation_ = self._draw(self.validation_cost, "validation", name, style)
        self.best_ = self._draw_best()
        dress(self.ax_, "Round", unit("Cost", self.currency))
        self._scale(yscale)
        self.legend_ = show_legend(self.ax_)
        return self

    def _draw(self, costs: Any, what: str, name: str | None, style: dict[str, Any]) -> Any:
        if costs is None:
            return None
        fixed = {
            "linestyle": self._styles[what],
            "linewidth": 1.8 if what == "training" else 1.4,
            "markersize": 5,
            "markevery": max(1, len(costs) // 8),
            "label": entry(self.ax_, name, self._fact(what)),
        }
        return self.ax_.plot(np.arange(1, len(costs) + 1), costs, **{**fixed, **style})[0]

    def _fact(self, what: str) -> str:
        if what == "bound":
            return "bound on the training cost"
        if what == "training":
            return f"training, {amount(float(np.asarray(self.train_cost)[-1]), self.currency)}"
        least = float(np.min(np.asarray(self.validation_cost)))
        return f"validation, least {amount(least, self.currency)} at round {self.best_round}"

    def _draw_best(self) -> Any:
        if self.best_round is None:
            return None
        least = float(np.min(np.asarray(self.validation_cost)))
        style = {"color": self.line_.get_color(), "markerfacecolor": "white", "markersize": 9}
        at = [self.best_round], [least]
        return self.ax_.plot(*at, marker="o", linestyle="none", zorder=5, **style)[0]

    def _scale(self, yscale: str) -> None:
        from matplotlib.ticker import MaxNLocator

        drawn = [
            c for c in (self.train_cost, self.cost_bound, self.validation_cost) if c is not None
        ]
        costs = np.concatenate([np.asarray(c) for c in drawn])
        positive = costs[costs > 0]
        if yscale == "auto":
            wide = len(positive) > 0 and positive.max() > 50 * positive.min()
            yscale = "log" if wide and costs.min() >= 0 else self.ax_.get_yscale()
        self.ax_.set_yscale(yscale)
        plain_ticks(self.ax_.yaxis)
        if yscale == "linear" and costs.min() >= 0:
            low, high = self.ax_.get_ylim()
            if low < 0.5 * high:  # far above zero, starting there would flatten the curves
                self.ax_.set_ylim(bottom=0)
        rounds = max(len(line.get_xdata()) for line in tagged(self.ax_, CURVE))
        margin = max(0.5, 0.02 * rounds)
        self.ax_.set_xlim(1 - margin, rounds + margin)
        self.ax_.xaxis.set_major_locator(
            MaxNLocator(8, integer=True, steps=[1, 2, 5, 10], min_n_ticks=1)
        )
