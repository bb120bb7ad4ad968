"""The model card: the digest of the file, notes and versions."""

import numpy as np
import pandas as pd
from sklearn.naive_bayes import GaussianNB

import costboost
from costboost import CostBoostClassifier, Costs, GradientBoostClassifier, make_report
from costboost.report import card
from costboost.report.words import Words
from report_cases import FRAUD, fraud_model, fraud_rows, two_class_rows

WORDS = Words("EUR", ["no", "yes"], ["no", "yes"])


def test_digest_is_that_of_the_file(tmp_path):
    costboost.save(fraud_model(), tmp_path / "m.costboost")
    held = (tmp_path / "m.costboost").read_bytes()[48:80].hex()
    assert card.model_digest(fraud_model()) == held
    X, y = fraud_rows(300)
    assert held in make_report(fraud_model(), X, y, costs=FRAUD).html


def test_notes_and_versions_are_on_the_card():
    X, y = fraud_rows(300)
    notes = {"Held out": "the last thirty days"}
    html = make_report(fraud_model(), X, y, costs=FRAUD, notes=notes).html
    assert "<dt>Held out</dt><dd>the last thirty days</dd>" in html
    assert f"<dt>costboost</dt><dd>{costboost.__version__}</dd>" in html
    assert "<dt>scikit-learn</dt>" in html


def test_only_parameters_that_were_changed_are_listed():
    model = GradientBoostClassifier(n_estimators=3, max_depth=2).fit(
        [[0.0], [1.0]] * 20, [0, 1] * 20
    )
    facts = card.make_card(model, two_class_rows([0.5], [1]), 1, WORDS, None)["The model"]
    assert facts["Kind"] == "GradientBoostClassifier"
    assert sorted(facts["Parameters"].splitlines()) == ["max_depth = 2", "n_estimators = 3"]
    plain = GaussianNB().fit([[0.0], [1.0]], [0, 1])
    facts = card.make_card(plain, two_class_rows([0.5], [1]), 1, WORDS, None)["The model"]
    assert facts == {"Kind": "GaussianNB", "Parameters": "all as they are by default"}


def test_the_card_tells_of_rows_weights_classes_and_columns():
    X = pd.DataFrame({f"c{j:02}": [0.0, 1.0] * 5 for j in range(32)})
    model = GaussianNB().fit(X, [0, 1] * 5)
    rows = two_class_rows([0.5] * 3, [1, 0, 1], weight=np.array([1.0, 2.5, 1000.0]))
    found = card.make_card(model, rows, 1234, WORDS, {"Held out": 7})
    assert found["What it was trained on"]["Columns"] == "32"
    assert found["What it was trained on"]["Their names"].endswith("c28, c29, ...")
    assert found["What it was trained on"]["Classes"] == "0, 1"
    judged = found["How it was judged"]
    assert judged["Rows"].startswith("1,234 that were given")
    assert judged["By class"] == "no: 1, yes: 2"
    assert judged["Weights"].endswith("add up to 1,004")
    assert found["Notes"] == {"Held out": "7"}
    assert found["Digests"]["Model file"].startswith("none")


def test_long_values_of_parameters_are_cut_short():
    model = GaussianNB(priors=np.full(200, 1 / 200).tolist())
    model.classes_ = [0, 1]
    facts = card.make_card(model, two_class_rows([0.5], [1]), 1, WORDS, None)["The model"]
    assert facts["Parameters"].startswith("priors = [0.005, 0.005")
    assert facts["Parameters"].endswith("...")
    assert len(facts["Parameters"]) == len("priors = ") + 160


def test_the_digest_of_rows_knows_probabilities_truths_and_prices():
    def digest(proba=(0.5, 0.25), truth=(0, 1), fp=1.0, fn=(3.0, 4.0)):
        return card.rows_digest(two_class_rows(proba, truth, Costs(fp=fp, fn=list(fn))))

    others = [digest((0.5, 0.26)), digest(truth=(1, 1)), digest(fp=2.0), digest(fn=(3.0, 5.0))]
    assert len({digest(), *others}) == 5
    assert digest() == digest()


def test_the_card_is_escaped_and_only_digests_are_code():
    html = card.card_html({"<A>": {"b<": "c&d"}, "Digests": {"Rows": "0f"}})
    assert "<h3>&lt;A&gt;</h3><dl><dt>b&lt;</dt><dd>c&amp;d</dd></dl>" in html
    assert "<dd><code>0f</code></dd>" in html
    assert html.count("<code>") == 1


def test_the_card_says_what_the_recipe_became():
    X = np.random.default_rng(0).normal(size=(120, 2))
    model = CostBoostClassifier(n_estimators=10, random_state=0).fit(X, (X[:, 0] > 0).astype(int))
    facts = card.make_card(model, two_class_rows([0.5], [1]), 1, WORDS, None)["The model"]
    assert facts["Recipe"] == "auto-1"
    assert facts["Rounds"].startswith(f"{model.n_iter_} of at most 10; training ended")
    assert facts["Calibration"].startswith("bias-corrected (beta ")
