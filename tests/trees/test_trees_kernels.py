"""The kernels of the trees as plain Python: that they are what they say."""

from interpreted import tree_kernels


def test_interpreted_kernels_are_not_compiled():
    from costboost.runtime import interpreted as _interpreted

    without = tree_kernels(hide_cython=True)
    assert not without.tree.is_compiled()
    assert all(module.cython is _interpreted for module in vars(without).values())
    assert without.grow.search_node is without.split.search_node
    assert without.split.search_pairs is without.pair.search_pairs
    assert without.pair.SplitSearch is without.score.SplitSearch is without.search.SplitSearch
