"""
Prices through a pipeline
=========================

The last step of a pipeline sees the table as the steps before it leave it: scaled, imputed, without
names. A price that is read there is no longer money. `CostColumns` reads the prices first, from
the table as it was given, and passes them on to the model.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from costboost import CostBoostClassifier, CostColumns, Costs, MinimumCostClassifier
from costboost.datasets import make_card_fraud
from costboost.plots import PolicyDisplay

payments = make_card_fraud(12_000, fraud_rate=0.03, random_state=0)  # made up
numbers, words = payments.X.select_dtypes("number"), np.where(payments.y == 1, "fraud", "honest")
X, y = numbers[:6000], words[:6000]
X_new, y_new = numbers[6000:], words[6000:]
costs = Costs(fp=8, tp=8, fn="amount", positive="fraud")

# %%
# With `drop=True` the amount is a price and no feature, for models that must not judge by it.

boosting = CostBoostClassifier("adamec", n_estimators=50, random_state=0)
pipeline = make_pipeline(SimpleImputer(), StandardScaler(), boosting)
models = {
    "AdaMEC": CostColumns(pipeline, costs),
    "AdaMEC without\nthe amount": CostColumns(pipeline, costs, drop=True),
}

# %%
# `MinimumCostClassifier` gives any classifier the same treatment: its probabilities are
# calibrated, and the cheapest decision is taken at the prices of the row. It reads the columns
# first, too.

logistic = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression())
forest = make_pipeline(SimpleImputer(), RandomForestClassifier(50, random_state=0))
models["logistic regression"] = MinimumCostClassifier(logistic, costs=costs, cv=3, random_state=0)
models["random forest"] = MinimumCostClassifier(forest, costs=costs, cv=3, random_state=0)

policies = {"investigate nothing": np.full(len(y_new), "honest")}
for name, model in models.items():
    policies[name] = model.fit(X, y).predict(X_new)

PolicyDisplay.from_decisions(
    y_new,
    policies,
    costs=costs.bind_table(X_new),
    baseline="investigate nothing",
    currency="EUR",
)
plt.show()
