"""Trees whose columns have prices, by trying every cut of every column."""

import numpy as np


def gini(y, w):
    """Return sum_k s_k^2 / sum_k s_k of weighted labels 0 and 1."""
    sums = np.array([w[y == 0].sum(), w[y == 1].sum()])
    return float(sums @ sums / sums.sum()) if sums.sum() > 0 else 0.0


def price(tests, asked):
    """Return what a set of tests costs, every fee once."""
    total, groups = 0.0, set()
    for test in asked:
        total += tests.prices[test]
        groups |= {int(tests.groups[test])} - {-1}
    return total + sum(tests.fees[group] for group in groups)


def grow(X, y, w, tests, worth, paid, depth):
    """Return the nodes' (column, threshold), depth first, and what each row has paid then.

    A cut gains its share of the root's impurity times `worth`, and every row pays what its path
    asks for beyond what it has paid: `paid` are sets of tests, one for each row.
    """
    impurity = w.sum() - gini(y, w)
    paid, nodes = [set(one) for one in paid], []

    def visit(rows, path, left):
        best = (1e-12, None)
        for j in range(X.shape[1]) if left else ():
            test = int(tests.test_of[j])
            asked = path | ({test} - {-1})
            due = sum(
                w[i] * (price(tests, paid[i] | asked) - price(tests, paid[i] | path)) for i in rows
            )
            for cut in sorted(set(X[rows, j]))[:-1]:
                low, high = rows[X[rows, j] <= cut], rows[X[rows, j] > cut]
                gain = gini(y[low], w[low]) + gini(y[high], w[high]) - gini(y[rows], w[rows])
                net = gain / impurity * worth * w.sum() - due
                if net > best[0] + 1e-9:
                    best = (net, (j, cut, asked, low, high))
        if best[1] is None:
            for i in rows:
                paid[i] |= path
            return
        j, cut, asked, low, high = best[1]
        nodes.append((j, int(cut)))
        visit(low, asked, left - 1)
        visit(high, asked, left - 1)

    visit(np.arange(len(X)), set(), depth)
    return nodes, paid
