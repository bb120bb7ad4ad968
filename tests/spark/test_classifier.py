"""The estimator and its model as stages: Params, pipelines, searches, folders, refusals."""

import socket

import numpy as np
import pytest

pytest.importorskip("pyspark")

from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.evaluation import BinaryClassificationEvaluator, MulticlassClassificationEvaluator
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.linalg import SparseVector, VectorUDT
from pyspark.ml.tuning import CrossValidator, CrossValidatorModel, ParamGridBuilder
from pyspark.sql.types import StructField, StructType
from sklearn.metrics import roc_auc_score

import costboost
from costboost import CostBoostClassifier, Costs
from costboost.spark import CostEvaluator, SparkCostBoostClassifier, SparkCostBoostModel
from spark_rows import FEATURES, answers_of, make_rows, to_spark

PRICES = Costs(fp=8, fn="amount")
TABLE = make_rows(300)
NAMES = ["count", "amount"]


@pytest.fixture(scope="module")
def frame(spark):
    return to_spark(spark, TABLE).cache()


@pytest.fixture(scope="module")
def fitted(frame):
    classifier = SparkCostBoostClassifier(
        method="adamec",
        n_estimators=3,
        cv=2,
        costs=PRICES,
        row_id_col="id",
        random_state=0,
        num_workers=2,
    )
    assembler = VectorAssembler(inputCols=NAMES, outputCol="features")
    pipeline = Pipeline(stages=[assembler, classifier])
    return pipeline, pipeline.fit(frame)


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
    matrix = TABLE[NAMES].to_numpy(dtype=float)
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


@pytest.mark.scale
def test_a_search_goes_through_params(frame, fitted, tmp_path):
    pipeline = fitted[0]
    classifier = pipeline.getStages()[-1]
    grid = ParamGridBuilder().addGrid(classifier.n_estimators, [1, 4]).build()
    judge = CostEvaluator(costs=PRICES)
    search = CrossValidator(
        estimator=pipeline, estimatorParamMaps=grid, evaluator=judge, numFolds=2, seed=0
    )
    found = search.fit(frame)
    assert found.avgMetrics[0] != found.avgMetrics[1]
    best = found.bestModel.stages[-1].to_local().n_estimators
    assert best == [1, 4][int(np.argmin(found.avgMetrics))]
    found.save(f"{tmp_path}/search")
    loaded = CrossValidatorModel.load(f"{tmp_path}/search")
    assert loaded.bestModel.stages[-1].to_local().n_estimators == best


@pytest.mark.scale
def test_evaluators_of_spark_take_the_columns(frame, fitted):
    answers = answers_of(fitted[1], frame)
    second = [vector[1] for vector in answers["probability"]]
    judge = BinaryClassificationEvaluator(rawPredictionCol="probability")
    area = judge.evaluate(fitted[1].transform(frame))
    assert area == pytest.approx(roc_auc_score(TABLE["label"], second), abs=1e-9)
    judge = MulticlassClassificationEvaluator(metricName="accuracy")
    right = np.mean(answers["prediction"].to_numpy() == TABLE["label"].to_numpy())
    assert judge.evaluate(fitted[1].transform(frame)) == pytest.approx(right)


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


def test_new_prices_need_no_new_model(frame, fitted):
    assembler, model = fitted[1].stages
    vectors = assembler.transform(frame)
    dear = model.copy().setParams(costs=Costs(fp=1, fn=1000), expected_cost_col="cost")
    answers = answers_of(dear, vectors)
    matrix = TABLE[NAMES].to_numpy(dtype=float)
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


def test_sparse_vectors_are_made_dense(spark):
    rows = [(SparseVector(3, {i % 3: float(i + 1)}), i % 2, i) for i in range(40)]
    schema = StructType([StructField("features", VectorUDT())])
    frame = spark.createDataFrame(rows, schema.add("label", "long").add("id", "long"))
    parameters = {"method": "adaboost", "n_estimators": 2, "min_samples_leaf": 1}
    model = SparkCostBoostClassifier(row_id_col="id", num_workers=2, **parameters).fit(frame)
    matrix = np.stack([vector.toArray() for vector, _, _ in rows])
    expected = CostBoostClassifier(**parameters).fit(matrix, np.arange(40) % 2)
    found = model.to_local().predict_proba(matrix)
    assert found.tobytes() == expected.predict_proba(matrix).tobytes()


