"""The package itself: its public names."""

import subprocess
import sys

import costboost


def test_every_public_name_is_there():
    for name in costboost.__all__:
        assert getattr(costboost, name) is not None


def test_names_are_imported_when_they_are_used():
    code = (
        "import sys, costboost; assert not {'sklearn', 'numpy'} & set(sys.modules); "
        "assert set(costboost.__all__) <= set(dir(costboost)); "
        "assert costboost.Costs is costboost.costs.Costs; assert 'sklearn' in sys.modules; "
        "assert not hasattr(costboost, 'nothing')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
