"""What all estimators share: fits that count only when done, callbacks, margins and decisions.

    table -> codes, once -> margins of each member -> decision values, probabilities, decisions

`costboost.model` says what margins mean; a family only says how it trains, and why prices are
refused where it cannot decide by them.

``fit`` works on a draft, which shares everything with the estimator but its ``__dict__``. When it
returns, the draft's attributes become the estimator's in one assignment; when it raises (wrong
input, a failing learner, Ctrl-C), they are forgotten with the draft. So an estimator never has the
classes of one table and the trees of another, and a first fit that failed leaves it unfitted.
Callbacks are scikit-learn's (1.9 and later).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from functools import wraps
from typing import Any, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from costboost.costs import ColumnTests, Costs
from costboost.decisions import CostDecisionMixin
from costboost.decisions.asking import ColumnCostsMixin
from costboost.decisions.sequential import REFERENCE
from costboost.explain.classifying import ExplainDecisionsMixin
from costboost.fitting.held_out import EvalSet, read_eval_set
from costboost.fitting.plan import refuse_if_remote
from costboost.fitting.propensity import take_labelled
from costboost.fitting.train import Family, FittedModels, Trainer, set_fitted, train_models
from costboost.inputs.arrays import encode
from costboost.inputs.checks import (
    OneFit,
    answers_tables,
    check_learner,
    check_table,
    count_threads,
    one_fit,
    opened_to_fit,
    set_input_tags,
)
from costboost.model import FittedModel
from costboost.typing import Codes, Floats

__all__ = [
    "BoostingClassifierMixin",
    "CallbackSupportMixin",
    "MarginsMixin",
    "RoundCallbacks",
    "all_at_once",
    "fits_tables",
    "with_callbacks",
]


# Drafts.

F = TypeVar("F", bound=Callable[..., Any])


def all_at_once(fit: F) -> F:
    """Make a ``fit`` set its attributes at the end, all at once.

    Whatever decorators inside this one set is part of the draft.

    Examples
    --------
    >>> class Halves:
    ...     @all_at_once
    ...     def fit(self, numbers):
    ...         self.first_ = numbers[0] / 2
    ...         self.second_ = numbers[1] / 2
    ...         return self
    >>> model = Halves().fit([1, 2])
    >>> try:
    ...     model.fit([5])
    ... except IndexError:
    ...     print(model.first_, model.second_)
    0.5 1.0
    """
    return _drafted(fit, opens=False)


def fits_tables(fit: F) -> F:
    """Make a ``fit`` do so that also takes tables that must be opened, such as `ParquetTable`.

    They hold labels, weights and costs. A table is opened for the estimator itself, and the draft
    is fitted while it is open.
    """
    return _drafted(fit, opens=True)


def _drafted(fit: F, *, opens: bool) -> F:
    @wraps(fit)
    def fit_draft(self: Any, *args: Any, **kwargs: Any) -> Any:
        X = args[0] if args else kwargs.get("X")
        if opens and hasattr(X, "open_for"):
            rest = {name: value for name, value in kwargs.items() if name != "X"}
            with opened_to_fit(self, fit, X, args[1:], rest) as (rows, given):
                return fit_draft(self, rows, None, **given)
        draft = object.__new__(type(self))
        draft.__dict__.update(self.__dict__)
        with one_fit():
            fit(draft, *args, **kwargs)
        self.__dict__ = draft.__dict__
        return self

    return cast(F, fit_draft)


# Callbacks.

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Without scikit-learn's callbacks there is nothing to support."""

    def _with_callbacks(method: Any) -> Any:
        return method


M = TypeVar("M", bound=Callable[..., Any])


def with_callbacks(method: M) -> M:
    """Tear callbacks down when `fit` ends; without scikit-learn's there is nothing to do."""
    return cast(M, _with_callbacks(method))


