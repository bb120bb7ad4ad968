"""`SparkCostBoostClassifier`: the estimator of `pyspark.ml`.

A fit is that of `costboost.CostBoostClassifier` on a table whose rows are with Spark's tasks: this
class finds the columns, starts the tasks, and hands over.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.ml import Estimator

from costboost.clusters.driver import Driver, new_fit
from costboost.clusters.journal import digest_of
from costboost.clusters.worker import Make
from costboost.estimators.adaboost import CostBoostClassifier
from costboost.fitting.spread import PartsTable
from costboost.runtime.machine import ThreadScratch
from costboost.shards.parts import TablePart
from costboost.spark.channel import Listener
from costboost.spark.frame_columns import FrameColumns, RowReader, deal_rows, read_columns
from costboost.spark.job import Address, BarrierJob, HoldRows, choose_n_workers, is_connect
from costboost.spark.model import SparkCostBoostModel
from costboost.spark.parameters import TRAINING, SavedParams, TrainingParams
from costboost.spark.transport import BarrierTransport

__all__ = ["Reach", "open_cluster", "SparkCostBoostClassifier"]


# A DataFrame's rows as a cluster of parts: one barrier job, whose tasks answer the driver.


@dataclass(frozen=True)
class Reach:
    """Address of the driver for tasks, and time limits.

    Attributes
    ----------
    host : str or None
        The address that tasks call; None: what Spark itself uses.
    port : int
        0: any that is free.
    deadline : float
        Seconds.
    """

    host: str | None = None
    port: int = 0
    deadline: float = 600.0


def open_cluster(
    rows: Any,
    reader: Any,
    n_tasks: int,
    reach: Reach,
    make: Make,
    *,
    checkpoint: str | Path | None = None,
    about: Mapping[str, str] | None = None,
) -> Driver:
    """Start a job on the rows, and return who speaks to its parts.

    Parameters
    ----------
    rows : DataFrame
        In `n_tasks` partitions, in order: part i of the table is partition i.
    reader : RowReader
    n_tasks : int
    reach : Reach
    make : callable
        Makes a part of a source.
    checkpoint : path-like, optional
        Where the driver keeps its calls.
    about : mapping of str, optional
        What the checkpoint is about.
    """
    session = rows.sparkSession
    token = secrets.token_bytes(32)
    listener = Listener(_bind_address(session, reach.host), reach.port, token)
    fit = new_fit()

    def launch() -> BarrierJob:
        host = reach.host or _own_address(session)
        task = HoldRows(Address(host, listener.port, token), fit, make, reader)
        return BarrierJob(rows, task)

    transport = BarrierTransport(listener, launch, n_tasks, reach.deadline)
    try:
        return Driver(
            transport,
            [None] * n_tasks,
            deadline=reach.deadline,
            fit=fit,
            checkpoint=checkpoint,
            about=about,
        )
    except BaseException:
        transport.close()
        raise


def _bind_address(session: Any, host: str | None) -> str:
    """Return the address to listen on: that of Spark's driver, or all if `host` is another name."""
    if host is not None or is_connect(session):
        return ""
    conf = session.sparkContext.getConf()
    return str(conf.get("spark.driver.bindAddress") or conf.get("spark.driver.host"))


def _own_address(session: Any) -> str:
    """Return the address by which the cluster knows this machine."""
    if not is_connect(session):
        return str(session.sparkContext.getConf().get("spark.driver.host"))
    server = session.client.host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((server, 9))  # nothing is sent: the system says which address it would use
        return str(probe.getsockname()[0])


