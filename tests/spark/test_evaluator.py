"""What decisions cost, as Spark counts it: the mean of what each row pays."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pyspark")

import pyarrow as pa

from costboost import Costs
from costboost.spark import CostEvaluator
from costboost.spark.model import _classes, _Paid
from spark_rows import PRICES, TABLE, answers_of


def test_decisions_are_judged_by_what_they_cost(frame, fitted, tmp_path):
    model = fitted[1]
    decided = model.transform(frame)
    answers = answers_of(model, frame)
    prices = PRICES.bind([0, 1]).bind_table(TABLE)
    paid = prices.of_decisions(TABLE["label"], answers["prediction"].astype(int))
    judge = CostEvaluator(costs=PRICES)
    assert judge.evaluate(decided) == pytest.approx(paid.mean(), rel=1e-12)
    assert not judge.isLargerBetter()
    judge.setParams(weight_col="weight").save(f"{tmp_path}/judge")
    weighted = CostEvaluator.load(f"{tmp_path}/judge").evaluate(decided)
    assert weighted == pytest.approx(np.average(paid, weights=TABLE["weight"]), rel=1e-12)
    with pytest.raises(ValueError, match="costs names 'price', which is no column"):
        CostEvaluator(costs=Costs(fp=1, fn="price")).evaluate(decided)


def test_every_decision_costs_its_cell_at_the_price_of_its_row():
    paid = _Paid(PRICES.bind([0, 1]), ("amount",))
    labels, said = pa.array([0, 0, 1, 1, 1]), pa.array([0.0, 1.0, 0.0, 1.0, 0.0])
    found = paid(labels, said, pa.array([1e300, 2.0, 3.5, 4.0, 1e-300]))
    assert found.to_pylist() == [0.0, 8.0, 3.5, 0.0, 1e-300]


def test_actions_that_are_no_labels_have_their_own_price():
    triage = Costs.from_matrix(
        [[0, 9, 2], [50, 0, 2]], classes=["no", "yes"], actions=["pass", "stop", "ask"]
    )
    paid = _Paid(triage.bind(["no", "yes"]), ())
    found = paid(pa.array(["no", "yes", "no", "yes"]), pa.array(["stop", "pass", "ask", "stop"]))
    assert found.to_pylist() == [9.0, 50.0, 2.0, 0.0]


def test_a_batch_without_rows_costs_nothing():
    paid = _Paid(PRICES.bind([0, 1]), ("amount",))
    found = paid(pa.array([], pa.int64()), pa.array([], pa.float64()), pa.array([], pa.float64()))
    assert (found.type, len(found)) == (pa.float64(), 0)


class Frame:
    """A DataFrame of one column, of which only distinct values are asked for."""

    def __init__(self, *values):
        self.values = values

    def select(self, name):
        assert name == "`the.label`"
        return self

    def distinct(self):
        return SimpleNamespace(collect=lambda: [(value,) for value in set(self.values)])


def test_classes_are_the_labels_that_there_are():
    assert _classes(Frame("b", "a", "c", "a"), "the.label") == ["a", "b", "c"]
    with pytest.raises(ValueError, match=r"label_col='the\.label' is null in some rows"):
        _classes(Frame(1, None, 0), "the.label")
    with pytest.raises(ValueError, match=r"label_col='the\.label' has no rows"):
        _classes(Frame(), "the.label")


def test_columns_that_are_not_there_are_refused_before_any_work():
    frame = SimpleNamespace(columns=["label", "prediction"])
    for given, message in (
        ({"label_col": "fraud"}, "label_col names 'fraud'"),
        ({"prediction_col": "said"}, "prediction_col names 'said'"),
        ({"weight_col": "w"}, "weight_col names 'w'"),
        ({"costs": PRICES}, "costs names 'amount'"),
        ({"costs": Costs(fp=1, fn=np.ones(3))}, "prices of 3 rows"),
    ):
        with pytest.raises(ValueError, match=message):
            CostEvaluator(**given)._evaluate(frame)
