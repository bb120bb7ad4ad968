"""What was typed becomes labels, by what it looks like."""

import numpy as np
import polars as pl
import pytest

from costboost.cli import InputError
from costboost.cli.columns import decisions_of, label_of, labels_of, shown


@pytest.mark.parametrize(
    ("text", "labels", "meant"),
    [
        ("yes", ["no", "yes"], "yes"),
        ("YES", ["no", "yes"], "yes"),
        ("yes", ["Yes", "yes"], "yes"),
        ("1", [0, 1], 1),
        ("1.0", [0, 1], None),
        ("1", [0.0, 1.0], 1.0),
        ("true", [False, True], True),
        ("True", [False, True], True),
        ("maybe", ["no", "yes"], None),
    ],
)
def test_a_text_means_the_label_that_looks_like_it(text, labels, meant):
    if meant is None:
        with pytest.raises(InputError, match="is none of"):
            label_of(text, labels, "--positive")
    else:
        found = label_of(text, labels, "--positive")
        assert found == meant
        assert type(found) is type(meant)


@pytest.mark.parametrize(
    ("values", "kind"),
    [(["a", "b"], "U"), ([0, 1], "i"), ([True, False], "b"), ([0.0, 1.0], "f")],
)
def test_labels_keep_their_type(values, kind):
    assert labels_of(pl.Series("y", values)).dtype.kind == kind
    assert labels_of(pl.Series("y", values)).tolist() == values


@pytest.mark.parametrize("values", [[0.0, None, 1.0, None], [0.0, float("nan"), 1.0, None]])
def test_rows_without_a_label_are_counted_whichever_way_they_say_so(values):
    with pytest.raises(
        InputError, match=r"missing in 2 rows, the first of them row 1: .*unlabelled"
    ):
        labels_of(pl.Series("y", values))


@pytest.mark.parametrize("label", [float("nan"), float("inf"), -float("inf"), 0.5, 1e300])
def test_every_number_can_be_shown(label):
    assert float(shown(label)) == pytest.approx(label, nan_ok=True)


@pytest.mark.parametrize(
    ("values", "decided"),
    [
        (["yes", "no"], ["yes", "no"]),
        (["YES", "no"], ["yes", "no"]),
        ([True, False], ["yes", "no"]),
        ([1, 0], ["yes", "no"]),
        ([1.0, 0.0], ["yes", "no"]),
    ],
)
def test_decisions_of_two_classes_in_any_dress(values, decided):
    found = decisions_of(pl.Series("d", values), ["no", "yes"], "yes")
    assert found.tolist() == decided
    assert found.dtype == np.asarray(["no", "yes"]).dtype


def test_numbers_as_labels_are_decisions_by_themselves():
    assert decisions_of(pl.Series("d", [0, 1]), [1, 0], 0).tolist() == [0, 1]
    with pytest.raises(InputError, match="they are a, b, c"):
        decisions_of(pl.Series("d", [1]), ["a", "b", "c"], None)