class SparkCostBoostClassifier(TrainingParams, SavedParams, Estimator[SparkCostBoostModel]):
    """Boosting that minimises what mistakes cost, trained where a DataFrame's rows are.

    The model is bit for bit that of `costboost.CostBoostClassifier` on the same rows in the same
    order, however many tasks hold them, and whichever of these were lost on the way.

    Parameters
    ----------
    features_col : str, default="features"
        A column of vectors or of arrays. Sparse vectors are made dense.
    feature_cols : list of str, default=None
        Scalar columns in its place: numbers, booleans, and strings as categories; null is missing.
    label_col : str, default="label"
        Numbers, booleans or strings; they need not be indexed.
    weight_col : str, default=None
    costs : None, dict, array-like of shape (K, K) or Costs, default=None
        What each mistake costs, constant or by column, as ``Costs(fp=8, fn="amount")``: any column
        of the DataFrame, also one that is not learnt from.
    row_id_col : str, default=None
        Whole numbers, each of which stands once. Rows are put in their order, so that the model
        does not depend on how Spark read them. Without it the order is that of partitions and of
        rows within them: the same partitions in the same order give the same model, and a
        DataFrame behind a shuffle may not.
    prediction_col : str, default="prediction"
        The decision: a number where labels are numbers, else the label itself.
    probability_col : str, default="probability"
        A vector with one entry for each class; empty: none is made.
    expected_cost_col : str, default=""
        What the decision is expected to cost; empty: none is made.
    num_workers : int, default=None
        Tasks that hold the rows, all of which run at once; None: one for every slot.
    host, port : str and int, default=None and 0
        Where tasks call the driver; by default under the address that Spark has for it, on any
        port that is free.
    deadline : float, default=600.0
        Seconds that a task may take for one answer, and that Spark may do nothing before all tasks
        have started.
    checkpoint : str, default=None
        A file on the driver's disk. If the driver is lost, the same fit goes on from it. It is read
        by `pickle`: give only what you wrote yourself.
    **parameters : dict
        All others of `costboost.CostBoostClassifier`, such as ``n_estimators``, except those that
        need all rows in one process.

    See Also
    --------
    SparkCostBoostModel : what ``fit`` returns.

    Examples
    --------
    >>> from costboost import Costs
    >>> from costboost.spark import SparkCostBoostClassifier
    >>> classifier = SparkCostBoostClassifier(  # doctest: +SKIP
    ...     feature_cols=["hour", "amount"], label_col="fraud", row_id_col="id",
    ...     costs=Costs(fp=8, fn="amount"), random_state=0,
    ... )
    >>> decided = classifier.fit(payments).transform(new_payments)  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        features_col: str = "features",
        feature_cols: list[str] | None = None,
        label_col: str = "label",
        weight_col: str | None = None,
        costs: Any = None,
        row_id_col: str | None = None,
        prediction_col: str = "prediction",
        probability_col: str = "probability",
        expected_cost_col: str = "",
        num_workers: int | None = None,
        host: str | None = None,
        port: int = 0,
        deadline: float = 600.0,
        checkpoint: str | None = None,
        **parameters: Any,
    ) -> None:
        super().__init__()
        given = {
            "features_col": features_col,
            "feature_cols": feature_cols,
            "label_col": label_col,
            "weight_col": weight_col,
            "costs": costs,
            "row_id_col": row_id_col,
            "prediction_col": prediction_col,
            "probability_col": probability_col,
            "expected_cost_col": expected_cost_col,
            "num_workers": num_workers,
            "host": host,
            "port": port,
            "deadline": deadline,
            "checkpoint": checkpoint,
        }
        self._set_those_given({**given, **parameters})

    def _fit(self, dataset: Any) -> SparkCostBoostModel:
        local, columns = self.local_estimator(), self._columns(dataset)
        n_tasks = choose_n_workers(dataset.sparkSession, self.getOrDefault("num_workers"))
        checkpoint = self.getOrDefault("checkpoint")
        rows = deal_rows(columns.select(dataset), columns, n_tasks, checkpoint)
        driver = open_cluster(
            rows,
            RowReader.of(rows, columns),
            n_tasks,
            Reach(*(self.getOrDefault(name) for name in ("host", "port", "deadline"))),
            partial(TablePart, thread_scratch=ThreadScratch()),
            checkpoint=checkpoint,
            about={"parameters": self._digest()},
        )
        with driver:
            table = PartsTable(driver, columns.feature_names)
            local.fit(table, None)  # type: ignore[arg-type]
        return self._copyValues(SparkCostBoostModel(_without_names(local, columns)))

    def _columns(self, dataset: Any) -> FrameColumns:
        return read_columns(
            dataset,
            **self.feature_keywords(),
            costs=self.given_costs(),
            label_col=self.getLabelCol(),
            weight_col=self.getOrDefault("weightCol"),
            row_id_col=self.getOrDefault("row_id_col"),
        )

    def _digest(self) -> str:
        """Return a digest of all that a model depends on but its rows."""
        names = ("featuresCol", "feature_cols", "labelCol", "weightCol", "row_id_col", *TRAINING)
        values = {name: self.getOrDefault(name) for name in names}
        return digest_of([values, repr(self.given_costs())])


def _without_names(local: CostBoostClassifier, columns: FrameColumns) -> CostBoostClassifier:
    """Forget the names of columns of vectors, which have none, as those of an array."""
    if columns.width is not None:
        del local.feature_names_in_
    return local
