"""`costboost inspect`: what is in a model file."""

import json

from costboost import __version__, load


def test_what_is_in_a_model_file(run, folder):
    found = json.loads(run("inspect", folder / "model.cb", "--json").out)
    assert found["estimator"] == "CostBoostClassifier"
    assert found["version"] == __version__
    assert found["target"] == "fraud"
    assert found["classes"] == ["no", "yes"]
    assert found["prices"] == {"fp": "8", "fn": "amount", "tp": "8"}
    assert found["features"]["merchant"] == "category"
    assert found["parameters"]["method"] == "adamec"
    assert found["parameters"]["n_estimators"] == 10
    assert "n_jobs" not in found["parameters"]
    assert load(folder / "model.cb").n_jobs is None
    assert found["bill"][0]["policy"] == "do nothing"
    assert found["size"] == (folder / "model.cb").stat().st_size


def test_uncertain_prices(run, folder, tmp_path):
    model = tmp_path / "open.cb"
    prices = ("--fp", 8, "--fn", "amount", "--fn-range", "beta(6, 2) loss", "--positive", "yes")
    made = ("train", folder / "payments.csv", "-o", model, "--target", "fraud", *prices)
    assert run(*made, "--method", "adamec", "--rounds", 3).code == 0
    found = json.loads(run("inspect", model, "--json").out)
    assert found["ranges"] == {"fn": "beta(6, 2) loss"}
    assert "range of fn  beta(6, 2) loss" in run("inspect", model).out
    assert list(load(model).costs_.factors) == ["loss"]
    bill = run("evaluate", model, folder / "payments.csv")
    assert "from prices" in bill.out


def test_in_words(run, folder):
    printed = run("inspect", folder / "model.cb").out
    for words in (
        "CostBoostClassifier",
        "payments.csv",
        "merchant",
        "currency: constant",
        "amount",
    ):
        assert words in printed