class RoundCallbacks:
    """An observer of rounds that calls an estimator's callbacks after each.

    `n_rounds` is the number of rounds of all models, at most; None where it is not known.
    """

    def __init__(self, estimator: Any, n_rounds: int | None, X: Any, y: Any) -> None:
        self.data = {"estimator": estimator, "X": X, "y": y}
        self.context = None
        self._has_callbacks = bool(getattr(estimator, "_skl_callbacks", ()))
        if hasattr(estimator, "_init_callback_context"):
            self.context = estimator._init_callback_context(max_subtasks=n_rounds)
            self.context.call_on_fit_task_begin(**self.data)

    def __call__(
        self, done: Any, fitted: Callable[[], dict[str, Any] | None] | None = None
    ) -> bool:
        """Report a round; True when a callback wants to stop.

        `fitted` returns the attributes of an estimator that had stopped here, for callbacks that
        ask it for answers.
        """
        if self.context is None or not self._has_callbacks:
            return False
        task = self.context.subcontext(task_name="round")
        task.call_on_fit_task_begin(**self.data)
        return bool(task.call_on_fit_task_end(**self.data, reconstruction_attributes=fitted))

    def close(self) -> None:
        """Report the end of fit."""
        if self.context is not None:
            self.context.call_on_fit_task_end(**self.data)


# Boosting: from a table to the margins of the model, and to decisions.


class MarginsMixin(OneFit):
    """Margins of a table by the fitted model of an estimator, at the end and after each round."""

    estimator: Any
    n_iter_: int
    n_jobs: int | None
    _model: FittedModel

    def _outside_learners(self) -> dict[str, Any]:
        """Return the learners that are not ours, or None, by the names of their parameters."""
        return {"estimator": self.estimator}

    def _check_outside_learners(self) -> None:
        for name, learner in self._outside_learners().items():
            check_learner(name, learner)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        set_input_tags(tags, self._outside_learners().values())
        return tags

    def _loss_needs_all_rows(self) -> bool:
        """Whether a parameter `loss` cannot go to where the rows are."""
        return False

    def _fitted_model(self) -> FittedModel:
        """Return the model; raise where nothing is fitted."""
        # scikit-learn's check makes the tags of the estimator: too long for one row.
        if "_model" not in self.__dict__:
            check_is_fitted(self)
        return self._model

    def _margins(self, X: Any) -> list[Floats]:
        """Return the margins of each member of the model, (n, J)."""
        model = self._fitted_model()
        X, n_threads = check_table(self, X, reset=False), count_threads(self.n_jobs)
        return model.margins(X, model.encode(X, n_threads), n_threads)

    def _staged(self, X: Any) -> Iterator[tuple[FittedModel, list[Floats]]]:
        """Yield the model and its members' margins after each round."""
        model = self._fitted_model()
        X = check_table(self, X, reset=False)
        yield from model.staged(X, count_threads(self.n_jobs))


