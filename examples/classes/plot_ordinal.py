"""
Five stages, and a price for every confusion
============================================

Where classes have an order, being off by two is worse than being off by one, and too low may be
worse than too high. A labelled matrix says so. The stages here are fifths of the progression of
diabetes a year later, in scikit-learn's table of 442 patients; the prices are made up.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_predict

from costboost import CostBoostClassifier, Costs
from costboost.metrics import cost_confusion_matrix

X, progression = load_diabetes(return_X_y=True, as_frame=True)
stages = ["I", "II", "III", "IV", "V"]
y = np.array(stages)[np.searchsorted(np.quantile(progression, [0.2, 0.4, 0.6, 0.8]), progression)]

# %%
# A stage too high costs 1 for each step, an unnecessary treatment; a stage too low 3 for each, an
# illness that is not treated. Rows are the truth, columns the decision.

i, j = np.indices((5, 5))
matrix = pd.DataFrame(np.where(j > i, j - i, 3 * (i - j)), index=stages, columns=stages)
print(matrix)
costs = Costs.from_matrix(matrix)

# %%
# Every patient is decided by a model that has not seen them. The same probabilities, decided twice:
# by the most probable stage, and by the lowest expected cost.

model = CostBoostClassifier(random_state=0)
proba = cross_val_predict(model, X, y, cv=3, method="predict_proba")
decided = {
    "most probable": np.array(stages)[proba.argmax(axis=1)],
    "lowest expected cost": costs.decide(proba),
}

figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.6), sharey=True, layout="constrained")
for ax, (name, answers) in zip(axes, decided.items(), strict=True):
    table = cost_confusion_matrix(y, answers, costs=costs)
    image = ax.imshow(table, cmap="cividis_r", vmin=0, vmax=90)
    for row, column in np.ndindex(5, 5):
        color = "white" if table[row, column] > 45 else "black"
        ax.text(column, row, f"{table[row, column]:.0f}", ha="center", va="center", color=color)
    ax.set(xticks=range(5), xticklabels=stages, yticks=range(5), yticklabels=stages)
    ax.set(xlabel="Decided", title=f"{name}: {table.sum():,.0f} in all")
axes[0].set_ylabel("True stage")
figure.colorbar(image, ax=axes, label="Paid for this confusion", shrink=0.8)
plt.show()
