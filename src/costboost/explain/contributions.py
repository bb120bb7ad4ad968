"""What each column adds to the decision value of each row.

Trees add up to margins, so their Shapley values (`shapley`) add up too. Calibrated models go on:

    margins F_m -> probabilities p_m = g_m(F_m) -> mean over models -> log odds D

With one model and a map that is straight in the log odds (sigmoid, bias-corrected and temperature
calibration of margins), D is a straight function of F, and its Shapley values are those of F times
the slope. In general, and for the mean of several models, D is opened along the straight way from
the members' mean margins (t = 0) to the row's own (t = 1):

    D(1) - D(0) = sum_m (F_m - E F_m) w_m,    w_m = int_0^1 dD/dF_m dt

(Aumann and Shapley 1974), and a column gets sum_m w_m phi_m: what it adds to each model, by the
weight that the model has in the answer. The values add up to D, and a column that no model looks
at gets nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.explain.decision import plain
from costboost.explain.rows import Encoded
from costboost.explain.shapley import Explainer
from costboost.model import FittedModel, Member
from costboost.runtime.machine import need
from costboost.typing import Floats

# Data frames for results: pandas if it is installed, else polars


def make_frame(columns: dict[str, Any]) -> Any:
    """Return a data frame of the columns given."""
    library = "polars" if find_spec("polars") and not find_spec("pandas") else "pandas"
    return need(library, "A data frame").DataFrame(columns)


_POINTS = 16  # of the way from the mean margins to the row's
_STEP = 1e-4  # of the central differences that are the slopes of calibrations
_ROWS = 1024  # opened together
_LEAST = 1e-300  # of probabilities inside logarithms, as in the estimators


@dataclass(frozen=True, eq=False, repr=False)
class Contributions:
    """What each column adds to the decision value of each row.

    Attributes
    ----------
    values : float64 array of shape (n_samples, n_features), or (n_samples, n_features, K)
        With more than two classes, one for each class.
    base : float64 array of shape (n_samples,) or (n_samples, K)
        What is said of a row of which nothing is known. The same for all rows, unless the model
        starts from another model's answers (``init=``).
    columns : tuple of str
    unit : str
        What values and base are counted in.
    outputs : tuple or None
        The classes, if there are more than two.
    output : label or None
        The class that one value per column speaks for; None of a regressor.

    Examples
    --------
    >>> import numpy as np
    >>> values, base = np.array([[0.5, -1.0]]), np.array([0.25])
    >>> added = Contributions(values, base, ("age", "income"), "margin")
    >>> added.total.tolist()
    [-0.25]
    >>> added
    Contributions of 2 columns to the margin of 1 row
    """

    values: Floats
    base: Floats
    columns: tuple[str, ...]
    unit: str
    outputs: tuple[Any, ...] | None = None
    output: Any = None

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        rows = f"{len(self):,} row" + "s" * (len(self) != 1)
        link = "of" if self.output is None else "in"
        return f"Contributions of {len(self.columns)} columns to the {self.about} {link} {rows}"

    @property
    def about(self) -> str:
        """What values and base are parts of, in words: the unit, and of which class."""
        return self.unit if self.output is None else f"{self.unit} of {plain(self.output)}"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=bool(copy) or dtype is not None)

    @property
    def total(self) -> Floats:
        """Base plus the values of all columns: ``decision_function``.

        Of two classes that is the value of the second; minus it where `output` is the first.
        """
        return np.asarray(self.base + self.values.sum(axis=1))

    def of_output(self, output: Any) -> Contributions:
        """Return the contributions to one class."""
        if self.outputs is None:
            raise ValueError(
                "These contributions are to one number: there is nothing to choose. Of two "
                "classes, contributions(X, output=label) says which is meant."
            )
        if output not in self.outputs:
            raise ValueError(f"{output!r} is none of the classes {list(self.outputs)}.")
        k = self.outputs.index(output)
        values, base = self.values[:, :, k], self.base[:, k]
        return Contributions(values, base, self.columns, self.unit, None, output)

    def reversed(self, output: Any) -> Contributions:
        """Return the contributions to the other of two classes: what one gains the other loses."""
        # 0 - x rather than -x: columns that add nothing add no negative zero.
        values, base = 0.0 - self.values, 0.0 - self.base
        return Contributions(values, base, self.columns, self.unit, None, output)

    def to_frame(self) -> Any:
        """Return a data frame: one column for each column, and "(base)"; one class only."""
        if self.values.ndim == 3:
            raise ValueError("Values of several classes are no table: choose one by of_output.")
        parts = {name: self.values[:, j] for j, name in enumerate(self.columns)}
        return make_frame({"(base)": self.base, **parts})


def explain_rows(
    model: FittedModel,
    rows: Encoded,
    columns: Sequence[str],
    background: Encoded | None = None,
    n_threads: int = 1,
    classes: NDArray[Any] | None = None,
) -> Contributions:
    """Return what each column adds to the decision values of the rows of a table.

    Parameters
    ----------
    model : FittedModel
    rows : Encoded
    columns : sequence of str
        The names of the table's columns.
    background : Encoded or None
        Average unknown columns over these rows instead of along the trees' paths.
    n_threads : int
        The values do not depend on it.
    classes : array of shape (K,) or None
        The labels that decision values belong to: all K, or of two classes the second.
    """
    parts = [_explain_member(m, rows, background, n_threads) for m in model.members]
    opened = _open(model, parts) if model.is_calibrated else _project(model, parts[0])
    outputs, output = None, None
    if classes is not None and len(classes) > 2:
        outputs = tuple(classes.tolist())
    elif classes is not None:
        output = classes.tolist()[-1]
    return Contributions(*opened, tuple(columns), model.unit, outputs, output)


def _project(model: FittedModel, part: _Opened) -> tuple[Floats, Floats]:
    # Decision values are margins, or the difference of two of them: a matrix says which.
    matrix = model.values([np.eye(part.base.shape[1])])
    return part.values @ matrix, part.base @ matrix


class _Opened(NamedTuple):
    """The margins of a member, (n, J), their base, (n, J), and Shapley values, (n, d, J)."""

    values: Floats
    base: Floats
    margins: Floats

    def rows(self, at: slice) -> _Opened:
        return _Opened(self.values[at], self.base[at], self.margins[at])


def _explain_member(
    member: Member, rows: Encoded, background: Encoded | None, n_threads: int
) -> _Opened:
    assert member.forest is not None
    explainer, codes = Explainer.of(member.forest), rows.codes
    if background is None:
        values, base = explainer.path_dependent(codes, n_threads)
    else:
        values, base = explainer.interventional(codes, background.codes, n_threads)
    first = np.zeros((1, 1)) if member.init is None else member.init.margins(rows.X)
    bases = np.repeat(base[None, :], len(codes), axis=0) + first
    # As prediction adds them up: a calibration may be steep enough to tell.
    return _Opened(values, bases, member.forest.margins_of_codes(codes, n_threads) + first)


def _open(model: FittedModel, parts: list[_Opened]) -> tuple[Floats, Floats]:
    """Return contributions to the decision values of calibrated models, block by block."""
    starts = range(0, len(parts[0].values), _ROWS)
    blocks = [slice(start, start + _ROWS) for start in starts]
    done = [_open_rows(model, [part.rows(at) for part in parts]) for at in blocks]
    return np.concatenate([v for v, _ in done]), np.concatenate([b for _, b in done])


def _open_rows(model: FittedModel, parts: list[_Opened]) -> tuple[Floats, Floats]:
    weights = _way_weights(model.members, parts)
    opened = [np.einsum("ndj,njk->ndk", p.values, w) for p, w in zip(parts, weights, strict=True)]
    base = model.values([part.base for part in parts])
    total = model.values([part.margins for part in parts])
    one = base.ndim == 1
    base, total = (part[:, None] if one else part for part in (base, total))
    sizes = np.sum([np.abs(part.values).sum(axis=2) for part in parts], axis=0)
    values = _add_up(np.sum(opened, axis=0), total - base, sizes)
    return (values[:, :, 0], base[:, 0]) if one else (values, base)


def _way_weights(members: Sequence[Member], parts: list[_Opened]) -> list[Floats]:
    """Return int_0^1 dD_k / dF_mj dt for every row, (n, J, K) for each member."""
    x, share = np.polynomial.legendre.leggauss(_POINTS)
    n_rows, n_outputs = parts[0].base.shape
    # All points of the way at once: (points * n, J).
    way = [
        np.concatenate([p.base + 0.5 * (t + 1.0) * (p.margins - p.base) for t in x]) for p in parts
    ]
    mean = np.mean([m.proba(margins) for m, margins in zip(members, way, strict=True)], axis=0)
    # Below the least, the logarithm is held: no slope.
    slope_of_log = np.divide(1.0, mean, out=np.zeros_like(mean), where=mean > _LEAST)
    weights = []
    for member, margins in zip(members, way, strict=True):
        slopes = np.stack([_slope(member, margins, j) for j in range(n_outputs)], axis=1)
        logs = slopes * slope_of_log[:, None, :] / len(members)
        if logs.shape[2] == 2:
            logs = logs[:, :, 1:] - logs[:, :, :1]
        logs = logs.reshape(_POINTS, n_rows, n_outputs, -1)
        weights.append(np.tensordot(0.5 * share, logs, axes=1))
    return weights


def _slope(member: Member, margins: Floats, j: int) -> Floats:
    """Return how fast a member's probabilities move with its margin j, (n, K)."""
    step = np.zeros(margins.shape[1])
    step[j] = _STEP
    up, down = member.proba(margins + step), member.proba(margins - step)
    return np.asarray((up - down) / (2.0 * _STEP))


def _add_up(values: Floats, wanted: Floats, sizes: Floats) -> Floats:
    """Share out what the points of the way missed, among the columns that push that way.

    A smooth calibration leaves less than a millionth; the steps of an isotonic one may lie between
    the points. Where no column pushes that way they share by their `sizes`, (n, d).
    """
    missed = (wanted - values.sum(axis=1))[:, None, :]
    by = np.maximum(values * np.sign(missed), 0.0)
    by = np.where(by.sum(axis=1, keepdims=True) > 0.0, by, sizes[:, :, None])
    total = by.sum(axis=1, keepdims=True)
    shares = np.divide(by, total, out=np.zeros_like(by), where=total > 0.0)
    return np.asarray(values + missed * shares)
