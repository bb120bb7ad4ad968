"""A table whose rows are elsewhere: in files, or with the workers of a cluster.

    PartsTable  --orders-->  cluster  -->  Part, Part, Part, ...

To an estimator it is a table that knows labels and weights itself: `fit(table, None)`. Before the
rounds the driver asks for some numbers a row (labels, weights, prices, hashes), so that folds are
cut by the very code that cuts those of a table in memory; in the rounds it gets sums only, and
holds nothing that is as long as the rows unless models are trained on some of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import Binner
from costboost.binning.partitioned import PartTargets, fit_partitioned_target_binner
from costboost.binning.target_codes import OwnCodes, TargetRows
from costboost.costs import Costs
from costboost.fitting.tables import Followed, read_spread_copies
from costboost.inputs.arrays import missing_in
from costboost.inputs.checks import check_labels, plain_labels, read_numeric_targets
from costboost.runtime.messages import Call
from costboost.shards.layout import Folds, Loader, RowData
from costboost.shards.parts import (
    Chosen,
    PartFacts,
    advance_margins,
    apply_to_codes,
    bind_part_costs,
    bind_part_labels,
    close_shard,
    encode_part,
    fetch_codes,
    fetch_facts,
    fetch_labels_and_weights,
    fetch_row_data,
    follow_rows,
    forward_to_shard,
    open_shard,
    unfollow_rows,
)
from costboost.trees.forest import Forest
from costboost.typing import Codes, Floats, Int64

__all__ = ["Cluster", "PartsTable"]

Orders = Sequence[Call[Any] | Sequence[Call[Any]]]


class Cluster(Protocol):
    """Carries messages to parts."""

    @property
    def n_parts(self) -> int:
        """How many parts there are."""

    def send(self, orders: Orders) -> list[Any]:
        """Send messages to all parts, or one of each list to each part; return reduced answers."""


@dataclass(frozen=True)
class _Selection:
    """Some rows of the table, by part.

    Attributes
    ----------
    chosen : list of places in each part; None: all of its rows
    ranks : list of numbers among the selected rows, of each part; or that of its first row
    order : int64 array or None
        Where row i of the parts' answers, put together, belongs; None: at i.
    """

    chosen: list[Chosen]
    ranks: list[NDArray[np.uint32] | int]
    order: Int64 | None

    def arranged(self, answers: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Concatenate the parts' answers, in the order of the selection."""
        joined = np.concatenate(answers)
        if self.order is None:
            return joined
        out = np.empty_like(joined)
        out[self.order] = joined
        return out


