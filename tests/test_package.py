"""The package itself: public names and versions."""

import subprocess
import sys

import costboost
from costboost.runtime import compiled


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


def test_show_versions_names_every_kernel(capsys):
    costboost.show_versions()
    printed = capsys.readouterr().out
    for name in compiled.KERNELS:
        assert name.rpartition(".")[2] in printed
    assert "scikit-learn" in printed
