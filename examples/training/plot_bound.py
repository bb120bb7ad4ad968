"""
The bound on the training cost
==============================

AdaCost and CGAda come with a theorem: the cost of their mistakes on the training rows is at most a
bound that shrinks with every round. `train_cost_` and `cost_bound_` hold both.
"""

import matplotlib.pyplot as plt

from costboost import CostBoostClassifier, Costs
from costboost.datasets import make_card_fraud
from costboost.plots import TrainingCostDisplay

payments = make_card_fraud(4000, fraud_rate=0.03, random_state=0)  # made up
costs = Costs(fp=8, fn="amount")
how = {"n_estimators": 100, "max_depth": 2, "calibration": None, "costs": costs, "random_state": 0}

# %%
# The bound holds on the training rows, and says nothing about others.

figure, ax = plt.subplots(figsize=(6.8, 5), layout="constrained")
for method in ("cgada", "adacost"):
    model = CostBoostClassifier(method, **how).fit(payments.X, payments.y)
    TrainingCostDisplay.from_estimator(model, name=method, currency="EUR", ax=ax)
plt.show()
