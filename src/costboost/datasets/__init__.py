"""The papers' data sets by name, and three that need nothing but this package.

Every loader returns a `Dataset`: a table `X`, labels `y`, the `positive` label and, where the
source prescribes them, `costs`. The 57 sets of the papers are read from a folder of CSV files
(`COSTBOOST_DATA`) or fetched from OpenML; `make_card_fraud`,
`make_card_stream` and `load_breast_cancer` run anywhere.
"""

from costboost.datasets._bunch import Dataset
from costboost.datasets._card_stream import CardStream, make_card_stream
from costboost.datasets._embedded import load_breast_cancer
from costboost.datasets._fraud import make_card_fraud
from costboost.datasets._frequency import frequency_costs
from costboost.datasets._loading import load, names

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
