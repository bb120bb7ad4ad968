"""Cost by round: on the training rows, on validation rows, and the bound that theory gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from costboost.plots._base import innermost, model_name
from costboost.plots.style import (
    COLORS,
    CURVE,
    MARKERS,
    axes_for,
    dress,
    entry,
    need_matplotlib,
    plain_ticks,
    right_of,
    show_legend,
    tagged,
    unit,
)
from costboost.text import money, number
from costboost.typing import Floats

_KEPT = "costboost-kept"


def _by_round(values: Any, name: str) -> Floats | None:
    """Return costs of shape (n_models, n_rounds); a model that stopped early keeps its last."""
    if values is None:
        return None
    ragged = isinstance(values, list | tuple) and any(np.ndim(v) == 1 for v in values)
    series = [
        np.asarray(v, dtype=np.float64) for v in (values if ragged else np.atleast_2d(values))
    ]
    if not series or any(s.ndim != 1 or len(s) == 0 for s in series):
        raise ValueError(f"{name} must hold one cost per round and at least one round")
    rounds = max(len(s) for s in series)
    costs = np.stack([np.pad(s, (0, rounds - len(s)), mode="edge") for s in series])
    if np.isnan(costs).any():
        raise ValueError(f"{name} holds nan: give a cost for every round")
    return costs


def _stopped_by(model: Any) -> str:
    """Return the name of what training stopped by."""
    if hasattr(model, "validation_cost_"):
        return "cost"
    metric = getattr(model, "early_stopping_metric", "auto")
    if callable(metric):
        return getattr(metric, "__name__", "metric").replace("_", " ")
    if metric == "auto":
        return "log loss" if hasattr(model, "classes_") else "loss"
    return str(metric).replace("_", " ")


@dataclass(eq=False, repr=False, kw_only=True)
class TrainingCostDisplay:
    """Cost by boosting round, with the bound that the method's theorem gives where there is one.

    Several models on the same axes differ by colour and marker; line styles say what a
    curve is: solid for training, dashed for the bound, dotted for validation, whose cheapest round
    is marked. A model that calibration made of several, one per fold, is drawn as their mean, in a
    band from the least to the largest.

    Parameters
    ----------
    train_cost : array-like of shape (n_rounds,), or a list of such
        Cost on the training rows after each round; a list has one array for each of several
        models, whose numbers of rounds may differ. A model that stopped keeps its last cost.
    cost_bound : array-like of shape (n_rounds,), or a list of such, default=None
        The bound on it.
    validation_cost : array-like of shape (n_rounds,), or a list of such, default=None
        Cost on rows that were not trained on.
    rounds, validation_rounds : array-like of int, default=None
        The numbers of the rounds of the first two, and of the third, where not every round was
        looked at.
    validation_name : str, default="cost"
        What the third is, such as "log loss": whatever training stopped by.
    kept : int, default=None
        The number of rounds that the model kept.
    train_name : str, default="Cost"
        What the first is.
    validation_axis : {"same", "right"}, default="same"
        Where the validation cost is read: on the same axis, or on one of its own on the right, for
        a mean beside totals.
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
    bands_ : list of PolyCollection
        From the least to the largest of several models, for each of the curves.
    best_ : Line2D or None
        The mark at the cheapest validation round.
    kept_ : Line2D or None
        The line at the number of rounds kept, where that is another.
    ax_, figure_, legend_
        Where it was drawn.
    validation_ax_ : Axes
        Where the validation cost was drawn; `ax_` unless it has its own axis.

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

    train_cost: Any
    cost_bound: Any = None
    validation_cost: Any = None
    rounds: Any = None
    validation_rounds: Any = None
    validation_name: str = "cost"
    kept: int | None = None
    train_name: str = "Cost"
    validation_axis: Literal["same", "right"] = "same"
    currency: str | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        self._series = {
            "training": _by_round(self.train_cost, "train_cost"),
            "bound": _by_round(self.cost_bound, "cost_bound"),
            "validation": _by_round(self.validation_cost, "validation_cost"),
        }

    def _mean(self, what: str) -> Floats | None:
        series = self._series[what]
        return None if series is None else np.asarray(series.mean(axis=0))

    @property
    def best_round(self) -> int | None:
        """The round, counted from 1, that was cheapest on the validation rows."""
        costs = self._mean("validation")
        if costs is None:
            return None
        return int(self._numbers("validation", len(costs))[int(np.argmin(costs))])

    def _numbers(self, what: str, n_points: int) -> Any:
        """Return the numbers of the rounds that were looked at."""
        given = self.validation_rounds if what == "validation" else self.rounds
        if given is None:
            return np.arange(1, n_points + 1)
        if len(given) < n_points:
            raise ValueError(f"there are {n_points} {what} costs, but {len(given)} rounds")
        return np.asarray(given)[:n_points]

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

        ``train_cost_`` and ``cost_bound_`` are totals over the training rows, ``validation_cost_``
        (or ``validation_loss_``, of a model that stops by another measure) is a mean over the
        held-out ones, so it is drawn on an axis of its own. Regressors have losses for costs.

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
        train_cost = getattr(model, "train_cost_", getattr(model, "train_loss_", None))
        if train_cost is None:
            raise ValueError(
                f"{type(model).__name__} has no train_cost_: give a fitted model that boosts, or "
                "the arrays themselves, TrainingCostDisplay(train_cost=...).plot()"
            )
        validation = getattr(model, "validation_cost_", getattr(model, "validation_loss_", None))
        looks = getattr(model, "validation_rounds_", None)
        made = cls(
            train_cost=train_cost,
            cost_bound=getattr(model, "cost_bound_", None),
            validation_cost=validation,
            rounds=looks,
            validation_rounds=looks,
            validation_name=_stopped_by(model),
            train_name="Cost" if hasattr(model, "train_cost_") else "Mean loss",
            kept=None if validation is None else getattr(model, "n_iter_", None),
            validation_axis="right",
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
        self.bands_: list[Any] = []
        self.validation_ax_ = self._validation_axes()
        self.line_ = self._draw("training", name, {**style, "gid": CURVE})
        self.bound_ = self._draw("bound", name, style)
        self.validation_ = self._draw("validation", name, style)
        self.best_ = self._draw_best()
        self.kept_ = self._draw_kept()
        dress(self.ax_, "Round", unit(self.train_name, self.currency))
        self._scale(self.ax_, yscale)
        if self.validation_ax_ is not self.ax_:
            self._scale(self.validation_ax_, yscale)
        self._count()
        self.legend_ = show_legend(self.ax_)
        return self

    def _validation_axes(self) -> Any:
        if self.validation_axis not in ("same", "right"):
            raise ValueError(f"validation_axis={self.validation_axis!r}: use 'same' or 'right'")
        if self.validation_axis == "same" or self._series["validation"] is None:
            return self.ax_
        if self.validation_name != "cost":
            return right_of(self.ax_, f"Mean held-out {self.validation_name}")
        return right_of(self.ax_, unit("Mean held-out cost", self.currency))

    def _draw(self, what: str, name: str | None, style: dict[str, Any]) -> Any:
        costs, series = self._mean(what), self._series[what]
        if costs is None or series is None:
            return None
        fixed = {
            "linestyle": self._styles[what],
            "linewidth": 1.8 if what == "training" else 1.4,
            "markersize": 5,
            "markevery": max(1, len(costs) // 8),
            "label": entry(self.ax_, name, self._fact(what, costs)),
        }
        rounds = self._numbers(what, len(costs))
        ax = self.validation_ax_ if what == "validation" else self.ax_
        line = ax.plot(rounds, costs, **{**fixed, **style})[0]
        if len(series) > 1:
            ends = series.min(axis=0), series.max(axis=0)
            band = {"color": line.get_color(), "alpha": 0.15, "linewidth": 0}
            self.bands_.append(ax.fill_between(rounds, *ends, **band))
        return line

    def _fact(self, what: str, costs: Floats) -> str:
        series = self._series[what]
        models = 1 if series is None else len(series)
        of = f", mean of {models} models" if models > 1 else ""
        if what == "bound":
            return "bound on the training cost"
        if what == "training":
            return f"training, {money(float(costs[-1]), self.currency)}{of}"
        least = money(float(costs.min()), self.currency)
        if self.validation_name != "cost":
            least = number(float(costs.min()), 3)
        return f"held-out {self.validation_name}, least {least} at round {self.best_round}{of}"

    def _draw_best(self) -> Any:
        costs = self._mean("validation")
        if costs is None:
            return None
        style = {"color": self.line_.get_color(), "markerfacecolor": "white", "markersize": 9}
        at = [self.best_round], [float(costs.min())]
        return self.validation_ax_.plot(*at, marker="o", linestyle="none", zorder=5, **style)[0]

    def _draw_kept(self) -> Any:
        if self.kept is None or self.kept == self.best_round:
            return None
        style = {"color": self.line_.get_color(), "linestyle": ":", "linewidth": 1.0}
        label = f"{self.kept} rounds are kept"
        return self.ax_.axvline(self.kept, label=label, gid=_KEPT, **style)

    def _scale(self, ax: Any, yscale: str) -> None:
        lines = [line for line in ax.lines if line.get_gid() != _KEPT]
        costs = np.concatenate([np.asarray(line.get_ydata()) for line in lines])
        positive = costs[costs > 0]
        if yscale == "auto":
            wide = len(positive) > 0 and positive.max() > 50 * positive.min()
            yscale = "log" if wide and costs.min() >= 0 else ax.get_yscale()
        ax.set_yscale(yscale)
        plain_ticks(ax.yaxis)
        if yscale == "linear" and costs.min() >= 0:
            low, high = ax.get_ylim()
            if low < 0.5 * high:  # well above zero, starting there would flatten the curves
                ax.set_ylim(bottom=0)

    def _count(self) -> None:
        """Set up the horizontal axis for rounds: whole numbers from 1."""
        from matplotlib.ticker import MaxNLocator

        lines = [*self.ax_.lines, *self.validation_ax_.lines]
        rounds = max(float(np.max(line.get_xdata())) for line in lines)
        margin = max(0.5, 0.02 * rounds)
        self.ax_.set_xlim(1 - margin, rounds + margin)
        self.ax_.xaxis.set_major_locator(
            MaxNLocator(8, integer=True, steps=[1, 2, 5, 10], min_n_ticks=1)
        )
