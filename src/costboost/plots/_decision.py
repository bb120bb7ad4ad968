"""One decision as a waterfall: from what is said of any row to what is said of this one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from costboost.explain.decision import Explanation, waterfall_steps
from costboost.explain.decision import plain as as_text
from costboost.plots.style import COLORS, GREY, axes_for, dress, head, need_matplotlib, plain
from costboost.text import number

RISES, FALLS = COLORS[1], COLORS[0]
_ROW = 0.32  # inches


@dataclass
class DecisionDisplay:
    """What each column added to one decision, as bars from the base to the row's own value.

    Parameters
    ----------
    explanation : Explanation
        What ``model.explain(x)`` returned.
    n_columns : int
        Columns with a bar of their own, those that moved most; the others share one.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    bars_ : matplotlib BarContainer

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import CostBoostClassifier
    >>> from costboost.plots import DecisionDisplay
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = CostBoostClassifier("adamec", n_estimators=10, random_state=0).fit(X, y)
    >>> display = DecisionDisplay.from_estimator(model, X.iloc[[0]], costs={"fp": 10, "fn": 1})
    >>> len(display.bars_) <= 9
    True
    >>> plt.close(display.figure_)
    """

    explanation: Explanation
    n_columns: int = 8

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        x: Any,
        *,
        costs: Any = None,
        background: Any = None,
        n_columns: int = 8,
        ax: Any = None,
    ) -> Self:
        """Explain one row and draw it.

        Parameters
        ----------
        estimator : fitted estimator with built-in trees
        x : one row
        costs : None, dict, array-like or Costs, default=None
            Prices to decide by; a regressor takes none.
        background : table, default=None
            As in ``contributions``.
        n_columns : int, default=8
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.

        Returns
        -------
        display : DecisionDisplay
        """
        need_matplotlib(f"{cls.__name__}.from_estimator")
        given = {} if costs is None else {"costs": costs}
        return cls(estimator.explain(x, background=background, **given), n_columns).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the waterfall.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: on a new figure.

        Returns
        -------
        self
        """
        seen = self.explanation
        steps = waterfall_steps(seen, self.n_columns)
        size = (7.6, 1.7 + _ROW * max(len(steps), 1))
        self.ax_ = axes_for(ax, "DecisionDisplay.plot", size)
        self.figure_ = self.ax_.figure
        moves = [stop - start for _, start, stop in steps]
        self.bars_ = self.ax_.barh(
            range(len(steps)),
            moves,
            left=[start for _, start, _ in steps],
            color=[RISES if move >= 0 else FALLS for move in moves],
            hatch=["//" if move >= 0 else "" for move in moves],
            edgecolor="white",
            height=0.7,
            zorder=3,
        )
        self.ax_.bar_label(self.bars_, [f"{move:+.3f}" for move in moves], padding=3, fontsize=8)
        self.ax_.set_yticks(range(len(steps)), [plain(_short(name)) for name, _, _ in steps])
        self._mark_ends(len(steps))
        unit = seen.unit + ("" if seen.output is None else f" of {as_text(seen.output)}")
        dress(self.ax_, unit[:1].upper() + unit[1:], "")
        self.ax_.use_sticky_edges = False
        self.ax_.margins(x=0.14)
        head(self.ax_, self._title(), fontsize=10)
        return self

    def _mark_ends(self, n_steps: int) -> None:
        seen = self.explanation
        top = max(n_steps, 1) - 0.4
        for x, style in ((seen.base, (0, (2, 2))), (seen.total, "-")):
            self.ax_.plot([x, x], [-0.6, top], color=GREY, linestyle=style, linewidth=1, zorder=2)
        self.ax_.set_ylim(-0.6, top)

    def _title(self) -> list[str]:
        seen = self.explanation
        ends = f"baseline {number(seen.base)} (dotted), {number(seen.total)} here"
        if seen.decision is None:
            return [f"{seen.model} predicts {number(seen.total)}", ends]
        costs = ", ".join(f"{as_text(a)}: {number(c)}" for a, c in seen.expected_cost.items())
        chances = ", ".join(f"P({as_text(k)}) = {number(p)}" for k, p in seen.probabilities.items())
        priced = [f"expected cost: {costs}"] if costs else []
        return [f"{seen.model} decides: {as_text(seen.decision)}", chances, *priced, ends]


def _short(name: str) -> str:
    return name if len(name) <= 40 else name[:37] + "..."
