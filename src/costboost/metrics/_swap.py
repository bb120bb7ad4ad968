"""Who is decided differently: rows that two models, policies or price lists decide apart.

Rows on which both decide the same cost the same. So all that a change saves is on the rows that are
exchanged, and a table of them says what it consists of: 31 payments that were let through are now
stopped, 12 that were stopped are let through, and what each kind saves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from costboost.calibration import read_groups
from costboost.costs import Costs, as_costs
from costboost.decisions.responses import decisions, innermost, probabilities
from costboost.inputs.arrays import encode
from costboost.metrics.policies import FEW_ROWS, SumInterval, sum_interval
from costboost.metrics.prices import bind_costs, check_labels, check_weights, take
from costboost.text import count, listed, money, span
from costboost.typing import Floats


class Exchange(NamedTuple):
    """Rows that leave one decision for another.

    Attributes
    ----------
    old, new : label
        The decisions; None where rows of several exchanges are taken together.
    group : label
        None where all groups are taken together.
    n_rows : int
        How many rows change.
    n_of : int
        Of how many rows.
    expected : SumInterval or None
        What is expected to be saved, in total, with its interval, by the model's probabilities.
    realised : SumInterval or None
        What was saved, where labels are known.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.metrics import compare_decisions
    >>> y, old, new = [0, 1, 1, 0], [0, 0, 1, 0], [0, 1, 1, 1]
    >>> swap = compare_decisions(old, new, np.zeros((4, 1)), y, costs={"fp": 5, "fn": 40})
    >>> swap.total.n_rows, swap.total.n_of, swap.total.realised.total
    (2, 4, 35.0)
    """

    old: Any
    new: Any
    group: Any
    n_rows: int
    n_of: int
    expected: SumInterval | None
    realised: SumInterval | None


@dataclass(frozen=True, eq=False, repr=False)
class DecisionSwap:
    """What changes where old decisions are replaced by new ones.

    Attributes
    ----------
    old, new : ndarray of shape (n_samples,)
        The decisions.
    rows : int array
        Numbers of the rows that are decided differently.
    expected, realised : float64 array of shape (n_samples,) or None
        What the change is expected to save on each row, and did save; 0 where nothing changes.
        Multiplied by the row's weight where weights were given.
    total : Exchange
        All exchanges together.
    exchanges : list of Exchange
        By old and new decision, the most frequent first.
    by_group : list of Exchange
        By group, where groups were given, in their order.
    few_rows : list
        Groups of fewer than 50 rows, whose intervals are too short now and then.
    largest : int array
        Numbers of the rows with the largest difference, by expected savings, else by realised ones.
    explanations : list
        `Explanation` of the new decision for each of those, or of the old one, where a model
        explains itself; else empty.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.metrics import compare_decisions
    >>> y, old, new = [0, 1, 1, 0], [0, 0, 1, 0], [0, 1, 1, 1]
    >>> swap = compare_decisions(old, new, np.zeros((4, 1)), y, costs={"fp": 5, "fn": 40})
    >>> swap.rows.tolist(), swap.largest.tolist()
    ([1, 3], [1, 3])
    """

    old: NDArray[Any]
    new: NDArray[Any]
    rows: NDArray[np.intp]
    expected: Floats | None
    realised: Floats | None
    total: Exchange
    exchanges: list[Exchange]
    by_group: list[Exchange]
    few_rows: list[Any]
    largest: NDArray[np.intp]
    explanations: list[Any] = field(default_factory=list)

    def to_frame(self) -> Any:
        """Return the table of exchanges as a pandas DataFrame, one line each and the total last."""
        import pandas as pd  # the only thing here that needs it

        lines = [*self.exchanges, *self.by_group, self.total]
        columns: dict[str, list[Any]] = {
            "old": [line.old for line in lines],
            "new": [line.new for line in lines],
            "group": [line.group for line in lines],
            "rows": [line.n_rows for line in lines],
            "of": [line.n_of for line in lines],
        }
        for name in ("expected", "realised"):
            parts = [getattr(line, name) for line in lines]
            if parts[0] is not None:
                for end in SumInterval._fields:
                    label = name if end == "total" else f"{name}_{end}"
                    columns[label] = [getattr(part, end) for part in parts]
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        lines = [
            f"{count(self.total.n_rows, 'row')} of {self.total.n_of:,} decided differently"
            + _saved(self.total)
        ]
        lines += [
            f"  {line.old} -> {line.new}: {count(line.n_rows, 'row')}{_saved(line)}"
            for line in self.exchanges
        ]
        lines += [
            f"  in {line.group}: {line.n_rows:,} of {count(line.n_of, 'row')}{_saved(line)}"
            for line in self.by_group
        ]
        if self.few_rows:
            names = listed([str(group) for group in self.few_rows])
            lines.append(f"  fewer than {FEW_ROWS} rows, so intervals may be too short: {names}")
        return "\n".join(lines)


def _saved(line: Exchange) -> str:
    texts = []
    for words, part in (("expected to save", line.expected), ("saved", line.realised)):
        if part is not None:
            texts.append(f"{words} {money(part.total)} ({span(part.low, part.high)})")
    return "; " + ", ".join(texts) if texts and line.n_rows else ""


def compare_decisions(
    old: Any,
    new: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    costs: Any = None,
    old_costs: Any = None,
    new_costs: Any = None,
    groups: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
    n_largest: int = 10,
) -> DecisionSwap:
    """Return which rows two models, policies or price lists decide differently, and what it saves.

    Parameters
    ----------
    old, new : fitted classifier, or array-like of shape (n_samples,)
        Models, or decisions made by anything: today's practice, a rule, `decide`.
    X : table of n_samples rows
    y : array-like of shape (n_samples,), default=None
        True labels; with them it is known what the exchange did save.
    costs : None, dict, array-like or Costs, default=None
        What decisions cost, constant, by column or per row. None: the constant costs of the new
        model (or the old one), else every mistake costs 1.
    old_costs, new_costs : default=None
        What models decide by, where that is not what decisions cost: to compare two price lists,
        give one model twice, and one of these.
    groups : array-like of shape (n_samples,), default=None
        Report exchanges for each of these, too.
    clusters : array-like of shape (n_samples,), default=None
        Who each row belongs to, such as a customer: clusters are independent then, and rows of one
        need not be, which intervals allow for.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of what is saved.
    confidence : float, default=0.95
        Coverage of the intervals, which are those of sums over rows like these (Hall 1992).
    n_largest : int, default=10
        How many of the largest differences to explain.

    Returns
    -------
    DecisionSwap
        Expected savings need a model with probabilities: those of the new one, else of the old.
        They are its own estimate, and favour it.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.metrics import compare_decisions
    >>> y, old, new = [0, 1, 1, 0], [0, 0, 1, 0], [0, 1, 1, 1]
    >>> swap = compare_decisions(old, new, np.zeros((4, 1)), y, costs={"fp": 5, "fn": 40})
    >>> [(e.old, e.new, e.n_rows, e.realised.total) for e in swap.exchanges]
    [(0, 1, 2, 35.0)]
    >>> swap.rows.tolist(), swap.realised.tolist()
    ([1, 3], [0.0, 40.0, 0.0, -5.0])
    """
    n_samples = _num_samples(X)
    models = [m for m in (new, old) if hasattr(m, "predict")]
    priced = _bound(costs, models, old, new, X, y, n_samples)
    assert priced.classes is not None
    assert priced.actions is not None
    taken = [
        _decided(who, X, given, priced, n_samples, name)
        for who, given, name in ((old, old_costs, "old"), (new, new_costs, "new"))
    ]
    codes = [encode(priced.actions, d, n) for d, n in zip(taken, ("old", "new"), strict=True)]
    weight = np.ones(n_samples)
    if sample_weight is not None:
        check_weights(sample_weight, n_samples)
        weight = np.asarray(sample_weight, dtype=np.float64)
    expected = realised = None
    speaks = next((m for m in models if hasattr(m, "predict_proba")), None)
    if speaks is not None:
        table = priced.expected(probabilities(speaks, X, priced.classes))
        expected = weight * (take(table, codes[0]) - take(table, codes[1]))
    if y is not None:
        prices = priced.of_labels(np.asarray(y))
        realised = weight * (take(prices, codes[0]) - take(prices, codes[1]))
    rows = np.flatnonzero(codes[0] != codes[1])
    own = None if groups is None else np.asarray(groups)
    if own is not None and own.shape != (n_samples,):
        raise ValueError(f"groups has shape {own.shape}; it must name the group of each row of X")
    who = None if clusters is None else read_groups(clusters, n_samples, "clusters")

    def gather(
        where: NDArray[np.bool_], of: NDArray[np.bool_], old: Any, new: Any, group: Any
    ) -> Exchange:
        # Zeros stand for the rows that do not change: how many do is uncertain, too.
        mine = None if who is None else np.unique(who[of], return_inverse=True)[1]
        sums = [
            None if part is None else sum_interval(np.where(where, part, 0.0)[of], mine, confidence)
            for part in (expected, realised)
        ]
        n_rows, n_of = int(np.sum(where & of)), int(np.sum(of))
        return Exchange(old, new, group, n_rows, n_of, expected=sums[0], realised=sums[1])

    changes, everything = codes[0] != codes[1], np.ones(n_samples, dtype=bool)
    pairs, counts = np.unique(
        np.stack([codes[0][rows], codes[1][rows]], axis=1), axis=0, return_counts=True
    )
    names = priced.actions.tolist()
    exchanges = [
        gather((codes[0] == a) & (codes[1] == b), everything, names[a], names[b], None)
        for a, b in pairs[np.argsort(-counts, kind="stable")].tolist()
    ]
    labels = [] if own is None else np.unique(own).tolist()
    by_group = [gather(changes, own == group, None, None, group) for group in labels]
    by = realised if expected is None else expected
    sizes = np.zeros(len(rows)) if by is None else -np.abs(by[rows])
    largest = rows[np.argsort(sizes, kind="stable")[:n_largest]]
    return DecisionSwap(
        old=taken[0],
        new=taken[1],
        rows=rows,
        expected=expected,
        realised=realised,
        total=gather(changes, everything, None, None, None),
        exchanges=exchanges,
        by_group=by_group,
        few_rows=[line.group for line in by_group if line.n_of < FEW_ROWS],
        largest=largest,
        explanations=_explanations(models, X, largest, priced),
    )


def _bound(
    costs: Any, models: list[Any], old: Any, new: Any, X: Any, y: ArrayLike | None, n: int
) -> Costs:
    """Return the costs to pay by, bound to classes and rows."""
    if costs is None:
        own = [getattr(innermost(model, X)[0], "costs_", None) for model in models]
        costs = next((c for c in own if isinstance(c, Costs)), None)
    known = as_costs(costs, table=X)
    if models:
        classes = np.asarray(models[0].classes_)
        if y is not None:
            classes = np.union1d(classes, check_labels(y, "y"))
        return known.bind(classes, n)
    given = [] if y is None else [check_labels(y, "y")]
    decided = [check_labels(d, name) for d, name in ((old, "old"), (new, "new"))]
    if not given and known.classes is None and not known.is_square:
        raise ValueError("neither models nor labels say which classes there are: give y")
    for part in [*given, *decided]:
        if len(part) != n:
            raise ValueError(f"{len(part)} labels or decisions were given for {n} rows of X")
    return bind_costs(known, *given, *decided)


def _decided(
    who: Any, X: Any, own_costs: Any, costs: Costs, n_samples: int, name: str
) -> NDArray[Any]:
    """Return the decisions of a model, or those given."""
    if hasattr(who, "predict"):
        by = costs if own_costs is None else as_costs(own_costs, costs.classes, n_samples, X)
        return decisions(who, X, by, np.asarray(costs.classes), "auto")
    if own_costs is not None:
        raise ValueError(f"{name} holds decisions, which {name}_costs cannot change: give a model")
    given = check_labels(who, name)
    if len(given) != n_samples:
        raise ValueError(f"{name} holds {len(given)} decisions for {n_samples} rows of X")
    return given


def _explanations(models: list[Any], X: Any, rows: NDArray[np.intp], costs: Costs) -> list[Any]:
    model = next((m for m in models if hasattr(m, "explain")), None)
    if model is None:
        return []
    return [
        model.explain(
            _safe_indexing(X, [i]), costs=costs[[i]] if costs.n_rows is not None else costs
        )
        for i in rows.tolist()
    ]
