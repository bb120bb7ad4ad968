"""
Pass, call or block: actions that are not classes
=================================================

A payment is honest or a fraud, but there are three things to do about it. `Costs.of_actions` says
what each of them costs where each class is true, and the model takes the action whose expected cost
is lowest, for every payment at its own amount.
"""

import matplotlib.pyplot as plt
import numpy as np

from costboost import CostBoostClassifier, Costs
from costboost.costs import expression
from costboost.datasets import make_card_fraud

payments = make_card_fraud(12_000, fraud_rate=0.03, random_state=0)  # made up
X, y = payments.X[:6000], np.where(payments.y[:6000] == 1, "fraud", "honest")
X_new = payments.X[6000:]

# %%
# Letting a fraud pass costs its amount. A call costs 6 euros whatever is true. Blocking an honest
# customer costs 2 euros of goodwill and a tenth of the amount.

costs = Costs.of_actions(
    {
        "pass": {"honest": 0, "fraud": "amount"},
        "call": 6,
        "block": {"honest": expression("2 + 0.1 * amount"), "fraud": 0},
    }
)
print(costs.describe())

model = CostBoostClassifier(random_state=0).fit(X, y, costs=costs)
decided = model.predict(X_new)
print({str(action): int((decided == action).sum()) for action in ("pass", "call", "block")})

# %%
# The three actions as regions of probability and amount. The lines are where two actions cost the
# same; they follow from the prices alone, whatever the model. Small payments are never worth a
# call: they are passed, or blocked. Large ones are called about, unless they are all but certain.

amount = np.geomspace(0.5, 5000, 400)
probability = np.geomspace(5e-4, 1, 400)
P, A = np.meshgrid(probability, amount)
cheapest = np.argmin([P * A, np.full_like(P, 6), (1 - P) * (2 + 0.1 * A)], axis=0)

figure, ax = plt.subplots(figsize=(6.8, 4.8), layout="constrained")
ax.contour(P, A, cheapest == 0, [0.5], colors="black", linewidths=1)
ax.contour(P, A, cheapest == 1, [0.5], colors="black", linewidths=1)
fraud = model.predict_proba(X_new)[:, list(model.classes_).index("fraud")]
styles = {"pass": ("o", "#0072B2"), "call": ("s", "#E69F00"), "block": ("^", "#D55E00")}
for action, (marker, color) in styles.items():
    here = decided == action
    label = f"{action}: {here.sum():,}"
    points = {"s": 9, "color": color, "marker": marker, "linewidths": 0}
    ax.scatter(fraud[here], X_new["amount"][here], label=label, **points)
ax.set(xscale="log", yscale="log", xlabel="Probability of fraud", ylabel="Amount (EUR)")
ax.xaxis.set_major_formatter("{x:g}")
ax.yaxis.set_major_formatter("{x:,.0f}")
ax.set(xlim=(probability[0], 1), ylim=(amount[0], amount[-1]))
ax.set_title("The cheapest of three actions, payment by payment", loc="left")
ax.legend(frameon=True, markerscale=2, loc="lower left")
plt.show()
