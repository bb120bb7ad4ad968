"""Without an extra, the error of an import says which one is missing."""

import subprocess
import sys

import pytest

EXTRAS = {
    "costboost.dask": ("distributed", "costboost[dask]"),
    "costboost.spark": ("pyspark", "costboost[spark]"),
    "costboost.files": ("pyarrow", "costboost[parquet]"),
}


@pytest.mark.parametrize("module", EXTRAS)
def test_the_extra_is_named(module):
    absent, extra = EXTRAS[module]
    code = (
        f"import sys; sys.modules[{absent!r}] = None\n"
        f"try:\n    import {module}\n"
        "except ImportError as error:\n    print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert extra in run.stdout
