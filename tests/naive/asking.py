"""What tests are worth, by enumeration: every reference row, every value, every rest."""

import itertools

import numpy as np


def reference_weights(forests, reference, row, known):
    """Return the weight of each reference row, one node of one tree at a time."""
    weights = np.zeros(len(reference))
    for forest in forests:
        for t in range(len(forest)):
            tree = forest.tree(t)

            def goes_left(values, node, tree=tree):
                value = values[tree.feature[node]]
                if np.isnan(value):
                    return bool(tree.missing_left[node])
                return value <= tree.threshold[node]

            def leaf_of(values, tree=tree, goes_left=goes_left):
                node = 0
                while tree.left[node] >= 0:
                    node = int((tree.left if goes_left(values, node) else tree.right)[node])
                return node

            def reach(node, mass, tree=tree, goes_left=goes_left):
                if tree.left[node] < 0:
                    return {node: mass}
                left, right = int(tree.left[node]), int(tree.right[node])
                if tree.feature[node] in known:
                    return reach(left if goes_left(row, node) else right, mass)
                share = tree.cover[left] / tree.cover[node]
                return reach(left, mass * share) | reach(right, mass * (1 - share))

            leaves = [leaf_of(values) for values in reference]
            arrived = reach(0, 1.0)
            for i, leaf in enumerate(leaves):
                weights[i] += arrived.get(leaf, 0.0) / leaves.count(leaf)
    return weights / weights.sum()


def judge(model, reference, row, known, columns, prices):
    """Return the expected cost of deciding now, and what some columns together save."""
    weights = reference_weights(model._model.forests, reference, row, known)

    def put_together(value, rest):
        whole = rest.copy()
        whole[list(columns)] = value[list(columns)]
        whole[list(known)] = row[list(known)]
        return whole

    now = sum(
        w * model.predict_proba(put_together(rest, rest)[None])[0]
        for w, rest in zip(weights, reference, strict=True)
    )
    before, after = np.zeros(prices.shape[1]), 0.0
    for w, value in zip(weights, reference, strict=True):
        proba = sum(
            v * model.predict_proba(put_together(value, rest)[None])[0]
            for v, rest in zip(weights, reference, strict=True)
        )
        before += w * (proba @ prices)
        after += w * (proba @ prices).min()
    return float((now @ prices).min()), float(before.min() - after)


def least_total(prices_of_tests, saves):
    """Return the best sets of tests bought at once, with what is gained by it."""
    tests = range(len(prices_of_tests))
    sets = itertools.chain.from_iterable(itertools.combinations(tests, k) for k in (1, len(tests)))
    return max(((saves(s) - sum(prices_of_tests[t] for t in s)), s) for s in sets)
