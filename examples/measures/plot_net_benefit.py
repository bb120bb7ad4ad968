"""
Decision curves: for whom a test is of use
==========================================

What a missed tumour is worth in needless operations differs from patient to patient. A decision
curve draws the net benefit of a model at every such ratio, beside treating everybody and nobody:
the model helps those whose threshold lies where its curve is on top.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from costboost import CostBoostClassifier, Costs
from costboost.datasets import load_breast_cancer
from costboost.metrics import net_benefit
from costboost.plots import NetBenefitDisplay

tumours = load_breast_cancer()  # 569 tumours of scikit-learn, "benign" or "malignant"
columns = ["mean texture", "mean smoothness"]  # two weak measurements
X, X_new, y, y_new = train_test_split(
    tumours.X[columns], tumours.y, test_size=0.5, stratify=tumours.y, random_state=0
)
missed = Costs(fp=1, fn=4, positive="malignant")

boosting = CostBoostClassifier("adamec", 30, random_state=0).fit(X, y, costs=missed)
linear = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
display = NetBenefitDisplay.from_estimator(
    boosting, X_new, y_new, costs=missed, standardized=True, name="boosting"
)
NetBenefitDisplay.from_estimator(
    linear, X_new, y_new, costs=missed, standardized=True, name="logistic", ax=display.ax_
)
plt.show()

# %%
# `fn` times the net benefit at ``fp / (fp + fn)`` is what treating by the model saves a patient,
# over treating nobody.

proba = boosting.predict_proba(X_new)[:, 1]  # of "malignant", the second class
_, benefit = net_benefit(y_new, proba, thresholds=[1 / 5], pos_label="malignant")
print(f"{4 * benefit[0]:.2f} needless operations' worth a patient")
