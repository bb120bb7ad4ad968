"""The text of a price becomes a tree, or an error that points into it."""

import pytest

from costboost.costs import ExpressionError, expression


@pytest.mark.parametrize("text", ["", "   ", None, 3, "1+" * 2000])
def test_what_is_no_expression_at_all(text):
    with pytest.raises(ExpressionError):
        expression(text)
