"""MLflow for the tests of its own files and of ours."""

import pytest


@pytest.fixture
def mlflow(tmp_path, monkeypatch):
    """MLflow, writing to a folder of the test's own and to nobody else."""
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("DO_NOT_TRACK", "true")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    module = pytest.importorskip("mlflow")
    pytest.importorskip("mlflow.sklearn")
    module.set_tracking_uri((tmp_path / "runs").as_uri())
    return module
