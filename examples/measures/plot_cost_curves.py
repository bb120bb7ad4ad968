"""
Cost curves of many models
==========================

Which model is better depends on what mistakes cost. A cost curve (Drummond and Holte 2006) draws
the lowest cost that a model's ranking allows, for all ratios of prices at once; below the grey
triangle it is worth having.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from costboost import CostBoostClassifier
from costboost.plots import CostCurveDisplay

X, y = make_classification(
    4000, 15, n_informative=6, n_clusters_per_class=3, flip_y=0.1, weights=[0.8], random_state=0
)  # made up
X, X_new, y, y_new = X[:2000], X[2000:], y[:2000], y[2000:]

models = {
    "CostBoostClassifier": CostBoostClassifier(random_state=0),
    "random forest": RandomForestClassifier(100, random_state=0),
    "AdaBoost, stumps": AdaBoostClassifier(random_state=0),
    "logistic regression": LogisticRegression(),
    "naive Bayes": GaussianNB(),
}

costs = {"fp": 1, "fn": 4}  # marked on the curves
# %%
# To the left positives are rare or cheap to miss, to the right common or costly to miss. Where
# curves cross, the better model changes with the prices.

figure, ax = plt.subplots(figsize=(6.8, 6.2), layout="constrained")
for name, model in models.items():
    CostCurveDisplay.from_estimator(model.fit(X, y), X_new, y_new, costs=costs, name=name, ax=ax)
plt.show()
