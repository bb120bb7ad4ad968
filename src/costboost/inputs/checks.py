"""Inputs of the estimators, checked once: tables, labels, weights, threads.

And what every method of theirs does with them: open a table, answer by one fit. Pickles carry the
version that wrote them.
"""

from __future__ import annotations

import numbers
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from inspect import signature
from math import isinf
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import InputTags, assert_all_finite, check_random_state, column_or_1d, get_tags
from sklearn.utils.fixes import parse_version
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y, _num_samples, check_consistent_length, validate_data

from costboost._version import __version__
from costboost.inputs.arrays import missing_in, without_mask
from costboost.typing import Floats, Int64

__all__ = [
    "OneFit",
    "USUAL",
    "VersionedState",
    "answers_tables",
    "of_one_fit",
    "opened_to_fit",
    "refuse_unopened",
    "usual_positive",
]


# Tables that are not in memory but can be opened, such as ParquetTable

F = TypeVar("F", bound=Callable[..., Any])

_IN_TABLE = {"y": "label", "sample_weight": "weight"}


@contextmanager
def opened_to_fit(estimator: Any, fit: Any, X: Any, args: Any, kwargs: Any) -> Iterator[Any]:
    """Open a table for a ``fit``; yields the rows, and the other arguments that the table holds.

    The table has labels, weights and costs in its columns, and refuses others beside it.
    """
    names = list(signature(fit).parameters)[2:]
    given = dict(zip(names, args, strict=False)) | kwargs
    for name, column in _IN_TABLE.items():
        if given.pop(name, None) is not None:
            raise ValueError(
                f"{name} was given beside a {type(X).__name__}, which names its own column of "
                f"them: {type(X).__name__}(..., {column}=...), and fit(table) alone."
            )
    with X.open_for(estimator, given.pop("costs", None)) as opened:
        if opened.costs is not None and "costs" not in names:
            raise ValueError(
                f"{type(estimator).__name__} learns numbers, not classes, and has no use for "
                "costs: leave them out of the table."
            )
        if opened.costs is not None:
            given["costs"] = opened.costs
        yield opened.X, given


