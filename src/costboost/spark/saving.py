"""Stages in folders: Params as Spark keeps them, models and costs in this library's own file.

    metadata/            class, uid and Params, as JSON (Spark's)
    model.costboost      the fitted model; `costboost.load` reads it too
    costs.costboost      prices that JSON cannot hold, as an estimator that was not fitted

The folder may be on any file system that Spark writes to. Loading runs no code from it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from pyspark.ml.util import (
    DefaultParamsReader,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)

from costboost.estimators.adaboost import CostBoostClassifier
from costboost.persistence import load, save
from costboost.spark.slots import is_connect

__all__ = ["SavedModel", "SavedParams"]

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
        """Take back what was kept."""


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
