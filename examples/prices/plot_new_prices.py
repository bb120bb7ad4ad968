"""
New prices, the same model
==========================

Prices change more often than the data do: a new provider makes investigations cheaper, a busy
season makes them more costly. The model is trained once. New prices are given when it decides, and
nothing has to be trained again.
"""

import matplotlib.pyplot as plt
import numpy as np

from costboost import CostBoostClassifier, Costs
from costboost.datasets import make_card_fraud
from costboost.metrics import total_cost

payments = make_card_fraud(12_000, fraud_rate=0.03, random_state=0)  # made up
X, y = payments.X[:6000], payments.y[:6000]
X_new, y_new = payments.X[6000:], payments.y[6000:]
model = CostBoostClassifier(random_state=0).fit(X, y, costs=Costs(fp=8, tp=8, fn="amount"))

# %%
# What does an investigation have to cost before the model makes fewer of them? We decide and pay at
# sixteen prices, from half a euro to 500 euros.

prices = np.geomspace(0.5, 500, 16)
paid, investigated, nothing, everything = [], [], [], []
for price in prices:
    costs = Costs(fp=price, tp=price, fn="amount").bind_table(X_new)
    decided = model.predict(X_new, costs=costs)
    paid.append(total_cost(y_new, decided, costs=costs))
    investigated.append(decided.sum())
    nothing.append(total_cost(y_new, 0 * y_new, costs=costs))
    everything.append(total_cost(y_new, 0 * y_new + 1, costs=costs))

# %%
# At every price the model should stay below the better of the two answers that need no model: let
# everything pass, or investigate everything. Where an investigation costs more than nearly any
# payment, there is little left to decide, and the curves meet.

figure, (top, bottom) = plt.subplots(2, sharex=True, figsize=(6.8, 6), layout="constrained")
top.plot(prices, paid, "o-", color="#0072B2", label="the model, trained once")
top.plot(prices, nothing, "--", color="#767676", label="investigate nothing")
top.plot(prices, everything, ":", color="#767676", label="investigate everything")
top.axvline(8, color="black", linewidth=0.8)
top.text(8.4, 1.15 * min(paid), "price of training", fontsize="small")
top.set(xscale="log", yscale="log", ylim=(0.9 * min(paid), 3 * max(nothing)), ylabel="Paid (EUR)")
top.legend(frameon=False)
bottom.plot(prices, investigated, "s-", color="#D55E00")
bottom.set(xlabel="Price of an investigation (EUR)", ylabel="Payments investigated", ylim=0)
top.xaxis.set_major_formatter("{x:g}")
for ax in (top, bottom):
    ax.yaxis.set_major_formatter("{x:,.0f}")
top.yaxis.set_ticks([2000, 5000, 10_000, 20_000, 50_000])
top.yaxis.set_minor_formatter("")
top.set_title(f"{len(y_new):,} payments, {y_new.sum()} frauds", loc="left")
plt.show()
