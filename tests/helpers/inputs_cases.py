"""Estimators of every kind, and the rows that they are given, for the tests of inputs."""

from sklearn.tree import DecisionTreeClassifier

from costboost import (
    CostBoostClassifier,
    CostingClassifier,
    GradientBoostClassifier,
    MetaCostClassifier,
    MinimumCostClassifier,
    PNormBoostClassifier,
)
from family import problem

TREE = DecisionTreeClassifier(max_depth=2, random_state=0)
BOOSTERS = {
    "auto": lambda: CostBoostClassifier(n_estimators=10, cv=2, random_state=0),
    "adamec": lambda: CostBoostClassifier("adamec", 4, cv=2, random_state=0),
    "adacost": lambda: CostBoostClassifier("adacost", 4, random_state=0),
    "csada": lambda: CostBoostClassifier("csada", 4, random_state=0),
    "outside": lambda: CostBoostClassifier("cgada", 4, TREE, calibration=None),
    "gradient": lambda: GradientBoostClassifier(n_estimators=4, min_samples_leaf=5),
    "cost-exponential": lambda: GradientBoostClassifier("cost-exponential", 4, min_samples_leaf=5),
    "pnorm": lambda: PNormBoostClassifier(n_estimators=4, random_state=0),
    "calibrated pnorm": lambda: PNormBoostClassifier(
        n_estimators=4, calibration="sigmoid", cv=2, random_state=0
    ),
}
WRAPPERS = {
    "metacost": lambda: MetaCostClassifier(TREE, 4, random_state=0),
    "costing": lambda: CostingClassifier(TREE, 4, random_state=0),
    "minimum cost": lambda: MinimumCostClassifier(TREE, cv=2, random_state=0),
}
CLASSIFIERS = {**BOOSTERS, **WRAPPERS}
BUILT_IN = [name for name in BOOSTERS if name != "outside"]
N = 60
X, Y = problem(n=N)
