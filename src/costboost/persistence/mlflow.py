"""MLflow: models as `pyfunc`, kept in this library's own file, deciding by columns of prices.

``mlflow.sklearn.log_model(model, skops_trusted_types=costboost.TRUSTED_TYPES)`` works as for any
estimator; what it serves is ``predict(X)``, without prices. Here the frame that is scored may hold
them: its columns of prices are taken off, each row is decided by its own, and the answer is a frame
with the decision, the probabilities and what the decision is expected to cost. No pickle is
written: MLflow finds the loader below by its name.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from costboost._version import __version__
from costboost.costs import Costs
from costboost.persistence.files import load, save

__all__ = ["CostScorer", "log_model", "save_model"]

_MODEL, _PRICES = "model.costboost", "prices.json"

Prices = Mapping[str, Any] | Sequence[Sequence[Any]] | None


class CostScorer:
    """What MLflow serves: a frame of columns and prices -> decisions.

    Parameters
    ----------
    model : estimator
    prices : dict, nested list or None
        As in `log_model`.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from costboost import GradientBoostClassifier
    >>> X = pd.DataFrame({"hour": np.tile(np.arange(24), 50), "amount": np.linspace(1, 500, 1200)})
    >>> y = np.where((X["hour"] < 5) & (np.arange(1200) // 24 % 3 == 0), "fraud", "fine")
    >>> model = GradientBoostClassifier(n_estimators=10).fit(X, y)
    >>> scorer = CostScorer(model, {"fp": 30, "fn": "amount", "positive": "fraud"})
    >>> night = pd.DataFrame({"hour": [3, 3], "amount": [20.0, 400.0]})
    >>> scorer.predict(night)["decision"].tolist()
    ['fine', 'fraud']
    """

    def __init__(self, model: Any, prices: Prices = None) -> None:
        self.model, self.prices = model, prices

    def predict(self, model_input: Any, params: Any = None) -> Any:
        """Return a frame: ``decision``, ``probability_*`` and ``expected_cost``; or predictions.

        Parameters
        ----------
        model_input : pandas.DataFrame
            The model's columns, and those of the prices. A column may be both.
        params : ignored
            MLflow's signature has it.
        """
        import pandas as pd

        table = self._table(model_input)
        if not hasattr(self.model, "classes_"):
            return pd.DataFrame({"prediction": self.model.predict(table)}, index=model_input.index)
        costs = self._costs(model_input)
        given = {} if costs is None else {"costs": costs}
        answer = {"decision": self.model.predict(table, **given)}
        for label, share in zip(
            self.model.classes_, self.model.predict_proba(table).T, strict=True
        ):
            answer[f"probability_{label}"] = share
        if costs is not None:
            answer["expected_cost"] = self.model.expected_cost(table, **given).min(axis=1)
        return pd.DataFrame(answer, index=model_input.index)

    def _table(self, frame: Any) -> Any:
        """Return the columns of the model, by name; without names, all but those of prices."""
        names = getattr(self.model, "feature_names_in_", None)
        if names is not None:
            return frame[list(names)]
        return frame.drop(columns=self._columns()).to_numpy()

    def _columns(self) -> list[str]:
        cells = self._cells()
        return sorted({cell for cell in cells if isinstance(cell, str)})

    def _cells(self) -> list[Any]:
        if self.prices is None:
            return []
        if isinstance(self.prices, Mapping):
            return [cell for name, cell in self.prices.items() if name != "positive"]
        return [cell for row in self.prices for cell in row]

    def _costs(self, frame: Any) -> Costs | None:
        """Return the prices of the rows; None: those of ``fit``."""
        if self.prices is None:
            return None
        missing = [name for name in self._columns() if name not in frame.columns]
        if missing:
            raise ValueError(
                f"The prices of this model are read from {missing}, which the table does not have. "
                f"Its columns are {list(frame.columns)}."
            )

        def read(cell: Any) -> Any:
            return frame[cell].to_numpy(dtype=np.float64) if isinstance(cell, str) else cell

        if isinstance(self.prices, Mapping):
            cells = {k: c if k == "positive" else read(c) for k, c in self.prices.items()}
            return Costs(**cells)
        full = [[np.broadcast_to(read(c), len(frame)) for c in row] for row in self.prices]
        square = len(full) == len(full[0])
        held = self.model.costs_
        actions = None if square and held.is_square else held.actions
        matrix = np.moveaxis(np.array(full, dtype=np.float64), 2, 0)
        return Costs.from_matrix(matrix, classes=self.model.classes_, actions=actions)


def save_model(model: Any, path: Any, *, prices: Prices = None, **options: Any) -> None:
    """Save a model as an MLflow `pyfunc` that takes columns of prices.

    Parameters
    ----------
    model, prices : as in `log_model`
    path : path-like
        A folder that does not exist yet.
    **options : dict
        Given to ``mlflow.pyfunc.save_model``.
    """
    from mlflow import pyfunc

    _write(lambda **made: pyfunc.save_model(path, **made), model, prices, options)


def log_model(model: Any, name: str, *, prices: Prices = None, **options: Any) -> Any:
    """Log a model to the active MLflow run, as a `pyfunc` that takes columns of prices.

    Parameters
    ----------
    model : estimator of costboost
        Whatever `costboost.save` can keep.
    name : str
    prices : dict, nested list or None, default=None
        Which columns of the table that is scored hold prices: the arguments of `Costs`, such as
        ``{"fp": 5, "fn": "amount", "positive": "fraud"}``, or ``C[true][action]`` as nested lists,
        where text names a column and a number holds for every row. None decides by the prices of
        ``fit``.
    **options : dict
        Given to ``mlflow.pyfunc.log_model``.

    Returns
    -------
    mlflow.models.model.ModelInfo
    """
    from mlflow import pyfunc

    return _write(lambda **made: pyfunc.log_model(name=name, **made), model, prices, options)


def _write(write: Callable[..., Any], model: Any, prices: Prices, options: dict[str, Any]) -> Any:
    CostScorer(model, prices)._columns()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "costboost"
        data.mkdir()
        save(model, data / _MODEL)
        (data / _PRICES).write_text(json.dumps(_plain(prices)), encoding="utf-8")
        made = {"loader_module": __name__, "data_path": str(data)}
        defaults = {"pip_requirements": [f"costboost=={__version__}", "pandas"]}
        return write(**made, **{**defaults, **options})


def _plain(prices: Prices) -> Any:
    """Return prices whose numbers are Python's own: JSON knows none of numpy's."""
    if prices is None:
        return None
    if isinstance(prices, Mapping):
        return {name: _plain_cell(cell) for name, cell in prices.items()}
    return [[_plain_cell(cell) for cell in row] for row in prices]


def _plain_cell(cell: Any) -> Any:
    return cell.item() if isinstance(cell, np.generic) else cell


def _load_pyfunc(path: str) -> CostScorer:
    """Return what MLflow asks for when it loads a model; the name is MLflow's."""
    folder = Path(path)
    prices = json.loads((folder / _PRICES).read_text(encoding="utf-8"))
    return CostScorer(load(folder / _MODEL), prices)
