"""
Rows that stay in their files
=============================

`ParquetTable` names files and what their columns are for; `fit` reads them in pieces and needs
no more memory than codes of one byte a cell, which may stay on disk. The model is that of the same
rows in memory, bit for bit, since all that is learnt from rows is a sum of integers.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from costboost import CostBoostClassifier, Costs, ParquetTable
from costboost.datasets import make_card_fraud

payments = make_card_fraud(20_000, fraud_rate=0.03, as_frame="pandas", random_state=0)  # made up
rows = payments.X.assign(fraud=payments.y, payment=np.arange(20_000))
folder = Path(tempfile.mkdtemp())
for i in range(4):  # as a warehouse would write them, in files of many pieces
    part = rows[5000 * i : 5000 * (i + 1)]
    part.to_parquet(folder / f"payments-{i}.parquet", row_group_size=1000)

# %%
# Three files to learn from, the last to decide about. Prices are read from columns, in the files.

costs = Costs(fp=8, tp=8, fn="amount")
table = ParquetTable(
    [folder / f"payments-{i}.parquet" for i in range(3)],
    label="fraud",
    costs=costs,
    row_id="payment",
    progress=False,
)
print(table)
how = {"n_estimators": 50, "cv": 3, "random_state": 0}
model = CostBoostClassifier("adamec", **how).fit(table)

in_memory = CostBoostClassifier("adamec", **how)
in_memory.fit(payments.X[:15_000], payments.y[:15_000], costs=costs)
X_new = payments.X[15_000:]
print(np.array_equal(model.predict_proba(X_new), in_memory.predict_proba(X_new)))

# %%
# Answers come in batches, in the order of the rows: no table of them is ever in memory.

new = ParquetTable(
    folder / "payments-3.parquet",
    features=list(payments.X.columns),
    row_id="payment",
    costs=costs,
    progress=False,
)
saved = [float((e[:, 0] - e.min(axis=1)).sum()) for e in model.expected_cost(new, batch_rows=500)]

figure, ax = plt.subplots(figsize=(6.8, 3.8), layout="constrained")
ax.bar(np.arange(len(saved)) + 1, saved, color="#0072B2")
ax.set(xlabel="Batch of 500 payments", ylabel="Expected to be saved (EUR)")
ax.set_xticks(np.arange(len(saved)) + 1)
ax.yaxis.set_major_formatter("{x:,.0f}")
ax.set_title("What investigations save, batch by batch", loc="left")
plt.show()
