"""The package is imported, and its table named, without pyarrow."""

import subprocess
import sys


def test_without_pyarrow_the_extra_is_named():
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import costboost\n"
        "try:\n    costboost.ParquetTable('rows.parquet')\n"
        "except ImportError as error:\n    print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "ParquetTable needs pyarrow: pip install 'costboost[parquet]'\n"
