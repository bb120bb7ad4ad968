"""
Which threshold?
================

With constant prices and honest probabilities there is nothing to search: act above `fp / (fp +
fn)` (Elkan 2001). This example draws what every threshold would have cost on rows that the model
has not seen, with that one marked, and the one that was cheapest in hindsight.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from costboost import CostBoostClassifier, Costs
from costboost.datasets import load_breast_cancer
from costboost.plots import ThresholdCostDisplay

tumours = load_breast_cancer()  # of scikit-learn
X, X_new, y, y_new = train_test_split(
    tumours.X, tumours.y, test_size=0.5, stratify=tumours.y, random_state=0
)
costs = Costs(fp=1, fn=20, positive="malignant")

# %%
# The best threshold on these rows is known only afterwards, and chance has a part in it: a few
# tumours move it. What a model costs is what it costs at the threshold chosen before.

boosting = CostBoostClassifier(costs=costs, random_state=0).fit(X, y)
logistic = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)

how = {"costs": costs, "currency": "second looks", "xscale": "logit"}
display = ThresholdCostDisplay.from_estimator(boosting, X_new, y_new, name="boosting", **how)
ThresholdCostDisplay.from_estimator(
    logistic, X_new, y_new, name="logistic regression", ax=display.ax_, **how
)
plt.show()
