"""Without an extra everything imports, and what needs one says which."""

import subprocess
import sys

import pytest

from costboost.runtime.machine import EXTRA_OF

# What is typed, and the package whose extra it needs.
NEEDING = {
    "import costboost.dask": "dask",
    "import costboost.spark": "pyspark",
    "import costboost\ncostboost.ParquetTable('rows.parquet')": "pyarrow",
    "from costboost import Costs\nCosts(fp=1, fn=2).to_frame()": "pandas",
    "from costboost.persistence.mlflow import save_model\nsave_model(None, 'model')": "mlflow",
    "from costboost.persistence.mlflow import log_model\nlog_model(None, 'model')": "mlflow",
    "from costboost.persistence.mlflow import ServedModel\nServedModel(None).predict([])": "pandas",
    "from costboost.plots import SavingsCurveDisplay\n"
    "SavingsCurveDisplay.from_predictions([0, 1], [0.1, 0.9], costs={'fn': 1})": "matplotlib",
    "from costboost.datasets import make_card_fraud\n"
    "make_card_fraud(100, as_frame='pandas')": "pandas",
    "from costboost.datasets import make_card_fraud\n"
    "make_card_fraud(100, as_frame='polars')": "polars",
    "from costboost import GradientBoostClassifier\nfrom costboost.deploy import to_onnx\n"
    "model = GradientBoostClassifier(n_estimators=2).fit([[0], [1]] * 50, [0, 1] * 50)\n"
    "to_onnx(model)": "onnx",
    "from costboost import GradientBoostClassifier\n"
    "model = GradientBoostClassifier(n_estimators=2).fit([[0], [1]] * 50, [0, 1] * 50)\n"
    "model.set_output(transform='pandas')\n"
    "model.expected_cost([[0]], costs={'fp': 1, 'fn': 1})": "pandas",
}


def run_bare(code, gone):
    """Run code where packages are missing."""
    head = f"import sys\nsys.modules.update(dict.fromkeys({list(gone)!r}))\n"
    run = [sys.executable, "-c", head + code]
    return subprocess.run(run, capture_output=True, text=True, check=False)


def test_every_public_name_is_there_without_any_extra():
    code = (
        "from costboost import *\nimport costboost\n"
        "assert set(costboost.__all__) <= set(globals())\n"
        "for name in costboost._PACKAGES:\n    getattr(costboost, name)\n"
    )
    run = run_bare(code, [*EXTRA_OF, "typer", "rich", "skops", "onnxruntime"])
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("code", NEEDING)
def test_the_last_line_of_the_error_names_the_extra(code):
    package = NEEDING[code]
    run = run_bare(code, [package])
    last = run.stderr.splitlines()[-1]
    assert last.startswith("ImportError: ")
    assert last.endswith(f" needs {package}: pip install 'costboost[{EXTRA_OF[package]}]'")
