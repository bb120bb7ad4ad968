"""
Training on costs, or deciding by them
======================================

Two ways to spend less. `GradientBoostClassifier(loss="expected-cost")` puts the prices into the
loss: every tree is grown to lower the cost of the training rows. The default puts them into the
decision only: it learns what is likely, and takes the cheapest action. Both are tested on payments
that neither has seen.
"""

import matplotlib.pyplot as plt
import numpy as np

from costboost import CostBoostClassifier, Costs, GradientBoostClassifier
from costboost.datasets import make_card_fraud
from costboost.plots import PolicyDisplay

payments = make_card_fraud(12_000, fraud_rate=0.03, random_state=0)  # made up
words = np.where(payments.y == 1, "fraud", "honest")
X, y = payments.X[:6000], words[:6000]
X_new, y_new = payments.X[6000:], words[6000:]
costs = Costs(fp=8, tp=8, fn="amount", positive="fraud")

models = {
    "expected cost": GradientBoostClassifier("expected-cost", costs=costs, random_state=0),
    "log loss": GradientBoostClassifier("log", costs=costs, random_state=0),
    "CostBoostClassifier": CostBoostClassifier(costs=costs, random_state=0),
}
policies = {"investigate nothing": np.full(len(y_new), "honest")}
for name, model in models.items():
    policies[name] = model.fit(X, y).predict(X_new)

# %%
# A model that was trained on one price list contains it, and has to be trained again for another.
# The other two can be used at any prices.

PolicyDisplay.from_decisions(
    y_new,
    policies,
    costs=costs.bind_table(X_new),
    baseline="investigate nothing",
    currency="EUR",
)
plt.show()
