"""Inputs and result of a split search, as classes of typed arrays without loops.

`Rules` are made once and serve every node, `NodeSums` is one node; `SplitSearch` is written by the
search: the best split so far, and its scratch arrays. Compiled, their attributes are
C's and are read without the GIL; interpreted, these are plain classes.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from costboost.runtime import interpreted as cython

MISSING = cython.declare(cython.Py_ssize_t, 255)


@cython.final
@cython.cclass
class Rules:
    """Limits and criterion of every split search in a tree.

    Attributes
    ----------
    n_bins, categorical : of every column
    monotone : -1, 0 or 1 for every column, or none
        With it values of leaves (newton steps, or the second of two classes' share) are bounded.
    bounded : whether there is such a one
    criterion : its number; see `_score_kernels`
    l2, min_weight, min_count : of every child
    """

    n_bins: cython.const[cython.longlong][::1]
    categorical: cython.const[cython.uchar][::1]
    monotone: cython.const[cython.schar][::1]
    bounded: cython.bint
    criterion: cython.int
    l2: cython.double
    min_weight: cython.double
    min_count: cython.longlong

    def __init__(
        self,
        n_bins: cython.const[cython.longlong][::1],
        categorical: cython.const[cython.uchar][::1],
        monotone: cython.const[cython.schar][::1],
        criterion: cython.int,
        l2: cython.double,
        min_weight: cython.double,
        min_count: cython.longlong,
    ):
        self.n_bins = n_bins
        self.categorical = categorical
        self.monotone = monotone
        # An empty array stands for no constraints.
        self.bounded = monotone.shape[0] > 0
        self.criterion = criterion
        self.l2 = l2
        self.min_weight = min_weight
        self.min_count = min_count


@cython.final
@cython.cclass
class NodeSums:
    """Sums of the node to split.

    Attributes
    ----------
    hist : (d, 256, C), whatever its memory order
    counts : (d, 256) rows by column and code, or (0, 256) where children may be of any size
    columns : those to search
    drawn : whether `hist` and `counts` have no columns but these
    sums : (C,), the node's own
    n_rows : how many rows it has
    low, high : where values may lie, if they are bounded
    """

    hist: cython.const[cython.longlong][:, :, :]
    counts: cython.const[cython.longlong][:, ::1]
    columns: cython.const[cython.longlong][::1]
    drawn: cython.bint
    sums: cython.const[cython.longlong][::1]
    n_rows: cython.longlong
    low: cython.double
    high: cython.double

    def __init__(
        self,
        hist: cython.const[cython.longlong][:, :, :],
        counts: cython.const[cython.longlong][:, ::1],
        columns: cython.const[cython.longlong][::1],
        drawn: cython.bint,
        sums: cython.const[cython.longlong][::1],
        n_rows: cython.longlong,
        low: cython.double,
        high: cython.double,
    ):
        self.hist = hist
        self.counts = counts
        self.columns = columns
        self.drawn = drawn
        self.sums = sums
        self.n_rows = n_rows
        self.low = low
        self.high = high


@cython.final
@cython.cclass
class PairBounds:
    """Bounds by which `_pair_kernels` skips cuts that cannot be the best.

    Attributes
    ----------
    newton : whether the sums are gradients and hessians; else the weights of two classes
    l2 : of newton's score
    first, second : the sums of the whole node; `all_first` and `all_second` as real numbers
    bar : what a cut must pass to be looked at
    column, place : its number, and where its histogram is
    last : how many of its codes it may be cut at
    missing : whether it has missing values; with them the last cut parts them from all others
    absent, absent_second, absent_count : their sums and number
    """

    newton: cython.bint
    l2: cython.double
    first: cython.longlong
    second: cython.longlong
    all_first: cython.double
    all_second: cython.double
    bar: cython.double
    column: cython.Py_ssize_t
    place: cython.Py_ssize_t
    last: cython.Py_ssize_t
    missing: cython.bint
    absent: cython.longlong
    absent_second: cython.longlong
    absent_count: cython.longlong


@cython.final
@cython.cclass
class SplitSearch:
    """The best split so far, and the scratch arrays of the search.

    Attributes
    ----------
    gain : what the score grows by
    rounding : how much of the gain is rounding
    feature : the column, -1 if nothing gains; `place` is where its histogram is
    threshold : codes <= threshold go left; -1 for a subset of categories
    missing_left : whether missing values go left, if the node holds any
    left_sums : (C,), those of the left child
    goes_left : (256,), for every code whether it goes left
    parent : the score of the node
    counting : whether children must have `min_count` rows
    left, right : (C,), the sums on both sides of the cut that is tried
    codes, keys : (256,), the categories of a column in order, and what orders them
    held : (256,), the same categories in the order of their codes
    pairs : the same place of a search of pairs
    """

    gain: cython.double
    rounding: cython.double
    feature: cython.Py_ssize_t
    place: cython.Py_ssize_t
    threshold: cython.Py_ssize_t
    missing_left: cython.bint
    left_sums: cython.longlong[::1]
    goes_left: cython.uchar[::1]
    parent: cython.double
    counting: cython.bint
    left: cython.longlong[::1]
    right: cython.longlong[::1]
    codes: cython.longlong[::1]
    held: cython.longlong[::1]
    keys: cython.double[::1]
    pairs: PairBounds

    def __init__(
        self,
        left_sums: cython.longlong[::1],
        goes_left: cython.uchar[::1],
        sides: cython.longlong[:, ::1],
        codes: cython.longlong[:, ::1],
        keys: cython.double[::1],
    ):
        self.left_sums = left_sums
        self.goes_left = goes_left
        # Rows of two buffers, which are allocated once for all nodes of a tree.
        self.left = sides[0]
        self.right = sides[1]
        self.codes = codes[0]
        self.held = codes[1]
        self.keys = keys
        self.pairs = PairBounds()
