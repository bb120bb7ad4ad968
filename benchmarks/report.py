"""Size of a live report, and how long its page takes to decide and pay again, in a real browser.

    python benchmarks/report.py [--rows N] [--moves N] [--picture FILE]

The page of the card-fraud example: a price per row, today's decisions and the categories of two
columns for every row. A move sets a price and waits for all figures and pictures. The targets are
two megabytes and 50 milliseconds for 100,000 rows. Needs `apt-get install chromium` and
`pip install playwright`; `--picture` also writes the picture of the page that the README shows.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from costboost import CostBoostClassifier, Costs
from costboost.datasets import make_card_fraud
from costboost.report import Report, make_report

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browser import chromium, wait_until

READY = "window.costboostReport && window.costboostReport.ready"
MOVE = """value => new Promise(done => {
    const box = document.getElementById("v1");
    box.value = String(value);
    box.dispatchEvent(new Event("input"));
    requestAnimationFrame(() => requestAnimationFrame(() => done(costboostReport.milliseconds)));
})"""


def make(n_rows: int) -> Report:
    data = make_card_fraud(n_rows + 50_000)
    train, test = slice(50_000), slice(50_000, None)
    costs = Costs(fp=8, tp=8, fn="amount")
    model = CostBoostClassifier("adamec", max_depth=2, random_state=0)
    model.fit(data.X[train], data.y[train], costs=costs)
    X = data.X[test]
    return make_report(
        model,
        X,
        data.y[test],
        costs=costs,
        current=(np.asarray(X["amount"]) > 300).astype(int),
        groups="all",
        currency="\u20ac",
        names={0: "honest", 1: "fraud"},
        title="Which card payments should be investigated?",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--moves", type=int, default=40)
    parser.add_argument("--picture", type=Path)
    given = parser.parse_args()
    made = make(given.rows)
    print(f"{len(made.page_rows):,} rows ({made.page_rows.rounding}): "
          f"{len(made.html.encode()) / 1e6:.2f} MB (target: 2)")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, chromium(os.environ) as browser:
        path = made.save(Path(folder) / "report.html")
        page = browser.new_page(
            viewport={"width": 1200, "height": 1220},
            device_scale_factor=1.25 if given.picture else 1,
        )
        page.goto(path.as_uri())
        wait_until(page, READY)
        if given.picture:
            page.screenshot(path=given.picture)
        times = [page.evaluate(MOVE, 8 + 0.25 * k) for k in range(given.moves)]
    median, slow = np.quantile(times[5:], [0.5, 0.95])  # the first moves compile the script
    print(f"a move: {median:.0f} ms, 95% of them within {slow:.0f} ms (target: 50)")


if __name__ == "__main__":
    main()
