"""A fitted model as what Spark calls with batches: the answers of the same model in memory."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyspark")

import pyarrow as pa

from costboost import CostBoostClassifier, Costs
from costboost.spark import SparkCostBoostClassifier, SparkCostBoostModel
from costboost.spark.frame_columns import FrameColumns
from costboost.spark.model import PredictColumns, _refuse_taken
from spark_rows import PRICES, TABLE, VECTOR, answers_of

ALL = ("probability", "prediction", "expected_cost")
COLUMNS = FrameColumns(("count", "colour"), None, prices=("amount",))


def fit(labels):
    local = CostBoostClassifier("adamec", n_estimators=3, cv=2, random_state=0)
    costs = Costs(fp=1, fn=4, positive=labels[1])
    return local.fit(TABLE[["count", "colour"]], labels, costs=costs)


def batch(rows=slice(None), columns=COLUMNS):
    table = pa.Table.from_pandas(TABLE[columns.all].iloc[rows], preserve_index=False)
    return [column.combine_chunks() for column in table.columns]


def test_new_prices_need_no_new_model(frame, fitted):
    assembler, model = fitted[1].stages
    vectors = assembler.transform(frame)
    dear = model.copy().setParams(costs=Costs(fp=1, fn=1000), expected_cost_col="cost")
    answers = answers_of(dear, vectors)
    matrix = TABLE[VECTOR].to_numpy(dtype=float)
    local, prices = model.to_local(), Costs(fp=1, fn=1000)
    assert answers["prediction"].tolist() == local.predict(matrix, costs=prices).tolist()
    expected = local.expected_cost(matrix, costs=prices).min(axis=1)
    assert answers["cost"].to_numpy().tobytes() == expected.tobytes()
    triage = Costs.from_matrix(
        [[0, 9, 2], [50, 0, 2]], classes=[0, 1], actions=["pass", "stop", "ask"]
    )
    asked = answers_of(model.copy().setParams(costs=triage, probability_col=""), vectors)
    assert "probability" not in asked
    assert asked["prediction"].tolist() == local.predict(matrix, costs=triage).tolist()


def test_methods_that_contain_their_costs_refuse_others(frame):
    classifier = SparkCostBoostClassifier(
        method="csb2", n_estimators=2, costs=PRICES, feature_cols=["count"], row_id_col="id"
    )
    model = classifier.fit(frame)
    local = model.to_local()
    answers = answers_of(model, frame)
    assert answers["prediction"].tolist() == local.predict(TABLE[["count"]]).tolist()
    with pytest.raises(ValueError, match="cannot decide by other costs"):
        model.copy().setParams(costs=Costs(fp=1, fn=1)).transform(frame)
    with pytest.raises(ValueError, match="cannot decide by other costs"):
        model.copy().setParams(expected_cost_col="cost").transform(frame)


@pytest.mark.parametrize(
    ("classes", "kind"),
    [
        ([0, 1], "double"),
        ([2.0, 7.0], "double"),
        ([False, True], "boolean"),
        (["no", "yes"], "string"),
    ],
)
def test_decisions_have_the_type_of_labels_and_are_those_of_memory(classes, kind):
    labels = np.array([*classes, *np.array(classes)[TABLE["label"]][2:]])
    local = fit(labels)
    prices = Costs(fp=8, fn="amount", positive=classes[1]).bind(local.classes_)
    answers = PredictColumns(local, COLUMNS, prices, ALL)
    assert answers.schema == (f"probability array<double>, prediction {kind}, expected_cost double")
    found = answers(*batch())
    X, bound = TABLE[["count", "colour"]], prices.bind_table(TABLE)
    proba = np.stack(found.field("probability").to_pylist())
    assert proba.tobytes() == local.predict_proba(X).tobytes()
    assert found.field("prediction").to_pylist() == local.predict(X, costs=bound).tolist()
    cost = np.asarray(local.expected_cost(X, costs=bound)).min(axis=1)
    assert found.field("expected_cost").to_numpy().tobytes() == cost.tobytes()


def test_batches_do_not_matter_and_may_be_empty():
    answers = PredictColumns(fit(TABLE["label"].to_numpy()), COLUMNS, PRICES.bind([0, 1]), ALL)
    whole = answers(*batch())
    pieces = [answers(*batch(slice(a, b))) for a, b in ((0, 1), (1, 1), (1, 120), (120, None))]
    assert pieces[1].type == whole.type
    assert pa.concat_arrays(pieces).equals(whole)


def test_other_actions_are_decided_by_their_names():
    local = fit(TABLE["label"].to_numpy())
    triage = Costs.from_matrix(
        [[0, 9, 2], [50, 0, 2]], classes=[0, 1], actions=["pass", "stop", "ask"]
    )
    answers = PredictColumns(local, COLUMNS, triage.bind([0, 1]), ("prediction",))
    assert answers.schema == "prediction string"
    said = answers(*batch()).field("prediction").to_pylist()
    assert said == local.predict(TABLE[["count", "colour"]], costs=triage).tolist()
    assert set(said) <= {"pass", "stop", "ask"}


def test_a_model_that_answers_in_frames_costs_the_same():
    local = fit(TABLE["label"].to_numpy())
    plain = PredictColumns(local, COLUMNS, PRICES.bind([0, 1]), ("expected_cost",))(*batch())
    framed = local.set_output(transform="pandas")
    assert isinstance(framed.expected_cost(TABLE[["count", "colour"]]), pd.DataFrame)
    found = PredictColumns(framed, COLUMNS, PRICES.bind([0, 1]), ("expected_cost",))(*batch())
    assert found.equals(plain)


def test_columns_that_are_made_must_be_new():
    frame = SimpleNamespace(columns=["amount", "probability"])
    _refuse_taken(frame, {"prediction": "decision"})
    with pytest.raises(ValueError, match="probability_col='probability' is a column of the Data"):
        _refuse_taken(frame, {"prediction": "decision", "probability": "probability"})


def test_only_columns_with_names_are_made():
    model = SparkCostBoostModel(fit(TABLE["label"].to_numpy()))
    assert model._outputs() == {"probability": "probability", "prediction": "prediction"}
    model.setParams(probability_col="", prediction_col="do", expected_cost_col="cost")
    assert model._outputs() == {"prediction": "do", "expected_cost": "cost"}
    assert (model.numClasses, model.numFeatures) == (2, 2)


def test_a_model_that_was_never_fitted_says_so():
    with pytest.raises(ValueError, match="never fitted: fit a SparkCostBoostClassifier"):
        SparkCostBoostModel().to_local()
