"""Maps in C: margins -> probabilities, operation by operation as Python computes them.

Every map works in place on ``v``, an array of K doubles of which the first few are filled. Sums of
eight and more numbers are numpy's pairwise ones; everything else has one order only.
"""

from __future__ import annotations

from typing import Any

from costboost import calibration as maps
from costboost.calibration.calibrators import EPSILON
from costboost.deploy.c_trees import array, number
from costboost.model import Calibrate, Logistic, Map, Normalise, Second, VoteShares

__all__ = ["HELPERS", "write_map"]


def write_map(prefix: str, step: Map, n_values: int, place: str) -> tuple[list[str], str, int]:
    """Return the data, the statements of a map, and how many values it leaves in ``v``."""
    if isinstance(step, Second):
        return [], "v[0] = v[1];", 1
    if isinstance(step, Normalise) or (isinstance(step, VoteShares) and n_values > 1):
        return [], f"{prefix}_normalise(v, {n_values});", n_values
    if isinstance(step, VoteShares):
        return [], _SHARES.format(total=number(step.total)), 2
    if isinstance(step, Logistic):
        return [], *_logistic(prefix, step.scale, n_values)
    assert isinstance(step, Calibrate)
    return _calibrate(prefix, step, n_values, place)


_SHARES = """\
v[1] = 0.5 * (1.0 + v[0] / {total});
v[1] = v[1] < 0.0 ? 0.0 : v[1] > 1.0 ? 1.0 : v[1];
v[0] = 1.0 - v[1];"""


def _logistic(prefix: str, scale: float, n_values: int) -> tuple[str, int]:
    if n_values == 1:
        odds = f"{number(scale)} * v[0]"
        lines = [f"v[1] = {prefix}_expit({odds});", f"v[0] = {prefix}_expit(-({odds}));"]
        return "\n".join(lines), 2
    scaled = "\n".join(f"v[{k}] = {number(scale)} * v[{k}];" for k in range(n_values))
    return f"{scaled}\n{prefix}_softmax(v, {n_values});", n_values


def _calibrate(
    prefix: str, step: Calibrate, n_values: int, place: str
) -> tuple[list[str], str, int]:
    fitted = step.calibration
    n_classes = fitted.n_classes
    if fitted.method == "temperature":
        return [], _temperature(prefix, fitted, n_values), n_classes
    if fitted.joint:
        return _class_biases(prefix, fitted, place)
    data: list[str] = []
    lines = []
    if n_values == 2 and n_classes == 2:
        lines.append("v[0] = v[1] - v[0];" if fitted.margins else "v[0] = v[1];")
    for k, calibrator in enumerate(fitted.calibrators):
        lines.append(_one_score(prefix, calibrator, f"v[{k}]", f"{place}_{k}", data))
    if n_classes == 2:
        lines += ["v[1] = v[0];", "v[0] = 1.0 - v[1];"]
    else:
        lines.append(f"{prefix}_normalise(v, {n_classes});")
    return data, "\n".join(lines), n_classes


def _temperature(prefix: str, fitted: Any, n_values: int) -> str:
    calibrator, n = fitted.calibrators[0], fitted.n_classes
    lines = []
    if n_values == 1 and fitted.margins:
        lines += ["v[1] = v[0] / 2.0;", "v[0] = -v[0] / 2.0;"]
    elif n_values == 1:
        lines += ["v[1] = v[0];", "v[0] = 1.0 - v[1];"]
    if calibrator.prior is not None:
        lines = [f"v[{k}] = {number(p)};" for k, p in enumerate(calibrator.prior)]
    else:
        if not calibrator.margins:
            lines += [f"v[{k}] = log({prefix}_inside(v[{k}]));" for k in range(n)]
        lines.append(f"{prefix}_temper(v, {n}, {number(calibrator.beta)});")
    return "\n".join([*lines, f"{prefix}_normalise(v, {n});"])


def _class_biases(prefix: str, fitted: Any, place: str) -> tuple[list[str], str, int]:
    calibrator, n = fitted.calibrators[0], fitted.n_classes
    name = f"{prefix}_biases_{place}"
    data = [array("double", name, map(number, calibrator.biases))]
    lines = []
    if not calibrator.margins:
        lines = [f"v[{k}] = log({prefix}_inside(v[{k}]));" for k in range(n)]
    lines.append(f"{prefix}_lean(v, {n}, {number(calibrator.beta)}, {name});")
    return data, "\n".join([*lines, f"{prefix}_normalise(v, {n});"]), n


