"""
What another policy would have cost
===================================

Loans that were declined have no outcome. A bill of the accepted ones alone says that lending to
more people costs little. Weighted by how likely each was to be accepted, they stand for all; and
where nobody was ever accepted, no estimate is made, but bounds.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from costboost import Costs
from costboost.metrics import policy_cost, total_cost

rng = np.random.default_rng(0)

# %%
# Ten thousand applicants, made up. The bank accepted by a score and by some chance, which it has
# logged; applicants with a score above 0.9 it never accepted. Lending to one who defaults costs 10,
# declining one who does not costs 2.

n = 10_000
score = rng.uniform(size=n)
y = (rng.uniform(size=n) < 0.03 + 0.6 * score**2).astype(int)
chance = np.where(score > 0.9, 0.0, expit(5 - 8 * score))
accepted = rng.uniform(size=n) < chance
seen = np.where(accepted, y, np.nan)
costs = Costs.of_actions({"lend": {0: 0, 1: 10}, "decline": {0: 2, 1: 0}})

# %%
# Policies that lend up to a cut: what each would have cost in truth, from the accepted rows alone,
# and by ``policy_cost``.

cuts = np.linspace(0.1, 1.0, 19)
truth, alone, found = [], [], []
for cut in cuts:
    decided = np.where(score < cut, "lend", "decline")
    truth.append(total_cost(y, decided, costs=costs))
    alone.append(total_cost(y[accepted], decided[accepted], costs=costs) / accepted.mean())
    found.append(policy_cost(seen, decided, costs=costs, propensity=chance))
print(found[-1])

# %%
# The shaded interval follows the truth; it widens where more is estimated, and further where nobody
# knows. For lending to everybody, the accepted rows alone promise little more than half the bill.

low, high = (np.array([getattr(f, end) for f in found]) for end in ("low", "high"))
figure, axes = plt.subplots(figsize=(6.8, 4.4), layout="constrained")
axes.axvspan(0.9, 1.0, color="#999999", alpha=0.2, linewidth=0, label="never accepted")
axes.fill_between(cuts, low, high, color="#56B4E9", alpha=0.4, linewidth=0, label="policy_cost")
axes.plot(cuts, truth, color="black", label="truth")
axes.plot(cuts, alone, color="#D55E00", linestyle="--", label="accepted rows alone")
axes.set(xlabel="Lend to scores below", ylabel="Bill (EUR)", ylim=(0, None))
axes.set_title("What lending to more people would have cost", loc="left")
axes.legend(frameon=False, loc="upper left")
plt.show()
