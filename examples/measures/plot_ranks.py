"""
Many methods on many tables
===========================

One table proves little. Methods are ranked on each of several tables, ranks are averaged, and bars
join methods that do not differ significantly (Demsar 2006). Here are twelve small simulated tables,
and prices at which a miss costs ten times a false alarm.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

from costboost import CostBoostClassifier
from costboost.metrics import mean_cost
from costboost.plots import CriticalDifferenceDisplay

costs = {"fp": 1, "fn": 10}
methods = ("adaboost", "adacost", "csb1", "csb2", "cgada", "adamec")

# %%
# Each row of `scores` is a table, each column a method; lower is better.

scores = np.zeros((12, len(methods)))
for i in range(12):
    X, y = make_classification(
        1500,
        10,
        n_informative=5,
        n_clusters_per_class=3,
        flip_y=0.05,
        class_sep=0.8,
        random_state=i,
    )
    for j, method in enumerate(methods):
        model = CostBoostClassifier(
            method, n_estimators=30, max_depth=2, cv=3, costs=costs, random_state=0
        )
        decided = model.fit(X[:750], y[:750]).predict(X[750:])
        scores[i, j] = mean_cost(y[750:], decided, costs=costs)

print("mean cost:", dict(zip(methods, scores.mean(axis=0).round(3).tolist(), strict=True)))

# %%
# AdaBoost knows nothing of prices, and is last on most tables. Where a bar joins methods, twelve
# tables are too few to say which of them is better.

CriticalDifferenceDisplay.from_scores(scores, names=list(methods))
plt.show()
