"""Stages in folders: all Params come back, prices and models with them, and nothing runs."""

import pytest

pytest.importorskip("pyspark")

from pyspark.ml import Pipeline, PipelineModel

import costboost
from costboost import CostBoostClassifier, Costs
from costboost.costs import expression
from costboost.spark import CostEvaluator, SparkCostBoostClassifier, SparkCostBoostModel
from spark_rows import PRICES, TABLE, VECTOR, answers_of


def test_a_pipeline_and_its_model_come_back_from_a_folder(frame, fitted, tmp_path):
    pipeline, model = fitted
    pipeline.save(f"{tmp_path}/pipeline")
    model.save(f"{tmp_path}/model")
    again = Pipeline.load(f"{tmp_path}/pipeline").getStages()[-1]
    kept = pipeline.getStages()[-1]
    assert again.uid == kept.uid
    assert again.given_costs() == PRICES
    plain = {p.name: v for p, v in kept.extractParamMap().items() if p.name != "costs"}
    assert {p.name: v for p, v in again.extractParamMap().items() if p.name != "costs"} == plain
    loaded = PipelineModel.load(f"{tmp_path}/model")
    before, after = answers_of(model, frame), answers_of(loaded, frame)
    assert before["prediction"].tolist() == after["prediction"].tolist()
    assert before["probability"].tolist() == after["probability"].tolist()
    (path,) = tmp_path.glob("model/stages/1_*/model.costboost")
    matrix = TABLE[VECTOR].to_numpy(dtype=float)
    local = costboost.load(path)
    expected = local.predict(matrix, costs=PRICES.bind([0, 1]).bind_table(TABLE))
    assert before["prediction"].tolist() == expected.tolist()


def test_a_folder_is_read_by_its_own_class_and_overwritten_when_told(fitted, tmp_path):
    stage = fitted[1].stages[-1]
    stage.save(f"{tmp_path}/stage")
    with pytest.raises(Exception, match="already exists"):
        stage.save(f"{tmp_path}/stage")
    stage.write().overwrite().save(f"{tmp_path}/stage")
    assert SparkCostBoostModel.load(f"{tmp_path}/stage").numClasses == 2
    with pytest.raises(ValueError, match=r"holds a costboost\.spark\.model\.SparkCostBoostModel"):
        SparkCostBoostClassifier.load(f"{tmp_path}/stage")


@pytest.mark.parametrize(
    "costs",
    [
        None,
        {"fp": 1, "fn": 1e300},
        Costs(fp=2, fn=expression("0.5 * amount + 1"), positive="yes"),
        Costs.from_matrix([[0, 9, 2], [5, 0, 2]], classes=["a", "b"], actions=["x", "y", "z"]),
    ],
)
def test_prices_of_any_form_come_back(spark, tmp_path, costs):
    stage = SparkCostBoostClassifier(
        costs=costs, feature_cols=["a", "b"], learning_rate=0.1, max_depth=3, label_col="y"
    )
    stage.save(f"{tmp_path}/stage")
    again = SparkCostBoostClassifier.load(f"{tmp_path}/stage")
    assert again.given_costs() == stage.given_costs()
    assert again.isSet("costs") == (costs is not None)
    assert repr(again.local_estimator().get_params()) == repr(stage.local_estimator().get_params())
    assert again.feature_keywords() == stage.feature_keywords()
    assert (again.uid, again.getLabelCol()) == (stage.uid, "y")


def test_what_json_cannot_hold_goes_to_files_of_our_own():
    assert SparkCostBoostClassifier()._files() == {}
    (name,) = CostEvaluator(costs=PRICES)._files()
    assert name == "costs.costboost"
    local = CostBoostClassifier("adaboost")
    model = SparkCostBoostModel(local).setParams(costs=PRICES)
    files = model._files()
    assert sorted(files) == ["costs.costboost", "model.costboost"]
    assert files["model.costboost"] is local
    assert files["costs.costboost"].costs == PRICES


def test_a_model_that_was_never_fitted_is_not_written(spark, tmp_path):
    with pytest.raises(ValueError, match="never fitted"):
        SparkCostBoostModel().save(f"{tmp_path}/stage")
    assert list(tmp_path.iterdir()) == []
