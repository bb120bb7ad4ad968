"""The Params of all stages: columns as Spark names them, the rest as we do.

Whatever `CostBoostClassifier` takes is a Param here, under the same name and with the same default,
except what needs all rows in one process (`REFUSED`).
"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasFeaturesCol,
    HasLabelCol,
    HasPredictionCol,
    HasProbabilityCol,
    HasWeightCol,
)
from pyspark.ml.util import (
    DefaultParamsReader,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)

from costboost.costs import Costs, as_costs
from costboost.estimators.adaboost import CostBoostClassifier
from costboost.persistence import load, save
from costboost.spark.job import is_connect

__all__ = [
    "arrow_function",
    "CAMEL",
    "REFUSED",
    "TRAINING",
    "ColumnParams",
    "CostParams",
    "TrainingParams",
    "SavedModel",
    "SavedParams",
]


# Functions of columns that take and return Arrow.


def arrow_function(answer: Callable[..., Any], kind: str) -> Any:
    """Return a function of columns; `kind` is the type of its answers, in Spark's words."""
    import pyarrow as pa
    from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]

    def answered(*arrays: Any) -> Any:
        return answer(*arrays)

    # From these Spark learns that arrays of Arrow are wanted.
    answered.__annotations__ = {"arrays": pa.Array, "return": pa.Array}
    return arrow_udf(answered, kind)


CAMEL = {
    "features_col": "featuresCol",
    "label_col": "labelCol",
    "weight_col": "weightCol",
    "prediction_col": "predictionCol",
    "probability_col": "probabilityCol",
}

REFUSED = {
    "estimator": "an outside learner needs all rows in one process: train locally, or use the "
    "built-in trees",
    "beta": "a function cannot be kept among the Params of a stage: train locally",
    "warm_start": "a stage of a pipeline is fitted anew: raise n_estimators and fit again, or "
    "give checkpoint= a file to go on from after a crash",
    "on_interrupt": "Ctrl-C ends the job of a fit: give checkpoint= a file, and go on from it",
    "n_jobs": "every task uses one thread: give num_workers= more tasks",
}

_DEFAULTS: dict[str, Any] = {
    name: parameter.default
    for name, parameter in inspect.signature(CostBoostClassifier.__init__).parameters.items()
    if name not in ("self", "costs", *REFUSED)
}
TRAINING = tuple(_DEFAULTS)


