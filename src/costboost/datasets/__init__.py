"""The papers' data sets by name, and three that need nothing but this package.

Every loader returns a `Dataset`: a table `X`, labels `y`, the `positive` label and, where the
source prescribes them, `costs`. The 57 sets of the papers are read from a folder of CSV files
(`COSTBOOST_DATA`) or fetched from OpenML; `make_card_fraud`,
`make_card_stream` and `load_breast_cancer` run anywhere.
"""

from costboost.datasets._bundled import load_breast_cancer, make_card_fraud
from costboost.datasets._card_stream import CardStream, make_card_stream
from costboost.datasets._dataset import Dataset
from costboost.datasets._loading import load, names
from costboost.datasets._spec import frequency_costs

__all__ = [
    "CardStream",
    "Dataset",
    "frequency_costs",
    "load",
    "load_breast_cancer",
    "make_card_fraud",
    "make_card_stream",
    "names",
]
