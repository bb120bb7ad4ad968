"""Tables that must be opened: fits open them, methods ask them, everything else refuses them."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from costboost.estimators.base import fits_tables
from costboost.inputs.checks import answers_tables, refuse_unopened


class Stored:
    """A table on a disk; it remembers whether it is open, and what it was asked."""

    def __init__(self, costs=None):
        self.costs, self.is_open = costs, False

    @contextmanager
    def open_for(self, estimator, costs):
        self.is_open, self.given = True, (estimator, costs)
        try:
            yield SimpleNamespace(X="rows", costs=costs or self.costs)
        finally:
            self.is_open = False

    def answers(self, model, method, **asked):
        return model, method, asked


class Model:
    @fits_tables
    def fit(self, X, y=None, sample_weight=None, costs=None, *, groups=None):
        if groups == "bad":
            raise ValueError("no such groups")
        self.saw = X, y, sample_weight, costs, groups
        return self

    @answers_tables
    def predict(self, X, costs=None):
        """Answer."""
        return "plain", X, costs


class Numbers:
    @fits_tables
    def fit(self, X, y=None, sample_weight=None):
        self.saw = X, y, sample_weight
        return self


def test_a_plain_table_passes_as_it_is():
    assert Model().fit("X", "y", "w", groups=3).saw == ("X", "y", "w", None, 3)
    assert Model().predict("X", 5) == ("plain", "X", 5)
    assert Model.predict.__doc__ == "Answer."
    refuse_unopened("X")


def test_a_table_is_open_while_it_is_fitted_and_closed_however_that_ends():
    model, table = Model(), Stored(costs="its own")
    assert model.fit(table, groups=3).saw == ("rows", None, None, "its own", 3)
    assert table.given == (model, None)
    assert not table.is_open
    assert model.fit(table, None, None, "other").saw[3] == "other"  # by position, too
    with pytest.raises(ValueError, match="no such groups"):
        model.fit(table, groups="bad")
    assert not table.is_open
    assert model.fit(Stored()).saw == ("rows", None, None, None, None)


@pytest.mark.parametrize(
    ("given", "column"), [({"y": [1]}, "label"), ({"sample_weight": [1]}, "weight")]
)
def test_columns_of_the_table_are_not_given_twice(given, column):
    with pytest.raises(ValueError, match=rf"beside a Stored.*Stored\(\.\.\., {column}=\.\.\.\)"):
        Model().fit(Stored(), **given)
    with pytest.raises(ValueError, match="y was given beside a Stored"):
        Model().fit(Stored(), [1])


def test_a_regression_has_no_use_for_costs():
    assert Numbers().fit(Stored()).saw == ("rows", None, None)
    with pytest.raises(ValueError, match="Numbers learns numbers, not classes"):
        Numbers().fit(Stored(costs="its own"))


def test_a_table_answers_by_itself():
    model = Model()
    assert model.predict(Stored()) == (model, "predict", {})
    assert model.predict(Stored(), "dear") == (model, "predict", {"costs": "dear"})
    assert model.predict(Stored(), costs="dear") == (model, "predict", {"costs": "dear"})


def test_who_cannot_open_a_table_says_who_can():
    with pytest.raises(ValueError, match="X is a Stored: fit, predict, predict_proba"):
        refuse_unopened(Stored())
