"""
What deciding by the probabilities costs
========================================

A cost curve lets every model choose its best threshold in hindsight. In practice the threshold
follows from the prices, and the probabilities are taken at face value. The Brier curve
(Hernandez-Orallo, Flach and Ferri 2011) draws what that costs at every ratio of prices; the area
under it is the Brier score.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from costboost import CostBoostClassifier, MinimumCostClassifier
from costboost.plots import BrierCurveDisplay

X, y = make_classification(
    4000, 15, n_informative=6, n_redundant=6, flip_y=0.1, weights=[0.8], random_state=0
)  # made up
X, X_new, y, y_new = X[:2000], X[2000:], y[:2000], y[2000:]

# %%
# Naive Bayes treats correlated columns as independent evidence, so it is far too confident.
# Calibration hardly changes its ranking, and repairs its probabilities.

models = {
    "naive Bayes": GaussianNB(),
    "naive Bayes, calibrated": MinimumCostClassifier(GaussianNB(), random_state=0),
    "CostBoostClassifier": CostBoostClassifier(random_state=0),
}
figure, ax = plt.subplots(figsize=(6.8, 5.4), layout="constrained")
for name, model in models.items():
    BrierCurveDisplay.from_estimator(model.fit(X, y), X_new, y_new, name=name, ax=ax)
plt.show()
