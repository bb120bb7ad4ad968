"""
What equal rates would cost, and whom
=====================================

Payments online and in shops are not stopped equally often. This example measures what it would
cost if they had to be: for all, and for each channel. Whether they should be is not for a program
to say.
"""

import matplotlib.pyplot as plt

from costboost import CostBoostClassifier, Costs
from costboost.datasets import make_card_fraud
from costboost.decisions import Parity
from costboost.plots import FairnessFrontierDisplay

payments = make_card_fraud(8000, fraud_rate=0.03, random_state=0)  # made up
X, y = payments.X, payments.y
costs = Costs(fp=8, tp=8, fn="amount")
model = CostBoostClassifier("adamec", 50, random_state=0).fit(X[:4000], y[:4000], costs=costs)

# %%
# The share of honest payments that is stopped, by channel: each payment counts by its probability
# of being honest, because that is what is known when decisions are made.

X_new = X[4000:]
plan = model.decide(X_new, parity=Parity("channel", of="blocked", within=0.01))
print(plan)

# %%
# From left to right the shares may differ less and less. Above zero a channel pays, below it gains.

FairnessFrontierDisplay.from_estimator(
    model, X_new, Parity("channel", of="blocked"), currency="EUR"
)
plt.show()
