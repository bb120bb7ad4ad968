"""Ticks of an axis: as people write numbers, and no more than fit.

matplotlib is imported only once something is drawn.
"""

from __future__ import annotations

from typing import Any

from costboost.plots.style import points_across, tick_texts


def plain_ticks(axis: Any) -> None:
    """Print every tick in full: thousands separators, no offset, no power of ten set apart."""
    from matplotlib.ticker import NullFormatter

    from costboost.plots._formatter import FullNumbers

    axis.set_major_formatter(FullNumbers())
    axis.set_minor_formatter(NullFormatter())


def few_ticks(ax: Any) -> None:
    """Have no more ticks along x than fit beside each other."""
    from matplotlib.ticker import MaxNLocator

    low, high = sorted(ax.get_xlim())
    for most in range(8, 1, -1):
        locator = MaxNLocator(most, steps=[1, 2, 2.5, 5, 10])
        ticks = [float(t) for t in locator.tick_values(low, high) if low <= t <= high]
        # In points: a letter takes about 5.6, and two texts should stand two letters apart. Axes
        # that share a figure will get a little narrower.
        if 5.6 * sum(len(text) + 2 for text in tick_texts(ticks)) <= 0.9 * points_across(ax):
            break
    ax.xaxis.set_major_locator(locator)
