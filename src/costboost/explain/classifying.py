"""One decision of a classifier, explained with its prices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.costs import Costs, as_costs
from costboost.explain.changes import Change, by_distance, nearest_changes
from costboost.explain.decision import Explanation
from costboost.explain.mixin import ExplainMixin, of_class, ranked_parts
from costboost.explain.nearest import REFUSED, Seen
from costboost.explain.priced import PricedChanges
from costboost.explain.rows import Encoded
from costboost.explain.turning import Interval, TurningPrice, stays_within, turning_prices
from costboost.inputs.checks import count_threads, plain
from costboost.model import FittedModel
from costboost.typing import Floats


class ExplainDecisionsMixin(ExplainMixin):
    """`explain` for classifiers, which decide by costs or by a published rule."""

    classes_: NDArray[Any]
    costs_: Costs

    def _decides_by_costs(self) -> bool:
        raise NotImplementedError

    def _decision_costs(self, costs: Any, n_samples: int) -> Costs:
        raise NotImplementedError

    def _decide(
        self, model: FittedModel, margins: list[Floats], costs: Any, X: Any
    ) -> NDArray[Any]:
        raise NotImplementedError

    def _refuse_costs(self) -> None:
        raise NotImplementedError

    def explain(self, x: Any, costs: Any = None, *, background: Any = None) -> Explanation:
        """Explain the decision for one row.

        Of two classes everything is said of the positive one where `costs` or else the costs of
        ``fit`` know it, and of the second otherwise; ``output`` is its label.

        Parameters
        ----------
        x : one row: a table of one row, or an array, list or Series of n_features values
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            Prices to decide by, as in ``predict``. Those that are read from columns are read again
            from a changed row; values stay as they are.
        background : table, default=None
            As in `contributions`.

        Returns
        -------
        Explanation
            Probability, expected cost of every action, where the decision would turn, what each
            column added, and the nearest changes that would turn it. Prints as text, and as HTML in
            a notebook.
        """
        by_costs = self._decides_by_costs()
        if costs is not None and not by_costs:
            self._refuse_costs()
        model = self._explained_model()
        row, added, values = self._explained_parts(model, x, background)
        costs = None if costs is None else as_costs(costs)
        prices = _of_one_row(self._decision_costs(costs, row.X)) if by_costs else None
        margins = model.margins(*row, count_threads(self.n_jobs))
        decision, proba = self._answer(model, margins, prices)
        output = self._output_to_explain(decision[0], proba[0], costs)
        one = of_class(added, output)
        expected, interval, turning = self._priced(prices, proba[0], output)
        return Explanation(
            model=type(self).__name__,
            decision=plain(decision[0]),
            probabilities=_named(self.classes_, proba[0]),
            expected_cost=expected,
            stays_within=interval,
            turning_prices=tuple(turning),
            output=output,
            unit=one.unit,
            base=float(one.base[0]),
            total=float(one.total[0]),
            parts=ranked_parts(one, values),
            changes=self._changes(model, row, proba[0], costs, prices),
            prices_stay=costs is not None and costs.n_rows is not None,
        )

    def _answer(
        self, model: FittedModel, margins: list[Floats], prices: Costs | None
    ) -> tuple[NDArray[Any], Floats]:
        # The prices are constant: of a table, only its number of rows is asked for.
        return self._decide(model, margins, prices, margins[0]), model.proba_to_price(margins)

    def _output_of_two(self, costs: Costs | None = None) -> Any:
        """Return the positive class, by prices given or those of fit; the second if none knows."""
        labels = self.classes_.tolist()
        named = [self.costs_.positive if given is None else given.positive
                 for given in (costs, None)]  # fmt: skip
        return next((labels[labels.index(label)] for label in named if label in labels), labels[1])

    def _check_output(self, output: Any) -> Any:
        labels = self.classes_.tolist()
        if output is not None and output not in labels:
            raise ValueError(f"output={output!r} is none of the classes {labels}.")
        return self._output_of_two() if output is None and len(labels) == 2 else output

    def _output_to_explain(self, decision: Any, proba: Floats, costs: Costs | None) -> Any:
        """Return the class whose value is explained: the one decided for, or the most probable.

        Two classes have one value, that of the positive one.
        """
        labels = self.classes_.tolist()
        if len(labels) == 2:
            return self._output_of_two(costs)
        return plain(decision) if plain(decision) in labels else labels[int(np.argmax(proba))]

    def _priced(
        self, prices: Costs | None, proba: Floats, output: Any
    ) -> tuple[dict[Any, float], Interval | None, list[TurningPrice]]:
        if prices is None:
            return {}, None, []
        labels = self.classes_.tolist()
        actions = labels if prices.is_square or prices.actions is None else prices.actions.tolist()
        C = prices.expected(np.eye(len(labels)))
        chosen = int(prices.decide(proba[None, :], encoded=True)[0])
        way = -1 if output == labels[0] else 1  # the interval is about the class that comes last
        two = len(labels) == 2
        interval = stays_within(C[::way], chosen, labels[::way], actions) if two else None
        turning = turning_prices(C, proba, chosen, labels, actions)
        expected = prices.expected(proba[None, :])[0]
        return dict(zip(actions, map(float, expected), strict=True)), interval, turning

    def _changes(
        self, model: FittedModel, row: Encoded, proba: Floats, costs: Costs | None, prices: Any
    ) -> tuple[Change, ...] | None:
        """Return the changes that turn the decision; None where they cannot be looked for."""
        if any(member.init is not None for member in model.members):
            return None  # the other model sees values, not bins
        names, n_threads = self._names(), count_threads(self.n_jobs)
        given = self.costs_ if costs is None else costs
        read: list[int] = []
        if prices is not None and given.needs_table:
            all_named = given.names_every_column
            read = [j for j, n in enumerate(names) if not all_named or n in given.column_names]

        def answer(margins: list[Floats]) -> tuple[NDArray[Any], Floats]:
            return self._answer(model, margins, prices)

        found = nearest_changes(model, row, names, answer, n_threads, priced=read)
        if read:
            bound = given.bind(self.classes_)
            priced = PricedChanges(
                model,
                row,
                names,
                model.proba_to_price,
                lambda table, chances: _ask(bound, table, chances),
                chosen=int(prices.decide(proba[None, :], encoded=True)[0]),
                actions=prices.actions,
                n_threads=n_threads,
            )
            found += priced.of(read)
        return tuple(by_distance(found))


def _ask(costs: Costs, X: Any, proba: Floats) -> Seen:
    """Return what is decided about rows by costs that are read from them.

    Rows whose prices are refused are told from the others by halves.
    """
    n = len(proba)
    try:
        with np.errstate(all="ignore"):  # what is not finite is refused
            prices = costs[np.zeros(n, dtype=np.intp)].bind_table(X)
            return Seen(prices.decide(proba, encoded=True), prices.expected(proba))
    except (ValueError, ArithmeticError):
        if n == 1:
            n_actions = 1 if costs.actions is None else len(costs.actions)
            return Seen(np.array([REFUSED]), np.full((1, n_actions), np.nan))
    halves = (slice(0, n // 2), slice(n // 2, n))
    parts = [_ask(costs, _rows(X, half), proba[half]) for half in halves]
    return Seen(*(np.concatenate(both) for both in zip(*parts, strict=True)))


def _of_one_row(costs: Costs) -> Costs:
    """Return the costs of one row as constants."""
    return costs.mean() if costs.per_row else costs


def _rows(X: Any, rows: slice) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _named(labels: NDArray[Any], values: Floats) -> dict[Any, float]:
    return dict(zip(labels.tolist(), map(float, values), strict=True))
