"""A `MinimumCostRegressor` in C: its forests one after the other, and what is made of their means.

Every forest keeps the file that it would have alone, under a name of its own, because the models of
folds have bins of their own. Location, scale and quantile are computed in Python's order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from costboost.deploy.c_trees import array, columns_of_text, number
from costboost.deploy.exported import export

__all__ = ["write_numbers"]

_PUBLIC = (
    "double PREFIX_mean(const double *row)",
    "double PREFIX_quantile(const double *row, double level)",
    "double PREFIX_cheapest(const double *row, double under, double over)",
    "double PREFIX_probability_above(const double *row, double threshold)",
)
_BODY = """static double PREFIX_place(const double *row, double *scale)
{
    double location, spread;
LOCATION
SCALE
    *scale = spread > LEAST ? spread : LEAST;
    return location;
}

/* The value at x of the straight lines through m points. */
static double PREFIX_between(double x, const double *from, const double *to, int m)
{
    int low = 0, high = m - 1;
    if (x != x) {
        return x;
    }
    if (x >= from[high]) {
        return to[high];
    }
    if (x < from[0]) {
        return to[0];
    }
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (from[middle] <= x) {
            low = middle;
        } else {
            high = middle;
        }
    }
    if (from[low] == x) {
        return to[low];
    }
    return (to[low + 1] - to[low]) / (from[low + 1] - from[low]) * (x - from[low]) + to[low];
}

double PREFIX_mean(const double *row)
{
    double scale, location = PREFIX_place(row, &scale);
    return location + scale * MEAN;
}

double PREFIX_quantile(const double *row, double level)
{
    double scale, location = PREFIX_place(row, &scale);
    return location + scale * PREFIX_between(level, PREFIX_levels, PREFIX_knots, KNOTS);
}

double PREFIX_cheapest(const double *row, double under, double over)
{
    return PREFIX_quantile(row, under + over > 0.0 ? under / (under + over) : 0.5);
}

double PREFIX_probability_above(const double *row, double threshold)
{
    double scale, location = PREFIX_place(row, &scale);
    return 1.0 - PREFIX_between((threshold - location) / scale, PREFIX_knots, PREFIX_levels, KNOTS);
}"""


def write_numbers(model: Any, name: str, write_one: Callable[[Any, str], str]) -> str:
    """Return the text of the file; `write_one` returns that of one regressor under a name."""
    check_is_fitted(model)
    parts = {"location": model.locations_, "scale": model.scales_}
    for inner in (*model.locations_, *model.scales_):
        exported = export(inner)
        texts = columns_of_text(exported.binner, exported.used_features)
        if texts:
            raise ValueError(
                f"Column {texts[0]} holds text, to which each model of a MinimumCostRegressor "
                "gives codes of its own: it cannot be exported. Give its categories as numbers."
            )
    files = [
        write_one(inner, f"{name}_{part}_{i}")
        for part, models in parts.items()
        for i, inner in enumerate(models)
    ]
    spread = model.distribution_
    head = [
        f"/* A MinimumCostRegressor: {len(files)} forests, of which these functions are made:",
        "",
        *(f"     {line};" for line in _PUBLIC),
        "",
        "   The cheapest number is that at prices per unit too little and too much. */",
    ]
    arrays = [
        array("double", f"{name}_{what}", map(number, values.tolist()))
        for what, values in (("knots", spread.knots), ("levels", spread.levels))
    ]
    body = (
        _BODY.replace("LOCATION", _mean_of("location", name, len(model.locations_)))
        .replace("SCALE", _mean_of("scale", name, len(model.scales_)))
        .replace("LEAST", number(model.least_scale_))
        .replace("MEAN", number(spread.mean))
        .replace("KNOTS", str(len(spread.knots)))
    )
    public = "\n".join(f"{line};" for line in _PUBLIC)
    text = "\n\n".join(["\n".join(head), *files, public, *arrays, body]) + "\n"
    return text.replace("PREFIX", name)


def _mean_of(part: str, name: str, n_models: int) -> str:
    """Return the lines that compute the mean of some forests."""
    variable = {"location": "location", "scale": "spread"}[part]
    if not n_models:
        return f"    {variable} = 0.0;"
    calls: Sequence[str] = [f"{name}_{part}_{i}_prediction(row)" for i in range(n_models)]
    lines = [f"    {variable} = {calls[0]};", *(f"    {variable} += {call};" for call in calls[1:])]
    return "\n".join([*lines, f"    {variable} /= {n_models}.0;"])
