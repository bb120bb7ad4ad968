"""
Who is decided differently by a new model
=========================================

Before a model replaces another, people ask who would be decided differently. On all other rows
nothing changes; so these rows are all that the new model saves, or costs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from costboost import CostBoostClassifier, Costs, MinimumCostClassifier
from costboost.datasets import make_card_fraud
from costboost.metrics import compare_decisions
from costboost.plots import SwapDisplay

payments = make_card_fraud(20_000, fraud_rate=0.03, random_state=0)  # made up
X = payments.X.select_dtypes("number").fillna(0)
y = payments.y
costs = Costs(fp=8, tp=8, fn="amount")

linear = make_pipeline(StandardScaler(), LogisticRegression())
old = MinimumCostClassifier(linear, random_state=0).fit(X[:10_000], y[:10_000])
new = CostBoostClassifier("adamec", 50, random_state=0).fit(X[:10_000], y[:10_000])

# %%
# 1 means that a payment is stopped. Both models are billed on rows that came later, by whether the
# payment was made at night.

X_new, y_new = X[10_000:], y[10_000:]
night = np.where(X_new["hour"] < 6, "night", "day")
swap = compare_decisions(old, new, X_new, y_new, costs=costs, groups=night)
print(swap)
SwapDisplay.from_swap(swap, currency="EUR")
plt.show()

# %%
# The largest of the differences, and why the new model decides as it does.

first = swap.largest[0]
print(f"row {first}: {swap.old[first]} -> {swap.new[first]}")
print(swap.explanations[0])
