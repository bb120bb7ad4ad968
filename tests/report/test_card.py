"""The model card: the digest of the file, notes and versions."""

import costboost
from costboost import make_report
from costboost.report import card
from report_cases import FRAUD, fraud_model, fraud_rows


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
