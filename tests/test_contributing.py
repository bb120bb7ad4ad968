"""What CONTRIBUTING.md shows works as it stands: the walk, a new rule, a new loss."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import check_grad

import costboost
from costboost import CostBoostClassifier, GradientBoostClassifier, GradientBoostRegressor
from costboost.deploy.exported import export
from costboost.extend import (
    CLASSIFICATION_LOSSES,
    REGRESSION_LOSSES,
    RULES,
    BuiltIn,
    LogLoss,
    SquaredLoss,
    register_loss,
)
from costboost.fitting.plan import refuse_if_remote
from costboost.model import Logistic
from costboost.persistence import ModelFileError

PAGE = Path(costboost.__file__).parents[2] / "CONTRIBUTING.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the package is installed without pages")


def code(heading):
    """Return the code under a heading."""
    part = PAGE.read_text(encoding="utf-8").split(heading)[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", part, flags=re.S)[0]


def run(heading):
    """Run the code under a heading; return its names."""
    names = {"__name__": "contributed"}
    exec(code(heading), names)
    return names


# A file, and the functions of it that are named right after it.
NAMED = re.compile(r"`([\w/]+\.py)`((?:(?:,|\s+and)\s+`\w+`)*)")


def walk():
    """Return the text of the walk."""
    page = PAGE.read_text(encoding="utf-8")
    return page.split("A **fit** and")[1].split("What is always so")[0]


def stops():
    """Return for every stop of the walk the (file, function) that it names."""
    found = []
    for text in re.split(r"^\d+\. ", walk(), flags=re.M)[1:]:
        named = [(file, re.findall(r"\w+(?=`)", names)) for file, names in NAMED.findall(text)]
        found.append([(file, name) for file, names in named for name in names])
    return found


def calls(run):
    """Return the order in which `run` first calls each (file, function) of the package."""
    home, order = Path(costboost.__file__).parent, {}

    def note(frame, event, _):
        place = Path(frame.f_code.co_filename)
        if event == "call" and place.is_relative_to(home):
            key = (place.relative_to(home).as_posix(), frame.f_code.co_name)
            order.setdefault(key, len(order))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return order


def test_a_fit_and_a_predict_walk_as_they_are_told(table):
    X, y = table
    model = CostBoostClassifier("cgada", 2, n_jobs=1, random_state=0)
    order = calls(lambda: model.fit(X, y, costs={"fp": 1, "fn": 5}).predict(X))
    told = stops()
    assert len(told) <= 12
    assert all(told)
    pairs = [pair for stop in told for pair in stop]
    assert [pair for pair in pairs if pair not in order] == []
    assert pairs == sorted(pairs, key=order.get)


def test_files_of_the_walk_exist():
    for file, _ in NAMED.findall(walk()):
        assert (Path(costboost.__file__).parent / file).exists(), file


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    return X, (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=400) > 0.5).astype(int)


def test_a_new_rule(table, monkeypatch):
    monkeypatch.setitem(RULES, "adac2-root", None)
    run("## Add a boosting rule")
    X, y = table
    costs = {"fp": 1, "fn": 9}
    root = CostBoostClassifier("adac2-root", 5, calibration=None).fit(X, y, costs=costs)
    plain = CostBoostClassifier("adac2", 5, calibration=None).fit(X, y, costs={"fp": 1, "fn": 3})
    np.testing.assert_allclose(root.decision_function(X), plain.decision_function(X))


def test_a_new_loss(table, monkeypatch):
    monkeypatch.setitem(CLASSIFICATION_LOSSES, "focal", None)
    loss = run("## Add a loss")["FocalLoss"]()
    X, y = table
    for raw in np.linspace(-4, 4, 9):
        for label in (0, 1):
            given = np.array([label])
            error = check_grad(
                lambda f, given=given: loss.value(given, f)[0],
                lambda f, given=given: loss.gradient(given, f),
                [raw],
            )
            assert error < 1e-6
    model = GradientBoostClassifier("focal", 30, random_state=0).fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.85
    # Asked where the rows are, or for all rows at once: the same numbers.
    own = GradientBoostClassifier(loss.__class__(), 30, random_state=0).fit(X, y)
    np.testing.assert_allclose(own.decision_function(X), model.decision_function(X), rtol=1e-9)
    weights = np.random.default_rng(1).integers(1, 3, len(y))
    again = [
        GradientBoostClassifier("focal", 5, n_jobs=n, random_state=0)
        .fit(X, y, sample_weight=weights)
        .decision_function(X)
        for n in (1, 2)
    ]
    np.testing.assert_array_equal(*again)


@pytest.fixture
def focal(table, monkeypatch):
    """Return a model with the new loss, which is registered until the test ends."""
    monkeypatch.setitem(CLASSIFICATION_LOSSES, "focal", None)
    run("## Add a loss")
    return GradientBoostClassifier("focal", 5, random_state=0).fit(*table)


LOAD = """
import sys
import costboost
{code}
model = costboost.load(sys.argv[1])
(link,) = model._model.members[0].maps
print(type(link.loss).__name__, model.predict_proba([[0.5] * 4])[0, 1].hex())
"""


def load_elsewhere(path, code=""):
    """Load a model in a process that has run nothing but this code."""
    given = [sys.executable, "-W", "ignore", "-c", LOAD.format(code=code), str(path)]
    return subprocess.run(given, capture_output=True, text=True, check=False)


def test_a_new_loss_is_kept_in_files(focal, table, tmp_path):
    X, _ = table
    path = tmp_path / "focal.costboost"
    costboost.save(focal, path)
    again = costboost.load(path)
    assert again._model.members[0].maps == focal._model.members[0].maps
    np.testing.assert_array_equal(again.predict_proba(X), focal.predict_proba(X))
    there = load_elsewhere(path, code("## Add a loss"))
    expected = focal.predict_proba([[0.5] * 4])[0, 1].hex()
    assert there.stdout.split() == ["FocalLoss", expected], there.stderr


def test_a_loss_that_is_not_registered_is_named(focal, tmp_path):
    path = tmp_path / "focal.costboost"
    costboost.save(focal, path)
    there = load_elsewhere(path)
    assert there.returncode == 1
    assert "ModelFileError" in there.stderr
    assert "classification loss 'focal'" in there.stderr
    assert "register it first" in there.stderr
    del CLASSIFICATION_LOSSES["focal"]
    with pytest.raises(ModelFileError, match="register it first"):
        costboost.load(path)
    with pytest.raises(ModelFileError, match=r"maps\[0\].loss is a contributed\.FocalLoss"):
        costboost.save(focal, path)


def test_a_new_loss_that_is_no_dataclass_is_not_kept(table, tmp_path, monkeypatch):
    class Bare(BuiltIn):
        value, gradient, hessian = LogLoss.value, LogLoss.gradient, LogLoss.hessian

    monkeypatch.setitem(CLASSIFICATION_LOSSES, "bare", Bare)
    model = GradientBoostClassifier("bare", 2).fit(*table)
    with pytest.raises(ModelFileError, match="Bare is no dataclass"):
        costboost.save(model, tmp_path / "bare.costboost")


def test_a_new_loss_is_exported_by_its_link(focal):
    """By default the logistic function; tests/deploy refuses losses with a `proba` of their own."""
    assert export(focal).model.members[0].maps == (Logistic(1.0),)


def test_a_new_loss_of_numbers(table, tmp_path, monkeypatch):
    """It is made from parameters, and says whether it needs all rows, by itself."""

    class Doubled(SquaredLoss):
        kind = "doubled"
        needs_all_rows = True

        @classmethod
        def from_params(cls, params, y, weights):
            assert params.delta == 7
            assert (len(y), weights) == (400, None)
            return cls()

    monkeypatch.setitem(REGRESSION_LOSSES, "doubled", None)
    register_loss(Doubled, "regression")
    X, y = table
    model = GradientBoostRegressor("doubled", 5, delta=7, random_state=0).fit(X, y)
    plain = GradientBoostRegressor("squared", 5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    costboost.save(model, tmp_path / "doubled.costboost")
    again = costboost.load(tmp_path / "doubled.costboost")
    np.testing.assert_array_equal(again.predict(X), plain.predict(X))
    spread = type("Spread", (), {"is_spread": True})
    with pytest.raises(ValueError, match="loss='doubled' needs all rows in one place"):
        refuse_if_remote(model, spread)
