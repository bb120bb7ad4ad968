"""
The same decisions in C and in ONNX
===================================

`to_c` writes a model as one file of C99 that needs nothing but `libm`, `to_onnx` as a graph
for any ONNX runtime. Prices are an input of both, so new prices need no new file. This example lets
a C compiler and onnxruntime answer the same rows as Python.
"""

import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.model_selection import train_test_split

from costboost import CostBoostClassifier, Costs
from costboost.datasets import load_breast_cancer
from costboost.deploy import to_c, to_onnx

tumours = load_breast_cancer(as_frame="numpy")  # of scikit-learn
X, X_new, y, y_new = train_test_split(
    tumours.X, tumours.y, test_size=0.5, stratify=tumours.y, random_state=0
)
model = CostBoostClassifier(costs=Costs(fp=1, fn=20, positive="malignant"), random_state=0)
model.fit(X, y)
in_python = model.predict_proba(X_new)[:, 1]

# %%
# In C a row is an array of doubles. The program reads rows and prints probabilities, as hexadecimal
# numbers so that no bit is lost.

folder = Path(tempfile.mkdtemp())
to_c(model, folder / "tumour.c", name="tumour")
(folder / "main.c").write_text(
    """
    #include <stdio.h>
    void tumour_probabilities(const double *row, double *probabilities);
    int main(void)
    {
        double row[30], p[2];
        for (;;) {
            for (int j = 0; j < 30; j++)
                if (scanf("%la", &row[j]) != 1)
                    return 0;
            tumour_probabilities(row, p);
            printf("%a\\n", p[1]);
        }
    }
    """,
    encoding="ascii",
)
program, sources = folder / "tumour", [folder / "main.c", folder / "tumour.c"]
subprocess.run(["cc", "-O2", "-std=c99", "-o", program, *sources, "-lm"], check=True)
text = "\n".join(" ".join(float(cell).hex() for cell in row) for row in X_new)
out = subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout
in_c = np.array([float.fromhex(line) for line in out.split()])
print("C gives the same bits:", np.array_equal(in_c, in_python))

# %%
# In ONNX numbers are float32 by default, and prices are an input of their own.

to_onnx(model, folder / "tumour.onnx")
session = onnxruntime.InferenceSession(folder / "tumour.onnx")
prices = np.asarray(model.costs_.bind(model.classes_)).reshape(1, 2, 2)
rows = X_new.astype(np.float32)
probabilities, _, decision = session.run(None, {"X": rows, "costs": prices})
as_float32 = model.predict_proba(rows)[:, 1]
print("ONNX decides the same:", np.array_equal(decision, model.predict(rows)))

# %%
# How far the answers are from Python's, on the same rows. Those of C are not far away: they are the
# same numbers.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.9), sharey=True, layout="constrained")
for ax, name, ours, theirs in (
    (axes[0], "C", in_python, in_c),
    (axes[1], "ONNX", as_float32, probabilities[:, 1]),
):
    ax.plot(ours, (theirs - ours) * 1e16, "o", color="#0072B2", markersize=4)
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set(
        xlabel="Probability in Python", title=f"{name}: at most {abs(theirs - ours).max():.1g} off"
    )
axes[0].set_ylabel("Difference (1e-16)")
plt.show()
