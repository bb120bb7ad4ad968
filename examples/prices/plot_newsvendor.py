"""
How many loaves, at any price
=============================

A baker orders for four shops. A loaf that is left over costs a euro; a customer who finds none
costs the margin, which differs from shop to shop. `MinimumCostRegressor` learns the distribution of
the demand once, without prices.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from costboost import MinimumCostRegressor, NumberCosts
from costboost.metrics import mean_number_cost
from costboost.plots import NumberCostDisplay, QuantileCalibrationDisplay

rng = np.random.default_rng(0)
n = 6000  # days and shops, made up: some shops are harder to foresee than others
X = pd.DataFrame({"shop": rng.integers(0, 4, n), "weekday": rng.integers(0, 6, n)})
X["degrees"] = rng.normal(14, 8, n).round(1)
busy = np.where(X["weekday"] == 5, 220, 120) + 3 * X["degrees"].clip(0, 25) + 20 * X["shop"]
steady = np.array([80, 40, 12, 5])[X["shop"]]
y = rng.negative_binomial(steady, steady / (steady + busy))
X["margin"] = np.array([0.5, 1.0, 3.0, 9.0])[X["shop"]]
X, X_new, y, y_new = X[:4500], X[4500:], y[:4500], y[4500:]

model = MinimumCostRegressor(random_state=0).fit(X, y)
bread = NumberCosts(under="margin", over=1)

# %%
# What the orders cost, were all of them higher or lower. Those for these prices lie near the bottom
# of their curve; the forecast of the mean does not.

orders, own = model.predict(X_new, costs=bread), bread.bind_table(X_new)
figure, ax = plt.subplots(figsize=(6.8, 4.4), layout="constrained")
euros = {"costs": own, "currency": "EUR", "ax": ax}
NumberCostDisplay.from_predictions(y_new, orders, name="the cheapest numbers", **euros)
NumberCostDisplay.from_predictions(y_new, model.predict(X_new), name="the mean", **euros)
plt.show()

# %%
# Orders are only as good as the quantiles that they are: a share p of the new days should lie up to
# the quantile of level p.

QuantileCalibrationDisplay.from_estimator(model, X_new, y_new)
plt.show()

# %%
# Flour becomes dearer, and the supplier asks 60 euros extra where more than a tenth is sent back.
# The same model answers.

dearer = NumberCosts(under="margin", over=1.6, over_steps={"10%": 60}).bind_table(X_new)
for name, numbers in {
    "new orders": model.predict(X_new, costs=dearer),
    "orders as before": orders,
}.items():
    print(f"{name}: {mean_number_cost(y_new, numbers, costs=dearer):.1f} EUR a day and shop")
