"""Tables of pandas as Dask collections, and fits on them that are small enough for tests."""

from itertools import pairwise

import dask
import dask.dataframe as dd

from costboost import Costs
from costboost.clusters.journal import digest_of
from costboost.dask import DaskCostBoostClassifier

PARAMS = {"method": "adac2", "n_estimators": 4, "max_leaf_nodes": 6, "random_state": 0}
COSTS = Costs(fp=20, fn="amount")


def frames(tables, cuts):
    """Collections whose partitions end at the given rows."""
    cuts = [0, *cuts, len(tables[0])]
    made = []
    for table in tables:
        pieces = [dask.delayed(table.iloc[a:b]) for a, b in pairwise(cuts)]
        made.append(dd.from_delayed(pieces, meta=table.iloc[:0]))
    return made


def fingerprint(model):
    """A digest of all that was learnt, and of what is known of the rounds."""
    learnt = {k: v for k, v in sorted(vars(model).items()) if k not in model.get_params()}
    return digest_of(learnt)


def collections(people, n_parts=5):
    return [dd.from_pandas(table, npartitions=n_parts, sort=False) for table in people]


def fit(people, client, n_parts=5, params=PARAMS, **given):
    model = DaskCostBoostClassifier(**params)
    return model.fit(*collections(people, n_parts), costs=COSTS, client=client, **given)
