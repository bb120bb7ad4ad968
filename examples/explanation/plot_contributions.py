"""
What moves the decisions?
=========================

One line for each column, one point for each row: how far the column moved the log odds of the row,
coloured by its value. The columns that move most are on top. These are Shapley values of the trees,
exact, also for categories and missing values.
"""

import matplotlib.pyplot as plt
import numpy as np

from costboost import CostBoostClassifier
from costboost.datasets import make_card_fraud
from costboost.plots import ContributionsDisplay

payments = make_card_fraud(6000, fraud_rate=0.03, random_state=0)  # made up
X, y = payments.X[:3000], payments.y[:3000]
X_new = payments.X[3000:]
model = CostBoostClassifier("adamec", n_estimators=60, max_depth=2, random_state=0).fit(X, y)

ContributionsDisplay.from_estimator(model, X_new[:1000])
plt.show()

# %%
# Contributions add up to `decision_function`, row by row, so nothing is hidden in a remainder.

added = model.contributions(X_new)
print(added)
print(np.allclose(added.total, model.decision_function(X_new)))

# %%
# One column alone, against its values: where the lines of the trees run.

ratio = list(added.columns).index("amount_to_usual")
figure, ax = plt.subplots(figsize=(6.8, 4), layout="constrained")
for label, marker, color in ((0, "o", "#0072B2"), (1, "^", "#D55E00")):
    rows = payments.y[3000:] == label
    name = {0: "honest", 1: "fraud"}[label]
    ax.plot(
        X_new["amount_to_usual"][rows],
        added.values[rows, ratio],
        marker,
        color=color,
        markersize=4,
        alpha=0.6,
        label=name,
    )
ax.set(xscale="log", xlabel="Amount, as a multiple of the customer's usual one")
ax.set(ylabel="Added to the log odds of fraud")
ax.xaxis.set_major_formatter("{x:g}")
ax.legend(frameon=False)
plt.show()
