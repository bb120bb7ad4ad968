"""
Stop when decisions get more costly
===================================

More rounds fit the training rows ever better, and other rows at some point worse. With
`n_iter_no_change` a share of the rows is held out, and training ends when these have not improved
for a while. What improves can be the cost of decisions or the log loss of the probabilities, and
the two need not agree.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification

from costboost import CostBoostClassifier, GradientBoostClassifier
from costboost.metrics import mean_cost
from costboost.plots import TrainingCostDisplay

X, y = make_classification(
    4000, 15, n_informative=6, n_clusters_per_class=3, flip_y=0.1, weights=[0.8], random_state=0
)  # made up
X, X_new, y, y_new = X[:2000], X[2000:], y[:2000], y[2000:]
costs = {"fp": 1, "fn": 8}

# %%
# The cost of decisions falls in steps, whenever a row is decided differently, so it is rough on few
# rows; the log loss depends on every row and is smoother.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
for ax, metric in ((left, "cost"), (right, "log_loss")):
    model = GradientBoostClassifier(
        "log",
        n_estimators=400,
        costs=costs,
        n_iter_no_change=40,
        validation_fraction=0.25,
        early_stopping_metric=metric,
        random_state=0,
    ).fit(X, y)
    TrainingCostDisplay.from_estimator(model, name=f"by {metric}", ax=ax)
    paid = mean_cost(y_new, model.predict(X_new), costs=costs)
    print(f"by {metric}: {model.n_iter_} rounds kept, {paid:.3f} a row on new rows")
plt.show()

# %%
# `CostBoostClassifier()` without a method stops by itself, by the log loss of the rows that its
# five folds hold out, and needs no rows of its own for that.

default = CostBoostClassifier(costs=costs, random_state=0).fit(X, y)
paid = mean_cost(y_new, default.predict(X_new), costs=costs)
print(f"the default: {default.n_iter_} rounds kept, {paid:.3f} a row on new rows")
