"""
How many investigators?
=======================

Investigations are limited: somebody has to make them. The rows that are expected to gain most take
the places first. This example draws what 6,000 payments cost against the number of places, paid and
expected; the slope is what one more place would save.
"""

import matplotlib.pyplot as plt
import numpy as np

from costboost import CostBoostClassifier, Costs
from costboost.datasets import make_card_fraud
from costboost.plots import CapacityDisplay

payments = make_card_fraud(12_000, fraud_rate=0.03, random_state=0)  # made up
words = np.where(payments.y == 1, "fraud", "honest")
X, y = payments.X[:6000], words[:6000]
X_new, y_new = payments.X[6000:], words[6000:]
costs = Costs.of_actions({"let pass": {"honest": 0, "fraud": "amount"}, "investigate": 8})
model = CostBoostClassifier(random_state=0).fit(X, y, costs=costs)

display = CapacityDisplay.from_estimator(
    model, X_new, y_new, action="investigate", currency="EUR", name="model"
)
plt.show()

# %%
# The shadow price falls as places are added: the first investigations are worth many times their 8
# euros. Where it has fallen to nothing, more people save no more money. (What was paid lies above
# what was expected: a few large frauds that nothing gave away make the difference.)

for places in (0, 25, 50, 100, 200, 400):
    print(
        f"{places:>4} places: one more is expected to save {display.shadow_price(places):7.2f} EUR"
    )
