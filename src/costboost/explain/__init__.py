"""Why a model answers as it does.

Estimators with built-in trees offer it as methods: ``feature_importances_`` and ``importances``,
``contributions``, ``explain``, ``to_frame``, ``print_tree`` and ``to_shap``. Pictures are in
`costboost.plots`: `DecisionDisplay` and `ContributionsDisplay`.
"""

from costboost.explain.changes import Change
from costboost.explain.contributions import Contributions
from costboost.explain.decision import Explanation, Part
from costboost.explain.turning import Interval, TurningPrice

__all__ = ["Contributions", "Explanation", "Part", "Change", "Interval", "TurningPrice"]
