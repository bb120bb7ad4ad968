"""What is drawn on axes of matplotlib, as plain numbers."""


def curves(ax):
    """Return the labelled lines of some axes: label -> (x, y)."""
    return {
        line.get_label(): (list(map(float, line.get_xdata())), list(map(float, line.get_ydata())))
        for line in ax.get_lines()
        if not line.get_label().startswith("_")
    }


def legend_of(figure):
    """Return the words of the one legend of a figure."""
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]
