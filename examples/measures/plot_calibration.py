"""
Calibrations compared
=====================

The cheapest decision is only as good as the probability behind it. AdaBoost's own scores become
overconfident after many rounds; calibration maps them to observed frequencies. Reliability
diagrams of one method without calibration and with three: on the diagonal, of the rows that were
given 30 % a share of 30 % is positive.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification

from costboost import CostBoostClassifier
from costboost.metrics import brier_score
from costboost.plots import ReliabilityDisplay

X, y = make_classification(
    6000, 15, n_informative=6, n_clusters_per_class=3, flip_y=0.1, random_state=0
)  # made up
X, X_new, y, y_new = X[:3000], X[3000:], y[:3000], y[3000:]

# %%
# Half of these rows are positive, every twentieth label is wrong. The bars are intervals of what
# chance may do; the steps beneath count the rows at each probability.

figure, axes = plt.subplots(2, 2, figsize=(9, 9.5), layout="constrained")
for ax, calibration in zip(axes.flat, (None, "sigmoid", "isotonic", "temperature"), strict=True):
    model = CostBoostClassifier(
        "adaboost", n_estimators=200, max_depth=3, calibration=calibration, cv=3, random_state=0
    ).fit(X, y)
    name = calibration or "as published"
    ReliabilityDisplay.from_estimator(model, X_new, y_new, name=name, ax=ax)
    print(f"{name:<12} Brier score {brier_score(y_new, model.predict_proba(X_new)[:, 1]):.4f}")
plt.show()
