"""Boosting that minimises what mistakes cost, not how many there are.

Names are imported when they are first used: the command line answers ``--help`` before
scikit-learn would have been read.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from costboost._version import __version__

if TYPE_CHECKING:
    from costboost.costs import Costs, FeatureCosts, NumberCosts
    from costboost.estimators.adaboost.classifier import CostBoostClassifier
    from costboost.estimators.gradient import GradientBoostClassifier, GradientBoostRegressor
    from costboost.estimators.pnorm import PNormBoostClassifier
    from costboost.estimators.wrappers import (
        CostColumns,
        CostingClassifier,
        GuaranteedClassifier,
        MetaCostClassifier,
        MinimumCostClassifier,
        MinimumCostRegressor,
        ParityClassifier,
        RateClassifier,
    )
    from costboost.files import ParquetTable
    from costboost.fitting.propensity import estimate_propensity
    from costboost.fitting.time_split import TimeSplit, known_labels
    from costboost.persistence import load, save
    from costboost.persistence.trusted import TRUSTED_TYPES
    from costboost.report import make_report
    from costboost.versions import show_versions

__all__ = [
    "Costs",
    "FeatureCosts",
    "NumberCosts",
    "CostBoostClassifier",
    "PNormBoostClassifier",
    "GradientBoostClassifier",
    "GradientBoostRegressor",
    "MinimumCostClassifier",
    "MinimumCostRegressor",
    "MetaCostClassifier",
    "CostingClassifier",
    "CostColumns",
    "RateClassifier",
    "GuaranteedClassifier",
    "ParityClassifier",
    "ParquetTable",
    "TimeSplit",
    "known_labels",
    "estimate_propensity",
    "TRUSTED_TYPES",
    "save",
    "load",
    "make_report",
    "show_versions",
    "__version__",
]

_HOMES = {
    "Costs": "costs",
    "FeatureCosts": "costs",
    "NumberCosts": "costs",
    "CostBoostClassifier": "estimators.adaboost.classifier",
    "PNormBoostClassifier": "estimators.pnorm",
    "GradientBoostClassifier": "estimators.gradient",
    "GradientBoostRegressor": "estimators.gradient",
    "MinimumCostClassifier": "estimators.wrappers",
    "MinimumCostRegressor": "estimators.wrappers",
    "MetaCostClassifier": "estimators.wrappers",
    "CostingClassifier": "estimators.wrappers",
    "CostColumns": "estimators.wrappers",
    "RateClassifier": "estimators.wrappers",
    "GuaranteedClassifier": "estimators.wrappers",
    "ParityClassifier": "estimators.wrappers",
    "ParquetTable": "files",
    "TimeSplit": "fitting.time_split",
    "known_labels": "fitting.time_split",
    "estimate_propensity": "fitting.propensity",
    "TRUSTED_TYPES": "persistence.trusted",
    "save": "persistence",
    "load": "persistence",
    "make_report": "report",
    "show_versions": "versions",
}
_PACKAGES = (
    "calibration",
    "costs",
    "datasets",
    "decisions",
    "deploy",
    "explain",
    "extend",
    "files",
    "guarantee",
    "metrics",
    "monitoring",
    "persistence",
    "plots",
    "report",
)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        found = getattr(import_module(f"costboost.{_HOMES[name]}"), name)
    elif name in _PACKAGES:
        found = import_module(f"costboost.{name}")
    else:
        raise AttributeError(f"module 'costboost' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})