# --- what is refused, before any work


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"num_workers": 9}, "9 tasks have to run at once, but this cluster has 3 slots"),
        ({"num_workers": 0}, "at least 1"),
        ({"label_col": "target"}, "label_col names 'target', which is no column"),
        ({"weight_col": "mass"}, "weight_col names 'mass'"),
        ({"costs": Costs(fp=1, fn="price")}, "costs names 'price', which is no column"),
        ({"costs": Costs(fp=1, fn=lambda X: X["amount"])}, "by a function of the table"),
        ({"costs": Costs(fp=1, fn=np.ones(300))}, "prices of 300 rows"),
        ({"row_id_col": "amount"}, "has type double: rows are put in order by whole numbers"),
        ({"feature_cols": ["count", "count"]}, "different columns"),
        ({"feature_cols": ["count", "made"]}, "of type date"),
        ({"feature_cols": None}, "features_col names 'features', which is no column"),
        ({"feature_cols": None, "features_col": "count"}, "has type int: give a column of vectors"),
        ({"features_col": "amount"}, "were both given"),
        ({"cv": [([0], [1])]}, "cv=.* cannot be used on Spark"),
        ({"objective": len}, "objective=.* cannot be used on Spark"),
    ],
)
def test_wrong_requests_start_no_job(frame, parameters, message):
    from pyspark.sql import functions

    dated = frame.withColumn("made", functions.current_date())
    started = frame.sparkSession.sparkContext.statusTracker().getJobIdsForGroup(None)
    with pytest.raises(ValueError, match=message):
        SparkCostBoostClassifier(**{"feature_cols": FEATURES, **parameters}).fit(dated)
    now = frame.sparkSession.sparkContext.statusTracker().getJobIdsForGroup(None)
    assert sorted(now) == sorted(started)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("label", "label_col='label' is null in 1 of 301 rows"),
        ("id", "row_id_col='id' is null in 1 of 301 rows"),
        ("weight", "weight_col='weight' is null in 1 of 301 rows"),
    ],
)
def test_nulls_are_refused(spark, frame, column, message):
    row = frame.first().asDict() | {column: None}
    more = frame.union(spark.createDataFrame([tuple(row.values())], frame.schema))
    classifier = SparkCostBoostClassifier(
        feature_cols=["count"], weight_col="weight", row_id_col="id"
    )
    with pytest.raises(ValueError, match=message):
        classifier.fit(more)


def test_ids_that_stand_twice_and_empty_frames_are_refused(frame):
    classifier = SparkCostBoostClassifier(feature_cols=["count"], row_id_col="id", num_workers=2)
    with pytest.raises(ValueError, match="more than once, so that the order of rows is not"):
        classifier.fit(frame.union(frame.limit(1)))
    with pytest.raises(ValueError, match="has no rows"):
        classifier.fit(frame.limit(0))


@pytest.mark.parametrize(
    ("name", "value"),
    [("estimator", object()), ("beta", len), ("warm_start", True), ("n_jobs", 2)],
)
def test_what_needs_all_rows_is_refused_by_name(name, value):
    with pytest.raises(ValueError, match=f"{name}= is not offered on Spark: "):
        SparkCostBoostClassifier(**{name: value})


def test_unknown_parameters_are_refused_with_those_there_are():
    with pytest.raises(TypeError, match=r"depth= is not known: there are .*max_depth"):
        SparkCostBoostClassifier(depth=3)


def test_a_taken_port_is_named(frame):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        classifier = SparkCostBoostClassifier(feature_cols=["count"], row_id_col="id", port=port)
        with pytest.raises(OSError, match=f"cannot listen on port {port}"):
            classifier.fit(frame)
