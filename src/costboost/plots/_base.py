"""The way from a fitted model to a picture, the same for all pictures of two classes."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike

from costboost.costs import as_costs
from costboost.plots._responses import (
    ResponseMethod,
    bound_costs,
    fitted_costs,
    model_name,
    respond,
    two_classes,
)
from costboost.plots.style import need_matplotlib


class BinaryDisplay:
    """A picture that `from_predictions` makes from true labels and scores of the positive class."""

    _probabilities_only: ClassVar[bool] = False
    _priced: ClassVar[bool] = True  # whether costs play a part beyond their positive class

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        costs: Any = None,
        sample_weight: ArrayLike | None = None,
        response_method: ResponseMethod = "auto",
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a fitted model on some rows.

        Parameters
        ----------
        estimator : classifier
            Fitted, for two classes; also a pipeline or a search around one.
        X : array-like of shape (n_samples, n_features)
            Rows that the model was not trained on.
        y : array-like of shape (n_samples,)
            Their true labels.
        costs : Costs, dict, array-like of shape (2, 2) or None, default=None
            What each decision costs, constant or per row. None: the costs that the model decides
            by, if it has any (``costs_``).
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.
        response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
            Where scores come from; "auto" prefers probabilities.
        pos_label : label, default=None
            The positive class; by default that of the costs, else of 0/1, -1/+1, booleans.
        name : str, default=None
            What the legend calls the model; by default its class.
        ax : matplotlib Axes, default=None
            Where to draw: several models on one picture are drawn on the same axes. None: on a new
            figure.
        **kwargs : dict
            Passed to `from_predictions`: the options of this picture and of the curve.

        Returns
        -------
        display
            The picture, drawn; its arrays and artists are attributes.
        """
        need_matplotlib(f"{cls.__name__}.from_estimator")
        classes = two_classes(estimator, y)
        if costs is None:
            costs = fitted_costs(estimator, tell=cls._priced)
        if costs is not None:
            costs = as_costs(costs, table=X)
        bound = bound_costs(costs, y, pos_label, labels=classes)
        if cls._probabilities_only and response_method == "auto":
            response_method = "predict_proba"
        response = respond(estimator, X, classes, bound.positive, response_method)
        return cls._from_response(
            y,
            response.score,
            costs=None if costs is None else bound,
            pos_label=bound.positive,
            sample_weight=sample_weight,
            name=model_name(estimator) if name is None else name,
            ax=ax,
            **cls._known_of(estimator, response.probability, kwargs),
        )

    @classmethod
    def _known_of(cls, estimator: Any, probability: bool, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Add what only the model can tell; what the user gave prevails."""
        return kwargs

    @classmethod
    def _from_response(cls, y: ArrayLike, score: ArrayLike, **kwargs: Any) -> Self:
        made: Self = cls.from_predictions(y, score, **kwargs)  # type: ignore[attr-defined]
        return made