def answers_tables(method: F) -> F:
    """Decorate a method of fitted models to take a table that must be opened."""

    @wraps(method)
    def answer(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if not hasattr(X, "answers"):
            return method(self, X, *args, **kwargs)
        if args:
            kwargs["costs"] = args[0]
        return X.answers(self, method.__name__, **kwargs)

    return cast(F, answer)


# ---- Methods that use one fit although another thread may fit the same object meanwhile. A fit
# gives an estimator a new ``__dict__`` when it is done (`costboost.estimators.base`) and leaves
# the old one as it was. A method that holds the dict that it found has binner, trees, calibration
# and prices that belong together.

_OF_THE_OBJECT = ("fit", "get_", "set_")  # these are about the object, whichever fit it has


def of_one_fit(method: F) -> F:
    """Decorate a method to keep the attributes of the fit that it began with."""

    @wraps(method)
    def answer(self: Any, *args: Any, **kwargs: Any) -> Any:
        held = object.__new__(type(self))
        held.__dict__ = self.__dict__
        return method(held, *args, **kwargs)

    return cast(F, answer)


class OneFit:
    """Decorates public methods of its subclasses, but those of the object, with `of_one_fit`.

    Examples
    --------
    >>> class Pair(OneFit):
    ...     def fit(self, number):
    ...         self.__dict__ = {"one_": number, "other_": number}
    ...         return self
    ...     def both(self, meanwhile):
    ...         one = self.one_
    ...         meanwhile()
    ...         return one, self.other_
    >>> pair = Pair().fit(1)
    >>> pair.both(meanwhile=lambda: pair.fit(2)), pair.both(meanwhile=lambda: None)
    ((1, 1), (2, 2))
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, method in list(vars(cls).items()):
            if isinstance(method, FunctionType) and not name.startswith(("_", *_OF_THE_OBJECT)):
                setattr(cls, name, of_one_fit(method))


def refuse_unopened(X: Any) -> None:
    """Refuse a table that must be opened where nobody opens it."""
    if hasattr(X, "open_for"):
        raise ValueError(
            f"X is a {type(X).__name__}: fit, predict, predict_proba, expected_cost and "
            "decision_function of the boosting classes take it, nothing else does. Read some of "
            "its rows into a DataFrame."
        )


# The positive of two labels: known for 0/1, -1/+1 and booleans only

USUAL = "0/1, -1/+1 and booleans"


def usual_positive(labels: ArrayLike) -> Any:
    """Return the positive of two labels that are 0/1, -1/+1 or booleans; None for any others.

    Examples
    --------
    >>> usual_positive([0, 1]), usual_positive([1, -1]), usual_positive([False, True])
    (1, 1, True)
    >>> usual_positive(["fraud", "legit"]) is None
    True
    """
    listed = np.asarray(labels).tolist()
    numbers = all(isinstance(label, bool | int | float) for label in listed)
    if numbers and set(listed) in ({0, 1}, {-1, 1}):  # False == 0 and 1.0 == 1
        return max(listed)
    return None


LARGEST_TARGET = 1e150
"""Targets of regressions beyond this are refused, so that sums of their squares stay finite."""

_INSIDE = {"costboost", "sklearn", "joblib"}

_SHOWN: set[tuple[str, str, int]] = set()
"""Texts that are to be shown once, with the file and the line that they were shown for."""


_warned_of: ContextVar[set[str] | None] = ContextVar("warned_of", default=None)


@contextmanager
def one_fit() -> Iterator[None]:
    """Remember what was warned of until the outermost fit has ended."""
    if _warned_of.get() is not None:
        yield
        return
    token = _warned_of.set(set())
    try:
        yield
    finally:
        _warned_of.reset(token)


def warn_once_a_fit(subject: str, message: str) -> None:
    """Warn of a subject at most once in a fit, however many models the fit trains."""
    subjects = _warned_of.get()
    if subjects is not None and subject in subjects:
        return
    if subjects is not None:
        subjects.add(subject)
    warn_caller(message)


def warn_caller(message: str, *, once: bool = False) -> None:
    """Warn at the line of the user's code that called into the library.

    With `once` a filter that shows a text once for each place does so. Python's own memory of
    what was shown is emptied wherever `warnings.catch_warnings` is entered, as scikit-learn does
    for every fold.
    """
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and _module(frame.f_back) in _INSIDE:
        frame, level = frame.f_back, level + 1
    user = frame if frame.f_back is None else frame.f_back
    place = (message, user.f_code.co_filename, user.f_lineno)
    if once and place in _SHOWN and _action(message, user) not in ("always", "error"):
        return
    warnings.warn(message, UserWarning, stacklevel=level + 1)
    if once:
        _SHOWN.add(place)


def _action(message: str, frame: Any) -> str:
    """Return the action of the filters in force for a warning raised in a frame."""
    module = str(frame.f_globals.get("__name__", ""))
    for action, text, category, where, line in warnings.filters:
        if (
            issubclass(UserWarning, category)
            and (text is None or re.match(text, message))
            and (where is None or re.match(where, module))
            and line in (0, frame.f_lineno)
        ):
            return str(action)
    return "default"


def _module(frame: Any) -> str:
    return str(frame.f_globals.get("__name__", "")).split(".")[0]


def is_frame(X: Any) -> bool:
    """Return whether X is a DataFrame, whose columns are read one by one."""
    return hasattr(X, "columns") and hasattr(X, "shape")


def check_not_empty(X: Any) -> None:
    """Refuse a table without rows, or X=None."""
    if X is None or _num_samples(X) == 0:
        given = "X is None" if X is None else "Found array with 0 sample(s)"
        raise ValueError(f"{given} while a minimum of 1 is required. Give a table with rows.")


def check_table(estimator: Any, X: Any, y: Any = None, *, reset: bool) -> Any:
    """Return X, checked as far as scikit-learn can without converting it.

    Columns may be of any type and miss values; `binning` reads them.
    """
    target: dict[str, Any] = {"y": y} if reset else {}
    if isinstance(X, np.ma.MaskedArray):
        X = without_mask(X)
    refuse_unopened(X)
    if hasattr(X, "collect_schema") and not hasattr(X, "shape"):
        raise ValueError(
            f"X is a {type(X).__name__}, a query that has not been run: give X.collect() instead."
        )
    if not reset and _is_familiar(estimator, X):
        return X
    if is_spread(X):
        estimator.feature_names_in_ = np.array(X.columns, dtype=object)
        estimator.n_features_in_ = len(X.columns)
        return X
    if is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True, **target)
        if X.shape[0] == 0 or X.shape[1] == 0:
            what = "sample(s)" if X.shape[0] == 0 else "feature(s)"
            raise ValueError(
                f"Found array with 0 {what} (shape={tuple(X.shape)}) while a minimum of 1 is "
                "required."
            )
        return X
    if reset and y is None:
        validate_data(estimator, X, y=None, skip_check_array=True)  # says that y is required
    return validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=("csr", "csc"),
        dtype=None,
        ensure_all_finite=False,
    )


def is_spread(X: Any) -> bool:
    """Return whether the rows of a table are remote; see `costboost.fitting.spread`."""
    return bool(getattr(X, "is_spread", False))


def _is_familiar(estimator: Any, X: Any) -> bool:
    """Return whether X plainly has the columns of training, so that scikit-learn need not check.

    Its own checks take longer than a forest does for a row.
    """
    names = getattr(estimator, "feature_names_in_", None)
    if type(X) is np.ndarray:
        numeric = X.ndim == 2 and X.dtype.kind in "fiub" and X.shape[0] > 0
        n_features = getattr(estimator, "n_features_in_", None)
        return names is None and numeric and X.shape[1] == n_features
    if names is None or not is_frame(X) or X.shape[0] == 0:
        return False
    given = X.columns.tolist() if hasattr(X.columns, "tolist") else X.columns
    return isinstance(given, list) and given == names.tolist()


def read_numeric_targets(X: Any, y: Any) -> Floats:
    """Return the targets of a regression, (n,): finite, and small enough to be squared."""
    given = column_or_1d(y, warn=True)
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # it looks at a sum
            target = np.asarray(_check_y(given, y_numeric=True), dtype=float)
    except OverflowError:
        # Whole numbers that no float can hold; the others do not matter any more.
        huge = [isinstance(v, int) and abs(v) > LARGEST_TARGET for v in given.tolist()]
        target = np.where(huge, np.inf, 0.0)
    check_consistent_length(X, target)
    too_large = ~(np.abs(target) <= LARGEST_TARGET)
    if too_large.any():
        row = int(np.argmax(too_large))
        raise ValueError(
            f"row {row}: y is {given[row]!s:.40}; targets beyond {LARGEST_TARGET:g} are refused, "
            "because their squares overflow: use larger units."
        )
    return target


def read_targets(X: Any, y: Any) -> NDArray[Any]:
    """Return the labels of the rows of X, (n,): strings, numbers or booleans, none missing."""
    refuse_masked(y)
    labels = plain_labels(column_or_1d(y, warn=True))
    if labels.dtype.kind in "fc":
        assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    check_consistent_length(X, labels)
    return np.asarray(labels)


def refuse_masked(y: Any) -> None:
    """Refuse targets that are masked: numpy would bring back what lies under the mask."""
    if np.ma.is_masked(y):
        row = int(np.argwhere(np.ma.getmaskarray(y))[0, 0])
        raise ValueError(
            f"Input y contains NaN: row {row} is masked. Drop such rows, or fill in their targets."
        )


def check_weighted_classes(labels: NDArray[Any], weights: Floats | None) -> None:
    """Raise where no weight is left to all classes but one."""
    if weights is not None and len(np.unique(labels[weights > 0.0])) < 2:
        raise ValueError(
            "sample_weight leaves rows of fewer than two classes: give positive weights to rows of "
            "at least two classes."
        )


def plain_labels(labels: NDArray[Any], name: str = "y") -> NDArray[Any]:
    """Return labels of which none is missing; objects are all strings, or an array of numbers."""
    missing = missing_in(labels)
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(
            f"Input {name} contains NaN or None: row {row} has the label "
            f"{labels[row : row + 1].tolist()[0]!r}. Drop such rows, or fill in their labels."
        )
    if labels.dtype.kind != "O":
        return labels
    listed = labels.tolist()
    kinds = {_kind(label): label for label in listed}
    if len(kinds) > 1:
        shown = " and ".join(repr(label) for label in kinds.values())
        raise ValueError(
            f"{name} holds labels of different kinds, such as {shown}: give all of them as "
            "strings, or all as numbers."
        )
    return np.array(listed) if "numbers" in kinds else labels


def _kind(label: Any) -> str:
    if isinstance(label, str):
        return "strings"
    if isinstance(label, numbers.Real | np.bool_):
        return "numbers"
    return type(label).__name__


def check_labels(X: Any, y: Any) -> tuple[NDArray[Any], Int64]:
    """Return the sorted classes and each row's class number; at least two classes."""
    classes, labels = np.unique(read_targets(X, y), return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y holds 1 class only, {plain(classes[0])!r}; a classifier needs rows of at least two "
            "classes. Give more rows, or predict that class."
        )
    return classes, labels.astype(np.int64)


def plain(value: Any) -> Any:
    """Return a label as a Python object, so that messages show it as the user wrote it."""
    return value.item() if isinstance(value, np.generic) else value


def check_jobs(n_jobs: Any) -> None:
    """Raise unless `n_jobs` is None or a whole number other than 0."""
    whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (whole and n_jobs != 0):
        raise ValueError(
            f"n_jobs={n_jobs!r} must be None or a whole number other than 0; -1 stands for all "
            "processors."
        )


def count_threads(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` stands for; None is one."""
    check_jobs(n_jobs)
    return int(effective_n_jobs(n_jobs))


def fit_seed(estimator: Any) -> int:
    """Return a seed for everything random in one fit; a warm start keeps that of the first."""
    earlier = getattr(estimator, "_progress", None) if estimator.warm_start else None
    if earlier is not None:
        return int(earlier.seed)
    return int(read_random_state(estimator.random_state).randint(np.iinfo(np.int32).max))


def read_random_state(random_state: Any) -> np.random.RandomState:
    """Return the source of random numbers that `random_state` stands for."""
    try:
        return check_random_state(random_state)  # type: ignore[no-any-return]
    except ValueError:
        raise ValueError(
            f"random_state={random_state!r} must be None, a whole number from 0 to 4294967295, or "
            "a numpy.random.RandomState."
        ) from None


def check_learner(name: str, learner: Any) -> None:
    """Raise unless a parameter holds None or an estimator that can be cloned and can predict."""
    if learner is None:
        return
    if isinstance(learner, type):
        raise ValueError(
            f"{name}={learner.__name__} is a class: give an instance, {name}={learner.__name__}()."
        )
    lacking = [part for part in ("get_params", "fit") if not hasattr(learner, part)]
    if lacking:
        raise ValueError(
            f"{name}={learner!r} must be an estimator as scikit-learn's are, but it has no "
            f"{' and no '.join(lacking)}."
        )


def set_input_tags(tags: Any, learners: Iterable[Any]) -> None:
    """Set the tags of tables: those that all learners accept, which get them unchanged.

    None stands for our own, which take every kind; one without tags takes plain tables alone.
    """
    theirs = [
        get_tags(learner).input_tags if hasattr(learner, "__sklearn_tags__") else InputTags()
        for learner in learners
        if learner is not None
    ]
    for kind in ("allow_nan", "sparse", "categorical", "string"):
        setattr(tags.input_tags, kind, all(getattr(own, kind) for own in theirs))


def check_choice(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Raise unless a parameter has one of the values allowed."""
    known = not isinstance(value, np.ndarray)  # whose == is no answer
    if not known or not any(value is choice or value == choice for choice in allowed):
        listed = ", ".join(repr(choice) for choice in allowed)
        raise ValueError(f"{name}={value!r} is not known; allowed: {listed}.")


def check_number(
    name: str,
    value: Any,
    *,
    low: float,
    high: float = float("inf"),
    whole: bool = False,
    open_low: bool = False,
) -> None:
    """Raise unless a parameter is a finite number within [low, high] (or ]low, high])."""
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    fits = isinstance(value, kinds) and not isinstance(value, bool | np.bool_)
    fits = fits and (low < value if open_low else low <= value) and value <= high
    # An int may be larger than any float; to compare a float32 with the largest would overflow.
    endless = fits and (value > sys.float_info.max if isinstance(value, int) else isinf(value))
    if not fits or endless:
        kind = "a whole number" if whole else "a finite number" if endless else "a number"
        lower = f"above {low:g}" if open_low else f"at least {low:g}"
        upper = "" if high == float("inf") else f" and at most {high:g}"
        raise ValueError(f"{name}={value!r} must be {kind} {lower}{upper}.")


def count_features(max_features: Any, n_features: int) -> int | None:
    """Return how many columns a node may look at; None is all of them."""
    if max_features is None:
        return None
    if isinstance(max_features, str):
        check_choice("max_features", max_features, ("sqrt", "log2"))
    if isinstance(max_features, str) and max_features == "sqrt":
        return max(1, int(np.sqrt(n_features)))
    if isinstance(max_features, str):
        return max(1, int(np.log2(n_features)))
    if isinstance(max_features, float | np.floating):
        check_number("max_features", max_features, low=0.0, high=1.0, open_low=True)
        return max(1, int(max_features * n_features))
    check_number("max_features", max_features, low=1, whole=True)
    return min(int(max_features), n_features)


# The version that wrote a pickle: estimators carry it, and warn of a newer one.

_VERSION_NAME = "_costboost_version"


class VersionedState:
    """Stores the library's version in the state of an estimator, and checks it on loading.

    Examples
    --------
    >>> from costboost import CostBoostClassifier
    >>> state = CostBoostClassifier().__getstate__()
    >>> state["_costboost_version"] == __version__
    True
    """

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {**state, _VERSION_NAME: __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        held = dict(state)
        version = held.pop(_VERSION_NAME, None)
        if isinstance(version, str) and parse_version(version) > parse_version(__version__):
            warn_caller(
                f"This {type(self).__name__} was written by costboost {version}, and this is "
                f"costboost {__version__}: it may be misread. Upgrade costboost, or write the "
                "model with the older version."
            )
        restore = getattr(super(), "__setstate__", self.__dict__.update)
        restore(held)
