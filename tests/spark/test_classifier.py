"""The estimator and its model as stages: Params, pipelines, searches, folders, refusals."""

import socket

import numpy as np
import pytest

pytest.importorskip("pyspark")

from pyspark.ml.evaluation import BinaryClassificationEvaluator, MulticlassClassificationEvaluator
from pyspark.ml.linalg import SparseVector, VectorUDT
from pyspark.ml.tuning import CrossValidator, CrossValidatorModel, ParamGridBuilder
from pyspark.sql.types import StructField, StructType
from sklearn.metrics import roc_auc_score

from costboost import CostBoostClassifier, Costs
from costboost.spark import CostEvaluator, SparkCostBoostClassifier
from spark_rows import FEATURES, PRICES, TABLE, answers_of


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


def test_ids_that_stand_twice_and_empty_frames_are_refused(frame):
    classifier = SparkCostBoostClassifier(feature_cols=["count"], row_id_col="id", num_workers=2)
    with pytest.raises(ValueError, match="more than once, so that the order of rows is not"):
        classifier.fit(frame.union(frame.limit(1)))
    with pytest.raises(ValueError, match="has no rows"):
        classifier.fit(frame.limit(0))


def test_a_taken_port_is_named(frame):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        classifier = SparkCostBoostClassifier(feature_cols=["count"], row_id_col="id", port=port)
        with pytest.raises(OSError, match=f"cannot listen on port {port}"):
            classifier.fit(frame)