def _one_score(prefix: str, calibrator: Any, at: str, place: str, data: list[str]) -> str:
    """Return the statement of a calibrator of one score, in place."""
    c = calibrator
    if isinstance(c, maps.Sigmoid):
        return f"{at} = {prefix}_expit(-({number(c.A)} * {at} + {number(c.B)}));"
    if isinstance(c, maps.Beta):
        share = f"{prefix}_expit({at})" if c.margins else at
        numbers = ", ".join(map(number, (c.a, c.b, c.c)))
        return f"{at} = {prefix}_beta({share}, {numbers});"
    if isinstance(c, maps.BiasCorrected):
        if c.beta == 0:
            return f"{at} = {prefix}_expit({number(c.bias)});"
        odds = at if c.margins else f"{prefix}_logit({prefix}_inside({at}))"
        return f"{at} = {prefix}_expit({number(c.beta)} * {odds} + {number(c.bias)});"
    knots, values = f"{prefix}_knots_{place}", f"{prefix}_levels_{place}"
    data.append(array("double", knots, map(number, c.knots.tolist())))
    data.append(array("double", values, map(number, c.values.tolist())))
    return f"{at} = {prefix}_between({at}, {knots}, {values}, {len(c.knots)});"


#: Functions that the statements above may call; a file holds those that it uses.
HELPERS = {
    "add": """\
static void PREFIX_add(double *v, const double *more, int n)
{
    int k;
    for (k = 0; k < n; k++) {
        v[k] += more[k];
    }
}""",
    "expit": """\
static double PREFIX_expit(double x)
{
    return 1.0 / (1.0 + exp(-x));
}""",
    "inside": f"""\
/* Keep a share away from 0 and 1, where its logarithm ends. */
static double PREFIX_inside(double s)
{{
    const double low = {number(EPSILON)}, high = 1.0 - {number(EPSILON)};
    return s < low ? low : s > high ? high : s;
}}""",
    "logit": """\
static double PREFIX_logit(double s)
{
    const double t = 2.0 * (s - 0.5);
    return s < 0.3 || s > 0.65 ? log(s / (1.0 - s)) : log1p(t) - log1p(-t);
}""",
    "beta": """\
static double PREFIX_beta(double s, double a, double b, double c)
{
    s = PREFIX_inside(s);
    return PREFIX_expit(a * log(s) + b * -log1p(-s) + c);
}""",
    "between": """\
/* Linear between the knots, constant outside. */
static double PREFIX_between(double x, const double *knots, const double *levels, int n)
{
    int low = 0, high = n;
    double y, slope;
    if (!(x >= knots[0])) {
        return levels[0];
    }
    while (low < high) {
        const int middle = (low + high) / 2;
        if (knots[middle] <= x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low--;
    if (low == n - 1 || knots[low] == x) {
        return levels[low];
    }
    slope = (levels[low + 1] - levels[low]) / (knots[low + 1] - knots[low]);
    y = slope * (x - knots[low]) + levels[low];
    return y == y ? y : slope * (x - knots[low + 1]) + levels[low + 1];
}""",
    "sum": """\
/* numpy's order of addition. */
static double PREFIX_sum(const double *v, int n)
{
    int i, j;
    double total = 0.0, r[8];
    if (n > 128) {
        j = n / 2 - n / 2 % 8;
        return PREFIX_sum(v, j) + PREFIX_sum(v + j, n - j);
    }
    i = 0;
    if (n >= 8) {
        for (j = 0; j < 8; j++) {
            r[j] = v[j];
        }
        for (i = 8; i < n - n % 8; i += 8) {
            for (j = 0; j < 8; j++) {
                r[j] += v[i + j];
            }
        }
        total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    }
    for (; i < n; i++) {
        total += v[i];
    }
    return total;
}""",
    "normalise": """\
static void PREFIX_normalise(double *v, int n)
{
    const double total = PREFIX_sum(v, n);
    int k;
    for (k = 0; k < n; k++) {
        v[k] = total > 0.0 ? v[k] / total : 1.0 / n;
    }
}""",
    "softmax": """\
static void PREFIX_softmax(double *v, int n)
{
    double top = v[0], total = 0.0;
    int k;
    for (k = 1; k < n; k++) {
        top = v[k] > top ? v[k] : top;
    }
    for (k = 0; k < n; k++) {
        v[k] = exp(v[k] - top);
        total += v[k];
    }
    for (k = 0; k < n; k++) {
        v[k] /= total;
    }
}""",
    "lean": """\
/* The softmax of logits about their mean, times beta, plus biases. */
static void PREFIX_lean(double *v, int n, double beta, const double *biases)
{
    const double mean = PREFIX_sum(v, n) / n;
    int k;
    for (k = 0; k < n; k++) {
        v[k] = beta * (v[k] - mean) + biases[k];
    }
    PREFIX_softmax(v, n);
}""",
    "temper": """\
/* The softmax of logits about their mean, times beta. */
static void PREFIX_temper(double *v, int n, double beta)
{
    const double mean = PREFIX_sum(v, n) / n;
    int k;
    for (k = 0; k < n; k++) {
        v[k] = beta * (v[k] - mean);
    }
    PREFIX_softmax(v, n);
}""",
}