def _plain(value: Any) -> Any:
    """Turn numbers and arrays of numpy into Python's, which JSON can hold."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))


def _to_costs(value: Any) -> Any:
    as_costs(value)  # says what is wrong
    return value


def _param(name: str, doc: str, converter: Any = TypeConverters.identity) -> Param[Any]:
    return Param(Params._dummy(), name, doc, converter)


class CostParams(Params):
    """Prices, and Params by the names that constructors have."""

    costs = _param("costs", "what mistakes cost: constant, or by column", _to_costs)

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(costs=None)

    def setParams(self, **given: Any) -> Any:  # noqa: N802  # as all stages of Spark have it
        """Set Params by the names that the constructor has.

        Parameters
        ----------
        **given : dict
            As in the constructor.
        """
        for name in given:
            if name in REFUSED:
                raise ValueError(f"{name}= is not offered on Spark: {REFUSED[name]}.")
            if not self.hasParam(CAMEL.get(name, name)):
                snake = {camel: name for name, camel in CAMEL.items()}
                allowed = sorted(snake.get(param.name, param.name) for param in self.params)
                raise TypeError(f"{name}= is not known: there are {', '.join(allowed)}.")
        return self._set(**{CAMEL.get(name, name): value for name, value in given.items()})

    def _set_those_given(self, given: dict[str, Any]) -> None:
        """Set what differs from the defaults, which stay defaults: Spark distinguishes the two."""
        for name, value in given.items():
            param = CAMEL.get(name, name)
            if not self.hasParam(param) or not _same(value, self.getOrDefault(param)):
                self.setParams(**{name: value})

    def given_costs(self) -> Costs:
        """Return the prices; every mistake costs 1 if none were given."""
        return as_costs(self.getOrDefault("costs"))


class ColumnParams(CostParams, HasFeaturesCol, HasLabelCol, HasPredictionCol, HasProbabilityCol):
    """Columns that are read and made: what the estimator and its model share."""

    feature_cols = _param(
        "feature_cols", "scalar columns to learn from, in place of one of vectors", _plain
    )
    expected_cost_col = _param(
        "expected_cost_col", "what the decision is expected to cost; empty: no such column"
    )

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(feature_cols=None, expected_cost_col="")

    def feature_keywords(self) -> dict[str, Any]:
        """Return where features are, as `read_columns` takes it."""
        several = self.getOrDefault("feature_cols")
        if several is not None and self.isSet("featuresCol"):
            raise ValueError(
                f"features_col={self.getFeaturesCol()!r} and feature_cols={several!r} were both "
                "given: name one column of vectors, or several of scalars."
            )
        return {"features_col": self.getFeaturesCol(), "feature_cols": several}


class TrainingParams(ColumnParams, HasWeightCol):
    """Params of training, beside the columns."""

    row_id_col = _param("row_id_col", "whole numbers that rows are put in order by")
    num_workers = _param("num_workers", "tasks that hold the rows; None: one for every slot")
    host = _param("host", "the driver's address for its tasks; None: as Spark has it")
    port = _param("port", "the driver's port for its tasks; 0: any")
    deadline = _param("deadline", "seconds that a task may take for one answer")
    checkpoint = _param("checkpoint", "a file of the driver, from which a fit can go on")

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(row_id_col=None, num_workers=None, host=None, port=0, deadline=600.0)
        self._setDefault(checkpoint=None, weightCol=None, **_DEFAULTS)

    def local_estimator(self) -> CostBoostClassifier:
        """Return the estimator that would be fitted to a table in memory."""
        values = {name: self.getOrDefault(name) for name in TRAINING}
        _refuse_objects(values)
        return CostBoostClassifier(costs=self.getOrDefault("costs"), **values)


for _name in TRAINING:
    setattr(TrainingParams, _name, _param(_name, "as in costboost.CostBoostClassifier", _plain))


def _refuse_objects(values: dict[str, Any]) -> None:
    """Refuse functions and objects among the parameters: they do not travel, nor are they kept."""
    named = {
        "early_stopping_metric": "one of the built-in metrics by its name",
        "objective": "one of the built-in objectives by its name",
        "cv": "a number of folds or a share of rows",
        "random_state": "a whole number or None",
    }
    for name, allowed in named.items():
        value = values[name]
        if value is not None and not isinstance(value, (str, int, float)):
            raise ValueError(
                f"{name}={value!r} cannot be used on Spark: give {allowed}, or train locally."
            )


# Stages in folders: Params as Spark keeps them, models and costs in this library's own file.

_MODEL, _COSTS = "model.costboost", "costs.costboost"


class SavedParams(MLReadable[Any], MLWritable):
    """Params in a folder."""

    def write(self) -> StageWriter:
        """Return a writer; `save` is a shortcut."""
        return StageWriter(self)

    @classmethod
    def read(cls) -> StageReader:
        """Return a reader; `load` is a shortcut."""
        return StageReader(cls)

    def _files(self) -> dict[str, Any]:
        """Return estimators to keep beside the Params, by the names of files."""
        costs = self.getOrDefault("costs")  # type: ignore[attr-defined]
        return {} if costs is None else {_COSTS: CostBoostClassifier(costs=costs)}

    def _take(self, files: dict[str, Any]) -> None:
        """Restore the estimators that `_files` kept."""


class SavedModel(SavedParams):
    """Params and a fitted model in a folder."""

    _local: Any

    def _files(self) -> dict[str, Any]:
        return {**super()._files(), _MODEL: self.to_local()}  # type: ignore[attr-defined]

    def _take(self, files: dict[str, Any]) -> None:
        self._local = files[_MODEL]


class StageWriter(MLWriter):
    """Writes a stage to a folder."""

    def __init__(self, stage: Any) -> None:
        super().__init__()
        self.stage = stage

    def saveImpl(self, path: str) -> None:  # noqa: N802  # Spark's name
        """Write the Params and the files beside them."""
        files = self.stage._files()
        params = {
            param.name: value
            for param, value in self.stage._paramMap.items()
            if param.name != "costs"
        }
        about = {"costboost": sorted(files)}
        DefaultParamsWriter.saveMetadata(self.stage, path, self.sparkSession, about, params)
        with tempfile.TemporaryDirectory() as folder:
            for name, estimator in files.items():
                local = Path(folder, name)
                save(estimator, local)
                _send(self.sparkSession, local, f"{path}/{name}")


class StageReader(MLReader[Any]):
    """Reads a stage from a folder."""

    def __init__(self, kind: type) -> None:
        super().__init__()
        self.kind = kind

    def load(self, path: str) -> Any:
        """Read a stage of the class that was asked for."""
        session = self.sparkSession
        name = f"{self.kind.__module__}.{self.kind.__qualname__}"
        metadata = DefaultParamsReader.loadMetadata(path, session)
        if metadata["class"] != name:
            raise ValueError(f"{path} holds a {metadata['class']}, not a {name}.")
        stage = self.kind()
        stage._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(stage, metadata)
        files = {file: _fetch(session, f"{path}/{file}") for file in metadata["costboost"]}
        if _COSTS in files:
            stage._set(costs=files[_COSTS].costs)
        stage._take(files)
        return stage


def _send(session: Any, local: Path, target: str) -> None:
    """Copy a file to whatever file system the target is on."""
    if is_connect(session):
        session.copyFromLocalToFs(str(local), target)
        return
    jvm = session._jvm
    path = jvm.org.apache.hadoop.fs.Path(target)
    system = path.getFileSystem(session._jsc.hadoopConfiguration())
    system.copyFromLocalFile(jvm.org.apache.hadoop.fs.Path(local.as_uri()), path)


def _fetch(session: Any, path: str) -> Any:
    """Read an estimator from a file on whatever file system it is on."""
    row = session.read.format("binaryFile").load(path).select("content").first()
    with tempfile.TemporaryDirectory() as folder:
        local = Path(folder, "fetched.costboost")
        local.write_bytes(row[0])
        return load(local)