class BoostingClassifierMixin(
    CostDecisionMixin, ColumnCostsMixin, ExplainDecisionsMixin, MarginsMixin
):
    """Decision values, probabilities, decisions and explanations of a boosting classifier."""

    __metadata_request__fit = {"labelled": True, "propensity": True}  # noqa: RUF012

    cv: Any
    effective_rows_: float
    feature_costs_: ColumnTests | None
    reference_codes_: Codes
    ensemble: bool
    _family: Family

    # --- training

    def _read_eval_set(self, eval_set: Any, plan: Any, costs: Costs) -> list[EvalSet] | None:
        """Return the held-out rows that were given, if any."""
        return read_eval_set(self, eval_set, per_row=costs.per_row)

    def _fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        costs: Any,
        groups: ArrayLike | None,
        eval_set: Any,
        labelled: ArrayLike | None,
        propensity: Any,
    ) -> Self:
        """Fit: the steps shared by all boosting classifiers."""
        vars(self).pop("effective_rows_", None)
        # Where only some rows have labels: those, weighted to stand for all.
        if labelled is not None or propensity is not None:
            found = take_labelled(
                X, y, sample_weight, costs, groups, labelled=labelled, propensity=propensity
            )
            X, y, sample_weight, costs, groups, self.effective_rows_ = found
            del found
        self._check_outside_learners()
        refuse_if_remote(self, X)
        X = check_table(self, X, y, reset=True)
        labels, weights, bound = self._read_rows(X, y, sample_weight, costs)
        plan = self._family.settle(self, X, labels, weights, bound, len(self.classes_))
        held_out = self._read_eval_set(eval_set, plan, bound)
        callbacks = RoundCallbacks(self, plan.total_rounds, X, y)
        trainer = Trainer(self._family, plan, X, labels, weights, bound, observer=callbacks)
        del labels, weights, bound  # the trainer holds them, if anybody here does
        given = lambda: {"the classes of y": self.classes_, "costs": trainer.costs}  # noqa: E731
        folds = {"cv": self.cv, "groups": groups, "ensemble": self.ensemble}
        fit_models = self._fit_models(plan)
        for name in ("feature_costs_", "reference_codes_"):
            vars(self).pop(name, None)
        with trainer:
            trainer.bin_table()
            trainer.use_eval_sets(held_out)
            set_fitted(self, trainer, fit_models(self, trainer, given, **folds))
            if plan.tests is not None:
                self.feature_costs_ = trainer.column_tests
                self.reference_codes_ = trainer.reference_codes(REFERENCE)
        callbacks.close()
        return self

    def _fit_models(self, plan: Any) -> Callable[..., FittedModels]:
        """Return the function that makes models of a trainer's rows."""
        return train_models

    def _recalibrated(self, X: Any, y: ArrayLike) -> Self:
        """Return a copy whose maps from scores to probabilities are fitted to these rows."""
        made, rising = copy(self), getattr(self, "monotonic_cst", None) is not None
        codes = encode(self.classes_, y, "y")
        made._model = self._fitted_model().recalibrated(self._margins(X), codes, rising=rising)
        return made

    # --- answers

    @answers_tables
    def decision_function(self, X: Any) -> Floats:
        """Return decision values: the margins, or where the model is calibrated the log odds.

        Margins are what the rounds add up to: F, the votes of each class, or the mixture H. With
        more than two classes calibrated values are log probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) for two classes, else (n_samples, K)
            Of a mixture of two classes the second column less the first.
        """
        margins = self._margins(X)
        return self._model.values(margins)

    @answers_tables
    def predict_proba(self, X: Any) -> Floats:
        """Return class probabilities, (n_samples, K).

        Calibrated, they are natural frequencies. Uncalibrated, they contain the costs that the
        method trained on: the link of the method's or the loss's margins (natural for "log" and
        "exponential" loss), of the L_p family H, its rows divided by their sums.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, K)
        """
        margins = self._margins(X)
        return self._model.proba(margins, count_threads(self.n_jobs))

    @answers_tables
    def predict(self, X: Any, costs: Any = None) -> NDArray[Any]:
        """Return decisions: the cheapest by natural probability, else by the published rule.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            Prices to use instead of those of ``fit``, constant or one per row of X. Uncalibrated
            methods that trained on costs cannot use new ones, and say so.

        Returns
        -------
        ndarray of shape (n_samples,)
            By the published rule ties go to the first class.
        """
        self._check_new_costs(costs)
        margins = self._margins(X)
        return self._decide(self._model, margins, costs, X)

    def _decide(
        self, model: FittedModel, margins: list[Floats], costs: Any, X: Any
    ) -> NDArray[Any]:
        if model.decision == "cheapest":
            proba = model.proba_to_price(margins)
            return self._cheapest(self._decision_costs(costs, X), proba)
        return np.asarray(self.classes_[model.choices(margins)])

    def _decides_by_costs(self) -> bool:
        return self._fitted_model().decision == "cheapest"

    def _decision_proba(self, X: Any, costs: Any) -> Floats:
        if not self._decides_by_costs():
            self._refuse_costs()
        margins = self._margins(X)
        return self._model.proba_to_price(margins)

    # --- stages

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield ``decision_function`` after each round."""
        for model, margins in self._staged(X):
            yield model.values(margins)

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Yield ``predict_proba`` after each round, by the calibration of the last."""
        for model, margins in self._staged(X):
            yield model.proba(margins)

    def staged_predict(self, X: Any, costs: Any = None) -> Iterator[NDArray[Any]]:
        """Yield ``predict`` after each round."""
        self._check_new_costs(costs)
        for model, margins in self._staged(X):
            yield self._decide(model, margins, costs, X)