class PartsTable:
    """A table in parts, as trainers see it.

    Parameters
    ----------
    cluster : Cluster
    names : sequence of str
        Of the columns.
    targets : bool
        Whether y holds numbers to predict, not classes.

    Attributes
    ----------
    shape : (int, int)
    columns : list of str
    """

    is_spread = True

    def __init__(self, cluster: Cluster, names: Sequence[str], *, targets: bool = False) -> None:
        self.cluster, self.columns, self.targets = cluster, list(names), targets
        self.binner: Binner | None = None
        self._encoded = False
        self._folds: NDArray[np.uint8] | None = None  # of the rows, until they are encoded
        self._n_folds = 0
        # Until rows are encoded: what training rows have in columns coded by their target.
        self._own_codes: dict[int, Codes] = {}
        self._buckets: list[NDArray[np.uint8]] = []
        self._keys = count()
        self._facts: list[PartFacts] = cluster.send([fetch_facts(targets=targets)])[0]
        sizes = [facts.n_rows for facts in self._facts]
        self._bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        if not self.n_rows:
            raise ValueError("The table has no rows: at least one is needed.")

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self._bounds[-1])

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self.n_rows, len(self.columns)

    def __len__(self) -> int:
        return self.n_rows

    # --- labels, weights and prices of the rows

    def _tell_rows(self) -> list[tuple[NDArray[Any], Floats | None]]:
        found: list[tuple[NDArray[Any], Floats | None]] = self.cluster.send(
            [fetch_labels_and_weights()]
        )[0]
        return found

    def labels(self) -> NDArray[Any]:
        """Return the labels, or targets, of all rows."""
        return np.concatenate([y for y, _ in self._tell_rows() if len(y)])

    def weights(self) -> Floats | None:
        """Return the weights of all rows, if they have any."""
        if not any(facts.weighted for facts in self._facts):
            return None
        return _joined([RowData(y, weights) for y, weights in self._tell_rows() if len(y)])

    def read_classes(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the classes and every row's class number; let every part know the classes."""
        labels = np.concatenate([facts.labels for facts in self._facts if facts.n_rows])
        if missing_in(labels).any():
            plain_labels(self.labels())  # which raises, and names the row among all rows
        classes, _ = check_labels(labels, labels)
        self.cluster.send([bind_part_labels(classes=classes)])
        return classes, self.row_data().y

    def read_targets(self) -> tuple[Floats, Floats | None]:
        """Return the targets of all rows and their weights; let every part know what they are."""
        targets, weights = read_numeric_targets(self, self.labels()), self.weights()
        self.cluster.send([bind_part_labels(classes=None)])
        return targets, weights

    def row_data(self) -> RowData:
        """Return labels and weights of all rows, and their costs where each has its own."""
        replies: list[RowData] = self.cluster.send([fetch_row_data()])[0]
        found = [part for part in replies if len(part.y)]
        y = np.concatenate([part.y for part in found])
        priced = [part.costs for part in found if part.costs is not None]
        return RowData(y, _joined(found), Costs.concat(priced) if priced else None)

    def bind_costs(self, costs: Costs, classes: NDArray[Any]) -> Costs:
        """Let parts read prices from their columns; return those of all rows."""
        bound = costs.bind(classes)
        if not bound.needs_table:
            return bound
        (found,) = self.cluster.send([bind_part_costs(costs=costs, classes=classes)])
        sizes = [facts.n_rows for facts in self._facts]
        parts = [part for part, size in zip(found, sizes, strict=True) if size]
        return Costs.concat(parts)

    # --- bins and codes

    def fit_binner(
        self,
        weights: Floats | None,
        max_bins: int,
        categorical: Any,
        target: Callable[[], TargetRows] | None = None,
    ) -> None:
        """Learn how to bin the columns: exactly as if all rows were in one place."""

        def part_targets() -> PartTargets:
            assert target is not None
            rows = target()
            self._buckets = self._by_part(rows.buckets)
            n_rows = self.n_rows if weights is None else int(np.count_nonzero(weights > 0.0))
            return PartTargets(rows.n_classes, n_rows, self._buckets, rows.edges)

        self.binner, self._own_codes = fit_partitioned_target_binner(
            self.cluster.send,
            None if target is None else part_targets,
            max_bins=max_bins,
            categorical_features=categorical,
            **self._binning_options(),
        )

    def _binning_options(self) -> dict[str, Any]:
        """Return what a table says of how its columns are binned."""
        return {}

    def _by_part(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        return [values[a:b] for a, b in pairwise(self._bounds.tolist())]

    def _encode(self) -> None:
        if not self._encoded:
            assert self.binner is not None
            self.cluster.send([self._encoders()])
            self._encoded = True

    def _encoders(self) -> Call[Any] | Sequence[Call[Any]]:
        """Return the encoding message of each part, with the folds of its own rows."""
        assert self.binner is not None
        if self._folds is None and not self._own_codes:
            return encode_part(binner=self.binner)
        n_parts = len(self._facts)
        folds: list[Any] = [None] * n_parts
        own: list[Any] = [None] * n_parts
        if self._folds is not None:
            folds = [(part, self._n_folds) for part in self._by_part(self._folds)]
        if self._own_codes:
            own = [OwnCodes(self._own_codes, buckets) for buckets in self._buckets]
        self._folds, self._own_codes, self._buckets = None, {}, []
        return [
            encode_part(binner=self.binner, folds=part, own=codes)
            for part, codes in zip(folds, own, strict=True)
        ]

    def _select(self, rows: Int64 | None) -> _Selection:
        starts = self._bounds[:-1]
        if rows is None:
            return _Selection([None] * len(starts), starts.tolist(), None)
        sorted_ = bool(np.all(rows[1:] > rows[:-1]))
        order = None if sorted_ else np.argsort(rows, kind="stable")
        ordered = rows if order is None else rows[order]
        cuts = np.searchsorted(ordered, self._bounds)
        chosen: list[Chosen] = []
        ranks: list[NDArray[np.uint32] | int] = []
        for part, (begin, end) in enumerate(pairwise(cuts.tolist())):
            own = (ordered[begin:end] - starts[part]).astype(np.uint32)
            chosen.append(None if len(own) == self._facts[part].n_rows else own)
            ranks.append(begin if order is None else order[begin:end].astype(np.uint32))
        return _Selection(chosen, ranks, order)

    # --- models

    def open(self, loader: Loader, rows: Int64 | None = None, width: int = 1) -> _PartsShards:
        """Return the shards of a model that trains on all rows, or on some."""
        self._encode()
        key, blank, selection = next(self._keys), loader.blank(), self._select(rows)
        orders = [
            open_shard(key=key, chosen=chosen, ranks=ranks, loader=blank)
            for chosen, ranks in zip(selection.chosen, selection.ranks, strict=True)
        ]
        self.cluster.send([orders])
        n_rows = self.n_rows if rows is None else len(rows)
        return _PartsShards(self.cluster, key, n_rows, len(self.columns))

    def codes_of(self, rows: Any) -> Codes:
        """Return the codes of some rows: of those held out, which are few."""
        self._encode()
        selection = self._select(np.arange(self.n_rows)[rows])
        (found,) = self.cluster.send([[fetch_codes(chosen=chosen) for chosen in selection.chosen]])
        return selection.arranged(found)

    def apply(self, function: Callable[[Codes], Floats], rows: Int64) -> Floats:
        """Apply a picklable function to the codes of some rows."""
        self._encode()
        selection = self._select(rows)
        (found,) = self.cluster.send(
            [[apply_to_codes(chosen=chosen, function=function) for chosen in selection.chosen]]
        )
        return selection.arranged(found)

    def follow(self, rows: Int64, start: Floats) -> Followed:
        """Follow some rows from margins (J,) on."""
        self._encode()
        selection, key = self._select(rows), next(self._keys)
        self.cluster.send(
            [[follow_rows(key=key, chosen=chosen, start=start) for chosen in selection.chosen]]
        )
        return _PartsFollowed(self.cluster, key, selection)

    def copies(self, weights: Floats | None) -> Int64 | None:
        """Return the number of each row's set of equal rows; None where no row has any."""
        return read_spread_copies(self.cluster.send, len(self.columns), weights)

    def arrange(
        self,
        folds: Folds,
        labels: NDArray[np.integer[Any]] | None = None,
        n_classes: int = 1,
    ) -> bool:
        """Know in advance which rows models will train on: they then share one copy of codes.

        Parts group rows by their classes; models that group them by other labels have copies.
        """
        if self._encoded:
            return False
        self._folds, self._n_folds = folds.numbers, folds.n_folds
        return self._folds is not None

    def table_of(self, rows: Any) -> Any:
        """Refuse: nobody has the table as a whole."""
        raise ValueError(
            "The rows of this table are in files or on a cluster, and nobody holds the whole: "
            "outside learners (estimator=, init=) need it in memory. Use the built-in trees."
        )

    def release_memory(self) -> None:
        """Nothing is held here."""

    def close(self) -> None:
        """Nothing is held here."""


def _joined(parts: Sequence[RowData]) -> Floats | None:
    """Return the weights of all rows, if any have some."""
    if all(part.weights is None for part in parts):
        return None
    return np.concatenate([np.ones(len(p.y)) if p.weights is None else p.weights for p in parts])


class _PartsShards:
    """The shards of one model, wherever they are."""

    is_single_shard = False
    is_remote = True

    def __init__(self, cluster: Cluster, key: int, n_rows: int, n_features: int) -> None:
        self.cluster, self.key = cluster, key
        self.n_rows, self.n_features = n_rows, n_features

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.cluster.send([close_shard(key=self.key)])

    def call(self, messages: Sequence[Call[Any]], n_rows: int | None = None) -> list[Any]:
        """Send messages to every shard, one after the other; return the reduced answers."""
        found: list[Any] = self.cluster.send(
            [forward_to_shard(key=self.key, calls=tuple(messages))]
        )[0]
        return found

    def fetch(self, read: Any) -> Any:
        """Refuse what needs all rows at once."""
        raise ValueError(
            "This loss, or this step, needs the numbers of all rows at once, which are in files or "
            "on a cluster. Use a built-in loss and step='newton', or a table in memory."
        )

    put = fetch


class _PartsFollowed:
    """Rows elsewhere whose margins grow with a model."""

    def __init__(self, cluster: Cluster, key: int, selection: _Selection) -> None:
        self.cluster, self.key, self.selection = cluster, key, selection

    def add(self, forest: Forest) -> Floats:
        """Add all trees of a forest; return the margins, (n, J)."""
        return self.selection.arranged(
            self.cluster.send([advance_margins(key=self.key, forest=forest)])[0]
        )

    def close(self) -> None:
        """Let the margins go."""
        self.cluster.send([unfollow_rows(key=self.key)])
