"""
How far down the list?
======================

A savings curve draws the money that is saved when the top share of the rows is acted on. What is on
top depends on how rows are ranked: by how likely a fraud is, or by what an investigation is
expected to save, which counts the amount as well.
"""

import matplotlib.pyplot as plt

from costboost import CostBoostClassifier, Costs
from costboost.datasets import make_card_fraud
from costboost.plots import SavingsCurveDisplay

payments = make_card_fraud(12_000, fraud_rate=0.03, random_state=0)  # made up
X, y = payments.X[:6000], payments.y[:6000]
X_new, y_new = payments.X[6000:], payments.y[6000:]
costs = Costs(fp=8, tp=8, fn="amount")
model = CostBoostClassifier(random_state=0).fit(X, y, costs=costs)

# %%
# The same model, the same probabilities, two lists. Ranked by what can be saved, the first few
# dozen payments already save most of the money. The disc is the best place to stop, known only in
# hindsight; the diamond is where the model stops by itself.

figure, ax = plt.subplots(figsize=(6.8, 5.2), layout="constrained")
for name, rank_by in (("by amount at risk", "saving"), ("by probability", "score")):
    SavingsCurveDisplay.from_estimator(
        model, X_new, y_new, costs=costs, rank_by=rank_by, name=name, currency="EUR", ax=ax
    )
plt.show()
