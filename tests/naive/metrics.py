"""The measures of cost again, row by row and threshold by threshold.

Costs arrive here as plain nested lists: `table[i][action]` is what that action costs on row i,
given its true label.
"""

from itertools import combinations, product
from math import inf


def table(y, fp, fn, tp=0.0, tn=0.0):
    """(n, 2): the price of calling each row negative and positive; prices scalar or per row."""

    def at(price, i):
        return price[i] if hasattr(price, "__len__") else price

    return [
        [at(fn, i), at(tp, i)] if label else [at(tn, i), at(fp, i)] for i, label in enumerate(y)
    ]


def total_cost(costs, decided, weight):
    return sum(w * row[a] for row, a, w in zip(costs, decided, weight, strict=True))


def mean_cost(costs, decided, weight):
    return total_cost(costs, decided, weight) / sum(weight)


def normalized_cost(costs, decided, weight):
    best = sum(w * min(row) for row, w in zip(costs, weight, strict=True))
    worst = sum(w * max(row) for row, w in zip(costs, weight, strict=True))
    return (total_cost(costs, decided, weight) - best) / (worst - best)


def cheapest_constant_cost(costs, weight):
    n_actions = len(costs[0])
    return min(total_cost(costs, [a] * len(costs), weight) for a in range(n_actions))


def regret(costs, decided, weight):
    total = 0.0
    for row, a, w in zip(costs, decided, weight, strict=True):
        total += w * (row[a] - min(row))
    return total / sum(weight)


def cost_confusion_matrix(costs, y, decided, weight, n_classes):
    cells = [[0.0] * len(costs[0]) for _ in range(n_classes)]
    for row, label, a, w in zip(costs, y, decided, weight, strict=True):
        cells[label][a] += w * row[a]
    return cells


def f_measure(y, decided, weight, beta=1.0):
    tp = sum(w for t, d, w in zip(y, decided, weight, strict=True) if t and d)
    fp = sum(w for t, d, w in zip(y, decided, weight, strict=True) if not t and d)
    fn = sum(w for t, d, w in zip(y, decided, weight, strict=True) if t and not d)
    if tp == 0:
        return 0.0
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    return 100 * (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def brier_score(y, p, weight):
    return sum(w * (q - t) ** 2 for t, q, w in zip(y, p, weight, strict=True)) / sum(weight)


def brier_score_by_class(y, p, weight):
    parts = []
    for k in (0, 1):
        rows = [(q, w) for t, q, w in zip(y, p, weight, strict=True) if t == k]
        size = sum(w for _, w in rows)
        parts.append(sum(w * (q - k) ** 2 for q, w in rows) / size if size else float("nan"))
    return parts


def error_rates(y, score, weight, threshold):
    """False positive and false negative rates of `score > threshold`."""
    rows = list(zip(y, score, weight, strict=True))
    negatives = sum(w for t, _, w in rows if not t)
    positives = sum(w for t, _, w in rows if t)
    fp = sum(w for t, s, w in rows if not t and s > threshold)
    fn = sum(w for t, s, w in rows if t and s <= threshold)
    return fp / negatives if negatives else 0.0, fn / positives if positives else 0.0


def brier_loss(y, p, weight, c):
    pi_pos = sum(w for t, w in zip(y, weight, strict=True) if t) / sum(weight)
    fpr, fnr = error_rates(y, p, weight, c)
    return 2 * (c * (1 - pi_pos) * fpr + (1 - c) * pi_pos * fnr)


def skew_loss(y, p, weight, z):
    fpr, fnr = error_rates(y, p, weight, z)
    return z * fpr + (1 - z) * fnr


def cost_curve_at(y, score, weight, pc):
    """The cheapest of all thresholds at one probability cost."""
    best = inf
    for threshold in [-inf, *score]:
        fpr, fnr = error_rates(y, score, weight, threshold)
        best = min(best, fnr * pc + fpr * (1 - pc))
    return best


def cost_at_threshold(costs, score, weight, threshold):
    return mean_cost(costs, [int(s > threshold) for s in score], weight)


def captured(costs, score, weight, threshold):
    """Share of rows acted on, cost captured and cost saved when acting above a threshold."""
    share = taken = saved = 0.0
    for row, s, w in zip(costs, score, weight, strict=True):
        if s >= threshold:
            share += w
            taken += w * row[0]
            saved += w * (row[0] - row[1])
    return share / sum(weight), taken, saved


def flip_p_value(terms, alternative):
    """All sign patterns, one by one."""
    observed, hits, patterns = sum(terms), 0, 0
    for signs in product((1, -1), repeat=len(terms)):
        value = sum(s * t for s, t in zip(signs, terms, strict=True))
        patterns += 1
        if alternative == "less":
            hits += value <= observed + 1e-9
        elif alternative == "greater":
            hits += value >= observed - 1e-9
        else:
            hits += abs(value) >= abs(observed) - 1e-9
    return hits / patterns


def ranks(row):
    """1 plus the number of smaller values, plus half the number of other equal ones."""
    return [1 + sum(o < v for o in row) + (sum(o == v for o in row) - 1) / 2 for v in row]


def average_ranks(scores):
    table = [ranks(row) for row in scores]
    return [sum(column) / len(table) for column in zip(*table, strict=True)]


def signed_rank_p(difference):
    """Wilcoxon's two-sided p-value by trying every pattern of signs."""
    nonzero = [d for d in difference if d != 0]
    if not nonzero:
        return 1.0
    sizes = ranks([abs(d) for d in nonzero])
    plus = sum(r for r, d in zip(sizes, nonzero, strict=True) if d > 0)
    centre = sum(sizes) / 2
    hits = patterns = 0
    for chosen in product((0, 1), repeat=len(sizes)):
        value = sum(r for r, c in zip(sizes, chosen, strict=True) if c)
        patterns += 1
        hits += abs(value - centre) >= abs(plus - centre)
    return hits / patterns


def holm(p_values):
    """Reject one by one from the smallest: the corrected value is the largest seen on the way."""
    corrected, running = [0.0] * len(p_values), 0.0
    for step, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        running = max(running, (len(p_values) - step) * p_values[i])
        corrected[i] = min(1.0, running)
    return corrected


def groups(order, apart):
    """Every run of the order without a separable pair that no longer such run contains."""
    runs = [
        order[i:j]
        for i in range(len(order))
        for j in range(i + 2, len(order) + 1)
        if not any(apart[a][b] for a, b in combinations(order[i:j], 2))
    ]
    return [run for run in runs if not any(set(run) < set(other) for other in runs)]
