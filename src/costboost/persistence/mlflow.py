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
from copy import copy
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from costboost._version import __version__
from costboost.costs import Costs, ExpressionError, expression
from costboost.persistence.files import load, save
from costboost.runtime.machine import need

__all__ = ["ServedModel", "log_model", "save_model"]

_MODEL, _PRICES = "model.costboost", "prices.json"

Prices = Mapping[str, Any] | Sequence[Sequence[Any]] | Costs | None


class ServedModel:
    """The model that MLflow serves: a frame of columns and prices -> decisions.

    Parameters
    ----------
    model : estimator
    prices : dict, nested list, Costs or None
        As in `log_model`.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from costboost import GradientBoostClassifier
    >>> X = pd.DataFrame({"hour": np.tile(np.arange(24), 50), "amount": np.linspace(1, 500, 1200)})
    >>> y = np.where((X["hour"] < 5) & (np.arange(1200) // 24 % 3 == 0), "fraud", "fine")
    >>> model = GradientBoostClassifier(n_estimators=10).fit(X, y)
    >>> scorer = ServedModel(model, {"fp": 30, "fn": "amount", "positive": "fraud"})
    >>> night = pd.DataFrame({"hour": [3, 3], "amount": [20.0, 400.0]})
    >>> scorer.predict(night)["decision"].tolist()
    ['fine', 'fraud']
    """

    def __init__(self, model: Any, prices: Prices = None) -> None:
        self.model, self.costs = model, _read_prices(model, prices)

    def predict(self, model_input: Any, params: Any = None) -> Any:
        """Return a frame: ``decision``, ``probability_*`` and ``expected_cost``; or predictions.

        Parameters
        ----------
        model_input : pandas.DataFrame
            The model's columns, and those of the prices. A column may be both.
        params : ignored
            MLflow's signature has it.
        """
        pd = need("pandas", "ServedModel.predict")
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
        """Return the columns that prices are read from."""
        return [] if self.costs is None else self.costs.column_names

    def _costs(self, frame: Any) -> Costs | None:
        """Return the prices of the rows; None: those of ``fit``."""
        if self.costs is None:
            return None
        missing = [name for name in self._columns() if name not in frame.columns]
        if missing:
            raise ValueError(
                f"The prices of this model are read from {missing}, which the table does not have. "
                f"Its columns are {list(frame.columns)}."
            )
        return self.costs.bind_table(frame)


def _read_prices(model: Any, prices: Prices) -> Costs | None:
    """Return prices as costs by column, bound to the classes of a model."""
    if prices is None:
        return None
    check_is_fitted(model)
    if not hasattr(model, "costs_"):
        raise ValueError(f"A {type(model).__name__} does not decide by prices: leave them out.")
    if not isinstance(prices, Costs):
        known = set(getattr(model, "feature_names_in_", ()))
        if isinstance(prices, Mapping):
            named = {name: _read_price(cell, known) for name, cell in prices.items()}
            prices = Costs.check({**named, "positive": prices.get("positive")})
        else:
            cells = [[_read_price(cell, known) for cell in row] for row in prices]
            held = model.costs_
            actions = None if held.is_square and len(cells) == len(cells[0]) else held.actions
            prices = Costs.from_matrix(cells, classes=model.classes_, actions=actions)
    if prices.n_rows is not None:
        raise ValueError(
            f"prices={prices!r} are those of {prices.n_rows} rows, and other rows will be scored: "
            "name the columns that hold them, such as {'fp': 8, 'fn': 'amount'}."
        )
    bound: Costs = prices.bind(model.classes_)
    model._check_new_costs(bound)
    return bound


def _read_price(cell: Any, columns: set[str]) -> Any:
    """Return a price; text that is no column of the model may be an expression over columns."""
    if not isinstance(cell, str) or cell in columns:
        return cell
    try:
        read = expression(cell)
    except ExpressionError:
        return cell
    return cell if read.column == cell else read


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
    pyfunc = need("mlflow.pyfunc", "save_model")
    _write(lambda **made: pyfunc.save_model(path, **made), model, prices, options)


def log_model(model: Any, name: str, *, prices: Prices = None, **options: Any) -> Any:
    """Log a model to the active MLflow run, as a `pyfunc` that takes columns of prices.

    Parameters
    ----------
    model : estimator of costboost
        Whatever `costboost.save` can keep.
    name : str
    prices : dict, nested list, Costs or None, default=None
        Which columns of the table that is scored hold prices: the arguments of `Costs`, such as
        ``{"fp": 5, "fn": "amount", "positive": "fraud"}``, ``C[true][action]`` as nested lists, or
        a `Costs`, constant or by column. A number holds for every row; text is a column, or an
        expression over columns, ``"0.75 * amount"`` (a column that reads as one and is none of the
        model's stands in backticks). None decides by the prices of ``fit``.

    Raises
    ------
    ValueError
        If the prices are those of certain rows, or the model does not decide by prices.
    ModelFileError
        If a price is a function: files hold no code, so write it as an expression.
    **options : dict
        Given to ``mlflow.pyfunc.log_model``.

    Returns
    -------
    mlflow.models.model.ModelInfo
    """
    pyfunc = need("mlflow.pyfunc", "log_model")
    return _write(lambda **made: pyfunc.log_model(name=name, **made), model, prices, options)


def _write(write: Callable[..., Any], model: Any, prices: Prices, options: dict[str, Any]) -> Any:
    costs = _read_prices(model, prices)
    if costs is not None:  # what it decides by from now on is kept as all costs of a model are
        model = copy(model)
        model.costs_, model.costs_per_row_ = costs, False
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "costboost"
        data.mkdir()
        save(model, data / _MODEL)
        (data / _PRICES).write_text(json.dumps(costs is not None), encoding="utf-8")
        made = {"loader_module": __name__, "data_path": str(data)}
        defaults = {"pip_requirements": [f"costboost=={__version__}", "pandas"]}
        return write(**made, **{**defaults, **options})


def _load_pyfunc(path: str) -> ServedModel:
    """Return what MLflow asks for when it loads a model; the name is MLflow's."""
    folder = Path(path)
    model = load(folder / _MODEL)
    prices = json.loads((folder / _PRICES).read_text(encoding="utf-8"))
    if isinstance(prices, bool):  # older versions kept the prices here, as they were given
        prices = model.costs_ if prices else None
    return ServedModel(model, prices)
