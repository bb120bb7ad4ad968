"""Any regressor with a calibrated predictive distribution, answering the cheapest number."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import r2_score
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import _num_samples, check_is_fitted, has_fit_parameter

from costboost.calibration import calibration_splits, keeps_copies
from costboost.costs import NumberCosts, NumberDistribution, as_number_costs
from costboost.costs.numbers import read_answers
from costboost.estimators.base import all_at_once
from costboost.estimators.gradient import GradientBoostRegressor
from costboost.estimators.wrappers.base import copy_features
from costboost.explain.contributions import Contributions
from costboost.explain.decision import Explanation
from costboost.explain.mixin import ranked_parts
from costboost.explain.rows import one_row, values_of_row
from costboost.fitting.tables import read_copies
from costboost.inputs.arrays import (
    ask,
    count_rows,
    mean_paid,
    read_finite,
    read_numbers,
    read_weights,
    source_of,
    without_mask,
)
from costboost.inputs.checks import (
    VersionedState,
    check_choice,
    check_jobs,
    check_learner,
    check_not_empty,
    check_number,
    read_numeric_targets,
    read_random_state,
    refuse_masked,
    refuse_unopened,
    set_input_tags,
    warn_caller,
)
from costboost.typing import Floats, Indices

_FLOOR = 0.1  # of the mean absolute residual: no row's scale is smaller
_FEW = 50  # rows, of which none are held out for early stopping


class MinimumCostRegressor(
    VersionedState,
    MetaEstimatorMixin,  # type: ignore[misc]  # scikit-learn is untyped
    RegressorMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Give any regressor a calibrated predictive distribution, and answer the cheapest number.

    Probability first, price last: a model is trained without prices, and learns how far off it is
    on rows that it was not trained on. The cheapest number under any prices, per unit, squared or
    in steps, follows from that distribution, so that new prices need no new model.

    A row's distribution is ``y = location + scale * Z``. The location is the regressor's answer,
    the scale a second model's of the absolute out-of-fold residuals, and Z has the distribution of
    all out-of-fold residuals over their scales: smoothed between rows, with exponential tails.
    Quantiles never cross.

    Parameters
    ----------
    estimator : regressor, default=None
        What answers the location; None is a `GradientBoostRegressor` that stops early. A fitted one
        is wrapped in scikit-learn's `FrozenEstimator` (or ``cv="prefit"`` is given): ``fit`` then
        only calibrates it, and its rows should be ones that it was not trained on.
    scale : regressor, "constant" or None, default=None
        What learns the absolute residual of a row; None is a small `GradientBoostRegressor`.
        "constant" gives all rows the same distribution around their location.
    costs : NumberCosts, dict or None, default=None
        Prices, constant or by column. Without any, ``predict`` answers the mean.
    cv : int, float, splitter, iterable or "prefit", default=5
        Which rows calibrate: shuffled folds, a held-out share, your own splits, or all the rows for
        a fitted estimator. Where rows follow each other in time, folds of consecutive rows
        (``KFold(5)``) or a `TimeSplit` give residuals as wide as those of forecasts are.
    ensemble : bool, default=True
        With folds: average the models of the folds, or train one model on all the rows.
    n_jobs : int or None, default=None
        Folds trained at once; threads of the default models. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Shuffles the folds, and seeds the default models.

    Attributes
    ----------
    costs_ : NumberCosts or None
        The prices that ``predict`` uses when it is given none.
    locations_ : list of regressors
    scales_ : list of regressors
        Empty where the scale is constant.
    distribution_ : NumberDistribution
        Of Z.
    least_scale_ : float
        The scale of every row is at least this; where it is constant, it is this.
    n_calibrated_ : int
        How many rows' residuals the distribution is made of.
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    References
    ----------
    Arrow, Harris and Marschak 1951, "Optimal inventory policy" (the critical fractile).
    Barber et al. 2021, "Predictive inference with the jackknife+" (out-of-fold residuals).

    Examples
    --------
    A unit that is missing costs nine times as much as one that is left over:

    >>> import numpy as np
    >>> from costboost import MinimumCostRegressor, NumberCosts
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(1000, 2))
    >>> demand = 50 * X[:, 0] + (2 + 20 * X[:, 1]) * rng.exponential(size=1000)
    >>> model = MinimumCostRegressor(random_state=0).fit(X, demand)
    >>> careful = model.predict(X, costs=NumberCosts(under=9, over=1))
    >>> 0.85 < float(np.mean(demand <= careful)) < 0.95
    True
    >>> thrifty = model.predict(X, costs=NumberCosts(under=1, over=3))  # other prices, same model
    >>> bool(np.all(thrifty < careful))
    True
    """

    __metadata_request__fit = {"costs": True, "groups": True}  # noqa: RUF012
    __metadata_request__predict = {"costs": True}  # noqa: RUF012
    __metadata_request__score = {"costs": True}  # noqa: RUF012

    def __init__(
        self,
        estimator: Any = None,
        *,
        scale: Any = None,
        costs: Any = None,
        cv: Any = 5,
        ensemble: bool = True,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.scale = scale
        self.costs = costs
        self.cv = cv
        self.ensemble = ensemble
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        set_input_tags(tags, [self._learner(_FEW)])
        tags.input_tags.allow_nan &= self._allows_missing()
        return tags

    def _allows_missing(self) -> bool:
        return not hasattr(self.scale, "fit") or bool(get_tags(self.scale).input_tags.allow_nan)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return who gets which metadata: this object itself, and the estimator's ``fit``."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self._learner(_FEW), method_mapping=mapping)

    # --- training

    @all_at_once
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        costs: Any = None,
        groups: ArrayLike | None = None,
        **fit_params: Any,
    ) -> Self:
        """Train, and learn the distribution on rows that were not trained on.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        costs : NumberCosts, dict or None, default=None
            Prices that ``predict`` uses when it is given none; they override the constructor's. If
            they are per row, ``predict`` uses their mean and says so. They change no distribution.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are never both trained on and calibrated on. Without groups, copies
            of a row are not, where the table can be compared.
        **fit_params : dict
            Passed to the estimator's ``fit``, cut by rows.

        Returns
        -------
        self
        """
        self._check_parameters(X)
        X, y = indexable(without_mask(X), y)
        refuse_masked(y)
        target = read_numeric_targets(X, y)
        weights = None if sample_weight is None else read_weights(sample_weight, len(target))
        alive = np.arange(len(target)) if weights is None else np.flatnonzero(weights > 0.0)
        if len(alive) < 2:
            raise ValueError(
                f"n_samples = {len(alive)}: how far off a model is can be seen on rows that it was "
                "not trained on, so that at least 2 rows (of positive weight) are needed."
            )
        self._set_costs(costs, X, weights)
        params = self._fit_params(weights, groups, fit_params)
        copies = read_copies(X, weights) if keeps_copies(self.cv, groups) else None
        seed = int(read_random_state(self.random_state).randint(2**31 - 1))
        rows = _Rows(X, target, weights, groups, copies, seed)
        predicted, fold = self._fit_locations(rows, params)
        known = np.flatnonzero((fold >= 0) & (True if weights is None else weights > 0.0))
        residuals = target[known] - predicted[known]
        scale = self._fit_scales(rows, known, fold[known], np.abs(residuals))
        own = None if weights is None else weights[known]
        self.distribution_ = NumberDistribution.of(residuals / scale, own)
        self.n_calibrated_ = len(known)
        copy_features(self, self.locations_[0])
        return self

    def _check_parameters(self, X: Any) -> None:
        check_learner("estimator", self.estimator)
        if isinstance(self.scale, str):
            check_choice("scale", self.scale, ("constant",))
        else:
            check_learner("scale", self.scale)
        check_choice("ensemble", self.ensemble, (True, False))
        check_jobs(self.n_jobs)
        refuse_unopened(X)
        check_not_empty(X)

    def _set_costs(self, given: Any, X: Any, weights: Floats | None) -> None:
        """Settle the prices that answers go by where they are given none."""
        held = None if self.costs is None else as_number_costs(self.costs)
        if held is not None and held.n_rows is not None:
            raise ValueError(
                f"costs= in the constructor holds constant costs, but {held!r} has {held.n_rows} "
                "rows: pass costs per row to fit, predict and score, or name the column that holds "
                "them, such as NumberCosts(under='margin', over=2)."
            )
        costs = held if given is None else as_number_costs(given)
        if costs is not None:
            costs.bind_table(X).check_rows(_num_samples(X), "X has")
        self._costs_were_per_row = costs is not None and costs.n_rows is not None
        mean = costs is not None and self._costs_were_per_row
        self.costs_ = costs.mean(weights) if mean and costs is not None else costs

    def _fit_params(
        self, weights: Floats | None, groups: Any, fit_params: dict[str, Any]
    ) -> dict[str, Any]:
        """Return what the estimator's fit gets: what it requests, or without routing takes."""
        if get_config()["enable_metadata_routing"]:
            given = {"sample_weight": weights, "groups": groups, **fit_params}
            given = {name: value for name, value in given.items() if value is not None}
            return dict(process_routing(self, "fit", **given).estimator.fit)
        if weights is None:
            return fit_params
        if has_fit_parameter(self._learner(_FEW), "sample_weight"):
            return {**fit_params, "sample_weight": weights}
        if not self._is_prefit():
            warn_caller(
                f"{type(self.estimator).__name__}.fit takes no sample_weight: the weights count in "
                "the calibration only. Give an estimator that takes them, or route them to it."
            )
        return fit_params

    def _is_prefit(self) -> bool:
        prefit = isinstance(self.estimator, FrozenEstimator) or (
            isinstance(self.cv, str) and self.cv == "prefit"
        )
        if prefit and self.estimator is None:
            raise ValueError('cv="prefit" calibrates a fitted estimator: give it as estimator=.')
        return prefit

    def _learner(self, n_rows: int) -> Any:
        """Return the estimator of locations."""
        if self.estimator is not None:
            return self.estimator
        return GradientBoostRegressor(
            n_estimators=1000 if n_rows > _FEW else 100,
            max_leaf_nodes=15,
            n_iter_no_change=20 if n_rows > _FEW else None,
            n_jobs=self.n_jobs,
        )

    def _scale_learner(self, n_rows: int) -> Any:
        if self.scale is not None:
            return self.scale
        return GradientBoostRegressor(
            n_estimators=200,
            learning_rate=0.05,
            max_leaf_nodes=8,
            n_iter_no_change=10 if n_rows > _FEW else None,
            n_jobs=self.n_jobs,
        )

    def _fit_locations(self, rows: _Rows, params: Mapping[str, Any]) -> tuple[Floats, Indices]:
        """Train the models of the folds; return what they answer to the rows left out.

        Also return the fold that left out each row, -1 where none did.
        """
        n_rows = len(rows.y)
        predicted, fold = np.zeros(n_rows), np.full(n_rows, -1)
        if self._is_prefit():
            check_is_fitted(self.estimator)
            self.locations_ = [self.estimator]
            return _answers(self.estimator, rows.X), np.zeros(n_rows, dtype=np.intp)
        splits = rows.splits(np.arange(n_rows), self.cv)
        learner = self._learner(n_rows)
        models = self._fit_all(learner, rows, rows.y, [train for train, _ in splits], params)
        for k, (model, (_, test)) in enumerate(zip(models, splits, strict=True)):
            predicted[test], fold[test] = _answers(model, _safe_indexing(rows.X, test)), k
        if not self.ensemble:
            models = self._fit_all(learner, rows, rows.y, [np.arange(n_rows)], params)
        self.locations_ = models
        return predicted, fold

    def _fit_scales(self, rows: _Rows, known: Indices, fold: Indices, sizes: Floats) -> Floats:
        """Train the models of the absolute residuals; return the scale of each row, left out."""
        own = None if rows.weights is None else rows.weights[known]
        mean = mean_paid(sizes, own)
        self.scales_: list[Any] = []
        self.least_scale_ = mean if mean > 0.0 else 1.0
        if isinstance(self.scale, str) or not mean > 0.0:
            return np.full(len(known), self.least_scale_)
        self.least_scale_ = _FLOOR * mean
        if len(np.unique(fold)) > 1:
            parts = [(known[fold != k], np.flatnonzero(fold == k)) for k in np.unique(fold)]
        else:
            parts = [(known[train], test) for train, test in rows.splits(known, 5)]
        target = np.zeros(len(rows.y))
        target[known] = sizes
        learner, params = self._scale_learner(len(known)), {}
        if own is not None and has_fit_parameter(learner, "sample_weight"):
            params = {"sample_weight": rows.weights}
        self.scales_ = self._fit_all(learner, rows, target, [train for train, _ in parts], params)
        scale = np.zeros(len(known))
        for model, (_, test) in zip(self.scales_, parts, strict=True):
            scale[test] = _answers(model, _safe_indexing(rows.X, known[test]))
        return np.maximum(scale, self.least_scale_)

    def _fit_all(
        self,
        learner: Any,
        rows: _Rows,
        y: Floats,
        trains: list[Indices],
        params: Mapping[str, Any],
    ) -> list[Any]:
        """Return a clone fitted to each part of the rows."""
        ours = isinstance(learner, GradientBoostRegressor)
        fits = (
            delayed(_fit_part)(learner, rows.X, y, part, params, rows.seed, quiet=ours)
            for part in trains
        )
        # Ours have threads of their own.
        return list(Parallel(n_jobs=1 if ours else self.n_jobs)(fits))

    # --- answers

    def _place(self, X: Any) -> tuple[Floats, Floats]:
        """Return the location and the scale of every row."""
        check_is_fitted(self)
        X = without_mask(X)
        location = _mean(_answers(model, X) for model in self.locations_)
        if not self.scales_:
            return location, np.full(len(location), self.least_scale_)
        scale = _mean(_answers(model, X) for model in self.scales_)
        return location, np.maximum(scale, self.least_scale_)

    def _prices(self, costs: Any, X: Any) -> NumberCosts | None:
        """Return the prices that hold for some rows: those given, or those of ``fit``."""
        if costs is None:
            if self.costs_ is not None and self._costs_were_per_row:
                warn_caller(
                    "The costs of fit were per row, those of other rows: answers go by their mean, "
                    f"{self.costs_!r}. Give costs= for these rows."
                )
            found = self.costs_
        else:
            found = as_number_costs(costs)
        if found is None:
            return None
        bound = found.bind_table(X)
        bound.check_rows(_num_samples(X), "X has")
        return bound

    def predict(self, X: Any, costs: Any = None) -> Floats:
        """Return the number of least expected cost; without any prices the mean.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        costs : NumberCosts, dict or None, default=None
            Prices to use instead of those of ``fit``, constant, by column or one per row of X.

        Returns
        -------
        ndarray of shape (n_samples,)
            Of several numbers that cost the same the lowest.
        """
        location, scale = self._place(X)
        prices = self._prices(costs, X)
        if prices is None:
            return np.asarray(location + scale * self.distribution_.mean)
        return prices.cheapest(self.distribution_, location, scale)

    def expected_cost(self, X: Any, numbers: ArrayLike | None = None, costs: Any = None) -> Floats:
        """Return what answering some numbers is expected to cost, (n_samples,).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        numbers : array-like of shape (n_samples,), float or None, default=None
            One answer per row, or one for all; None: those of ``predict``.
        costs : NumberCosts, dict or None, default=None
            As in `predict`.
        """
        location, scale = self._place(X)
        prices = self._prices(costs, X)
        if prices is None:
            raise ValueError(
                "There are no prices to expect a cost by: give costs=NumberCosts(under=, over=)."
            )
        if numbers is None:
            answers = prices.cheapest(self.distribution_, location, scale)
        else:
            answers = read_answers(numbers, len(location))
        return prices.expected(self.distribution_, location, scale, answers)

    def predict_quantile(self, X: Any, level: Any = 0.5) -> Floats:
        """Return a quantile, or several that do not cross.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        level : float or array-like of shape (m,), default=0.5
            Strictly between 0 and 1.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, m) for several levels
        """
        levels = _read_levels(level, "level")
        location, scale = self._place(X)
        z = self.distribution_.quantile(levels)
        if levels.ndim:
            return np.asarray(location[:, None] + scale[:, None] * z)
        return np.asarray(location + scale * z)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Return the interval that holds the number with a probability, (n_samples, 2).

        As much probability lies below it as above.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, default=0.9
        """
        check_number("coverage", coverage, low=0.0, high=1.0, open_low=True)
        if not coverage < 1.0:
            raise ValueError(f"coverage={coverage!r}: no interval is certain, give less than 1.")
        return self.predict_quantile(X, [0.5 - coverage / 2.0, 0.5 + coverage / 2.0])

    def predict_proba_above(self, X: Any, threshold: ArrayLike) -> Floats:
        """Return the probability that the number is above a threshold, (n_samples,).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        threshold : float or array-like of shape (n_samples,)
        """
        location, scale = self._place(X)
        given = read_numbers(threshold, "threshold", negative=True)
        if given.shape not in ((), location.shape):
            raise ValueError(
                f"threshold has shape {given.shape}; give one number, or one for each of the "
                f"{len(location)} rows."
            )
        above = self.distribution_.above
        return above.moments((location - given) / scale, 0, strict=True)[0]

    def crps(self, X: Any, y: ArrayLike) -> Floats:
        """Return the continuous ranked probability score of each row, (n_samples,).

        That is the integral over all thresholds of the squared error of `predict_proba_above`: of
        a number for certain the absolute error, in its unit; lower is better.
        """
        location, scale = self._place(X)
        target = read_numeric_targets(X, y)
        return scale * self.distribution_.crps((target - location) / scale)

    def score(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, costs: Any = None
    ) -> float:
        """Return minus the mean realised cost; without any prices the R^2 of the mean.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        costs : NumberCosts, dict or None, default=None
            As in `predict`.
        """
        check_is_fitted(self)
        prices = self._prices(costs, X)
        if prices is None:
            return float(r2_score(y, self.predict(X), sample_weight=sample_weight))
        numbers = self.predict(X, costs=prices)
        return -mean_paid(prices.of_numbers(read_numeric_targets(X, y), numbers), sample_weight)

    # --- explanations

    def contributions(
        self, X: Any, *, level: float | None = None, background: Any = None
    ) -> Contributions:
        """Return what each column adds to a quantile of each row: Shapley values.

        A quantile is a sum, ``location + z scale``, and so are its Shapley values those of the two
        models; rows whose scale is held at `least_scale_` have those of the location alone.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        level : float or None, default=None
            Of the quantile; None: the mean.
        background : array-like or DataFrame of shape (m, n_features), default=None
            As in `GradientBoostRegressor.contributions`.

        Returns
        -------
        Contributions
        """
        check_is_fitted(self)
        for model in (*self.locations_, *self.scales_):
            if not isinstance(model, GradientBoostRegressor):
                raise ValueError(
                    f"A {type(model).__name__} is inside, and only the built-in trees are explained"
                    " here: leave estimator=None and scale=None, or give GradientBoostRegressors."
                )
        z, unit = self.distribution_.mean, "mean"
        if level is not None:
            z, unit = float(self.distribution_.quantile(_read_level(level))), f"quantile {level:g}"
        values, base, names = _mean_contributions(self.locations_, X, background)
        if not self.scales_:
            return Contributions(values, base + z * self.least_scale_, names, unit)
        more, start, _ = _mean_contributions(self.scales_, X, background)
        held = start + more.sum(axis=1) < self.least_scale_
        more[held], start[held] = 0.0, self.least_scale_
        return Contributions(values + z * more, base + z * start, names, unit)

    def explain(self, x: Any, *, level: float | None = None, background: Any = None) -> Explanation:
        """Explain a quantile of one row; without a level its mean.

        Parameters
        ----------
        x : one row: a table of one row, or an array, list or Series of n_features values
        level, background
            As in `contributions`.

        Returns
        -------
        Explanation
            Prints as text, and as HTML in a notebook.
        """
        X = one_row(x)
        if count_rows(X) != 1:
            raise ValueError(
                f"explain is about one row, X has {count_rows(X)}: give one, or use contributions."
            )
        added = self.contributions(X, level=level, background=background)
        return Explanation(
            model=type(self).__name__,
            decision=None,
            probabilities={},
            expected_cost={},
            stays_within=None,
            turning_prices=(),
            output=None,
            unit=added.unit,
            base=float(added.base[0]),
            total=float(added.total[0]),
            parts=ranked_parts(added, values_of_row(X)),
            changes=(),
        )


class _Rows:
    """The rows of a fit: table, targets, weights, and what keeps rows on one side of a cut."""

    def __init__(
        self, X: Any, y: Floats, weights: Floats | None, groups: Any, copies: Any, seed: int
    ) -> None:
        self.X, self.y, self.weights, self.seed = X, y, weights, seed
        self._groups, self._copies = groups, copies

    def splits(self, rows: Indices, cv: Any) -> list[tuple[Indices, Indices]]:
        """Cut some of the rows into (train, test), by their positions among these."""
        groups = None if self._groups is None else np.asarray(self._groups)[rows]
        copies = None if self._copies is None else self._copies[rows]
        return calibration_splits(
            np.zeros(len(rows), dtype=np.intp),
            cv,
            groups=groups,
            copies=copies if keeps_copies(cv, groups) else None,
            sample_weight=None if self.weights is None else self.weights[rows],
            random_state=np.random.RandomState(self.seed),
        )


def _fit_part(
    learner: Any,
    X: Any,
    y: Floats,
    part: Indices,
    params: Mapping[str, Any],
    seed: int,
    *,
    quiet: bool,
) -> Any:
    """Fit a clone to some rows, with the parameters of those rows."""
    model = clone(learner)
    if model.get_params(deep=False).get("random_state", 0) is None:
        model.set_params(random_state=seed)
    mine = {
        name: _safe_indexing(value, part) if _is_by_row(value, len(y)) else value
        for name, value in params.items()
    }
    with warnings.catch_warnings():
        if quiet:  # rows that all have the same location, or scale, are nothing to warn of
            warnings.filterwarnings("ignore", message=".* took no step")
        return model.fit(_safe_indexing(X, part), y[part], **mine)


def _is_by_row(value: Any, n_rows: int) -> bool:
    return (
        hasattr(value, "__len__") and not isinstance(value, str | Mapping) and len(value) == n_rows
    )


def _answers(model: Any, X: Any) -> Floats:
    """Return what a regressor predicts, checked: one finite number for each row."""
    return read_finite(ask(model, "predict", X), (count_rows(X),), source_of(model, "predict"))


def _mean(parts: Iterable[Floats]) -> Floats:
    found = list(parts)
    return np.asarray(sum(found[1:], found[0]) / len(found))


def _mean_contributions(
    models: list[Any], X: Any, background: Any
) -> tuple[Floats, Floats, tuple[str, ...]]:
    """Return the mean values (n, d) and base (n,) of some regressors, and the columns' names."""
    found = [model.contributions(X, background=background) for model in models]
    base = _mean(np.broadcast_to(part.base, len(part)) for part in found)
    return _mean(part.values for part in found), base, found[0].columns


def _read_level(level: Any) -> Floats:
    levels = _read_levels(level, "level")
    if levels.ndim:
        raise ValueError(f"level={level!r}: one quantile is explained at a time, give one number.")
    return levels


def _read_levels(level: Any, name: str) -> Floats:
    """Read levels of quantiles, strictly between 0 and 1: one, or several."""
    levels = read_numbers(level, name, negative=True)
    if levels.ndim > 1 or not np.all((levels > 0.0) & (levels < 1.0)):
        raise ValueError(
            f"{name}={level!r}: give a number, or a list of numbers, strictly between 0 and 1."
        )
    return levels
