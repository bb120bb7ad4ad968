"""
The AdaBoost family, side by side
=================================

The published methods differ in where prices enter: in the first weights (CGAda), a part of it in
every round (AsymAda), in the updates of the weights (CSB2, AdaCost), or only in the decision
(AdaMEC). All of them on one small table, where missing a positive costs five times a false alarm.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap

from costboost import CostBoostClassifier
from costboost.metrics import total_cost

rng = np.random.default_rng(0)
y = rng.integers(0, 2, 400)
X = rng.normal(size=(400, 2)) + np.where(y[:, None] == 1, [1.1, 0.9], [-0.8, -0.6])  # made up
costs = {"fp": 1, "fn": 5}
methods = ("adaboost", "cgada", "asymada", "adamec", "adacost", "csb2")

# %%
# Thirty rounds of trees of depth 2, each method by its own published rule. Where the background is
# orange, it answers "positive". (AdaMEC compares the share of votes with the prices, and shares of
# votes are no probabilities. That is why it is calibrated by default, but not here.)

models = {}
figure, axes = plt.subplots(2, 3, figsize=(9, 6), sharex=True, sharey=True, layout="constrained")
grid = np.stack(np.meshgrid(np.linspace(-3.5, 4, 150), np.linspace(-3.5, 4, 150)), axis=-1)
for ax, method in zip(axes.flat, methods, strict=True):
    model = CostBoostClassifier(
        method, n_estimators=30, max_depth=2, costs=costs, calibration=None, random_state=0
    ).fit(X, y)
    models[method] = model
    answers = model.predict(grid.reshape(-1, 2)).reshape(150, 150)
    ax.pcolormesh(*grid.T, answers.T, cmap=ListedColormap(["#DCEBF5", "#FBE3D0"]), vmin=0, vmax=1)
    ax.plot(*X[y == 0].T, "o", color="#0072B2", markersize=2.5)
    ax.plot(*X[y == 1].T, "^", color="#D55E00", markersize=3)
    ax.set(xlim=(-3.5, 4), ylim=(-3.5, 4))
    paid = total_cost(y, model.predict(X), costs=costs)
    ax.set_title(f"{method}: {paid:.0f} on these rows", loc="left", fontsize=10)
plt.show()

# %%
# The size of the steps. Those of AdaBoost and AdaMEC are the same: they train alike, and differ
# when they decide. Most fall as the easy rows are settled; CSB2, which multiplies by the price
# again at every mistake, keeps taking long ones.

figure, ax = plt.subplots(figsize=(6.8, 4.2), layout="constrained")
colors = ("#000000", "#0072B2", "#56B4E9", "#D55E00", "#009E73", "#CC79A7")
for (method, model), color, marker in zip(models.items(), colors, "osv^DX", strict=True):
    alphas = model.estimator_weights_
    ax.plot(
        np.arange(len(alphas)) + 1, alphas, color=color, marker=marker, markersize=4, label=method
    )
ax.set(xlabel="Round", ylabel="Step (alpha)", ylim=0)
ax.legend(frameon=False, ncols=2)
plt.show()

# %%
# What the next learner would see: the weights of the rows after the last round, as the area of
# their marks. AdaBoost's are exp(-margin), whatever a row costs. CGAda starts from the price of a
# row, and AsymAda multiplies by the 30th root of it in each of its thirty rounds.

price = np.where(y == 1, 5.0, 1.0)
sign = np.where(y == 1, 1.0, -1.0)
figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), sharex=True, sharey=True, layout="constrained")
for ax, method in zip(axes, ("adaboost", "cgada", "asymada"), strict=True):
    log_weight = -sign * models[method].decision_function(X)
    if method != "adaboost":
        log_weight += np.log(price)
    weight = np.exp(log_weight - log_weight.max())
    for label, marker, color in ((0, "o", "#0072B2"), (1, "^", "#D55E00")):
        rows = y == label
        size = 3000 * weight[rows] / weight.sum()
        ax.scatter(*X[rows].T, s=size, marker=marker, color=color, alpha=0.7, linewidths=0)
    ax.set_title(method, loc="left", fontsize=10)
plt.show()
