"""What parts of a table answer."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from costboost import Costs
from costboost.binning.binner import fit_binner
from costboost.shards.parts import (
    RawRows,
    TablePart,
    advance_margins,
    apply_to_codes,
    bind_part_costs,
    bind_part_labels,
    close_shard,
    encode_part,
    fetch_codes,
    fetch_facts,
    fetch_labels_and_weights,
    fetch_row_data,
    follow_rows,
    forward_to_shard,
    open_shard,
    unfollow_rows,
)
from costboost.shards.rows import RowSample, begin_tree, count_codes, heaviest_row

RNG = np.random.default_rng(0)
N = 40
FRAME = pd.DataFrame(RNG.normal(size=(N, 3)), columns=list("abc")).assign(
    amount=RNG.uniform(1, 9, N)
)
Y = np.array(["no", "yes", "perhaps"])[RNG.integers(0, 3, N)]
CLASSES = np.unique(Y)
NUMBERS = np.searchsorted(CLASSES, Y)
WEIGHTS = RNG.uniform(0.5, 2, N)
BINNER = fit_binner(FRAME)
CODES = BINNER.encode(FRAME)
CHOSEN = np.array([30, 2, 17, 5], dtype=np.uint32)


@dataclass(frozen=True)
class Held:
    """A loader: rows grouped by class, and what was said of them as their state."""

    data: object = None
    n_segments: int = 3

    @property
    def labels(self):
        return self.data.y

    def load(self, rows):
        part = self.data.take(rows)
        return SimpleNamespace(y=part.y, sample_weights=part.weights)

    def on(self, data):
        return replace(self, data=data)


def bare(y=Y, X=FRAME, weights=WEIGHTS, frame=None):
    return TablePart(SimpleNamespace(read=lambda: RawRows(X, y, weights, frame)))


def encoded(folds=None):
    part = bare()
    bind_part_labels(classes=CLASSES).answer(part)
    encode_part(binner=BINNER, folds=folds).answer(part)
    return part


def test_facts_of_labels_that_have_no_order():
    part = TablePart(
        SimpleNamespace(read=lambda: RawRows(None, np.array(["a", None, "a"], dtype=object)))
    )
    (facts,) = fetch_facts().answer(part)
    assert facts.labels.tolist() == ["a", None]


def test_facts_are_those_of_the_rows():
    (facts,) = fetch_facts().answer(bare())
    assert (facts.n_rows, facts.weighted) == (N, True)
    assert_array_equal(facts.labels, CLASSES)
    (plain,) = fetch_facts(targets=True).answer(bare(np.arange(5.0), weights=None))
    assert (plain.n_rows, plain.weighted, len(plain.labels)) == (5, False, 0)
    ((y, weights),) = fetch_labels_and_weights().answer(bare())
    assert_array_equal(y, Y)
    assert_array_equal(weights, WEIGHTS)


def test_a_source_that_reads_differently_is_found_out():
    heavier = WEIGHTS.copy()
    heavier[7] += 1e-12
    parts = [bare(), bare(Y[::-1]), bare(weights=None), bare(weights=heavier), bare(Y.astype("O"))]
    digests = [fetch_facts().answer(part)[0].digest for part in parts]
    assert len(set(digests)) == len(digests)
    assert fetch_facts().answer(bare())[0].digest == digests[0]


def test_labels_become_class_numbers_of_one_byte_where_they_can():
    part = bare()
    bind_part_labels(classes=CLASSES).answer(part)
    assert part.data.y.dtype == np.uint8
    assert_array_equal(part.data.y, NUMBERS)
    (said,) = fetch_row_data().answer(part)
    assert_array_equal(said.weights, WEIGHTS)
    many = bare(np.array([299, 0, 5]), FRAME[:3], None)
    bind_part_labels(classes=np.arange(300)).answer(many)
    assert many.data.y.dtype == np.uint32
    assert many.data.y.tolist() == [299, 0, 5]
    numbers = bare(np.array([3, 1]), FRAME[:2], None)
    bind_part_labels(classes=None).answer(numbers)
    assert numbers.data.y.dtype == np.float64
    empty = bare(np.zeros(0, object), FRAME[:0], None)
    bind_part_labels(classes=CLASSES).answer(empty)
    assert len(empty.data.y) == 0


def test_a_label_that_is_no_class_is_refused():
    with pytest.raises(ValueError, match="perhaps"):
        bind_part_labels(classes=np.array(["no", "yes"])).answer(bare())


@pytest.mark.parametrize("apart", [False, True])
def test_prices_are_read_from_columns_of_the_part(apart):
    part = bare(Y == "yes", FRAME[["a"]] if apart else FRAME, frame=FRAME if apart else None)
    bind_part_labels(classes=np.array([False, True])).answer(part)
    (found,) = bind_part_costs(
        costs=Costs(fp=2.0, fn="amount"), classes=np.array([False, True])
    ).answer(part)
    paid = found.of_labels(part.data.y, encoded=True)
    assert_array_equal(paid[:, 1], np.where(Y == "yes", 0.0, 2.0))
    assert_array_equal(paid[:, 0], np.where(Y == "yes", FRAME["amount"], 0.0))
    assert part.data.costs is found
    assert_array_equal(part.data.weights, WEIGHTS)


@pytest.mark.parametrize("folds", [None, (np.arange(N, dtype=np.uint8) % 4, 3)])
def test_codes_of_rows_are_told_in_their_order(folds):
    part = encoded(folds)
    assert_array_equal(fetch_codes(chosen=None).answer(part)[0], CODES)
    assert_array_equal(fetch_codes(chosen=CHOSEN).answer(part)[0], CODES[CHOSEN])
    (sums,) = apply_to_codes(chosen=CHOSEN, function=lambda codes: codes.sum(axis=1)).answer(part)
    assert_array_equal(sums, CODES[CHOSEN].sum(axis=1))
    (said,) = fetch_row_data().answer(part)
    assert_array_equal(said.y, NUMBERS)


def test_answers_are_joined_in_the_order_of_parts():
    assert fetch_codes(chosen=None).reduce([[1], [], [2, 3]]) == [1, 2, 3]


@pytest.mark.parametrize("chosen", [None, np.sort(CHOSEN)])
def test_a_model_trains_on_its_rows_by_their_ranks(chosen):
    part = encoded()
    own = np.arange(N) if chosen is None else chosen
    first, ranks = 1000, np.arange(len(own), dtype=np.uint32) * 7
    open_shard(key=0, chosen=chosen, ranks=first, loader=Held()).answer(part)
    open_shard(key=1, chosen=chosen, ranks=ranks, loader=Held()).answer(part)
    expected = {0: first + np.arange(len(own)), 1: ranks}
    for key, shard in part.shards.items():
        numbers = shard.numbers()
        order = [expected[key].tolist().index(number) for number in numbers.tolist()]
        assert sorted(order) == list(range(len(own)))
        assert_array_equal(shard.codes, CODES[own[order]])
        assert_array_equal(shard.state.y, NUMBERS[own[order]])
        assert_array_equal(shard.state.sample_weights, WEIGHTS[own[order]])
        for k in range(3):
            assert np.all(shard.state.y[shard.starts[k] : shard.starts[k + 1]] == k)


def test_models_that_leave_out_a_fold_share_codes_and_bench():
    folds = np.arange(N, dtype=np.uint8) % 4  # 3 is in none
    part = encoded((folds, 3))
    for fold in range(3):
        chosen = np.flatnonzero((folds != fold) & (folds < 3)).astype(np.uint32)
        open_shard(key=fold, chosen=chosen, ranks=0, loader=Held()).answer(part)
        shard = part.shards[fold]
        assert np.shares_memory(shard.codes, part.codes)
        assert shard.scratch is part.scratch
        for codes, among in shard.stretches():
            assert_array_equal(codes, CODES[chosen[shard.rows[among]]])


def test_messages_are_passed_on_to_the_shard_of_a_model():
    parts, sample = [encoded(), encoded()], RowSample(0.5, 0, 0)
    for i, part in enumerate(parts):
        open_shard(key=4, chosen=None, ranks=i * N, loader=Held()).answer(part)
    ask = forward_to_shard(
        key=4, calls=(begin_tree(sample=sample), count_codes(node=0), heaviest_row())
    )
    found = ask.reduce([ask.answer(part) for part in parts])
    kept = [sample.keeps(np.arange(N) + i * N) for i in (0, 1)]
    assert found[0] == sum(own.sum() for own in kept)
    expected = sum(np.bincount(CODES[own, 1], minlength=256) for own in kept)
    assert_array_equal(found[1][1], expected)
    assert found[2] == WEIGHTS.max()
    close_shard(key=4).answer(parts[0])
    close_shard(key=4).answer(parts[0])  # of a part that was told before
    assert 4 not in parts[0].shards


def test_a_new_worker_is_told_what_changed_the_rows():
    ask = forward_to_shard(key=4, calls=(begin_tree(), count_codes(node=0), heaviest_row()))
    assert ask.changes
    assert ask.lasting() == forward_to_shard(key=4, calls=(begin_tree(),))
    assert not forward_to_shard(key=4, calls=(count_codes(node=0),)).changes
    topics = {
        m.topic
        for m in (ask, open_shard(key=4, chosen=None, ranks=0, loader=Held()), close_shard(key=4))
    }
    assert len(topics) == 1
    assert close_shard(key=4).message.ends
    followed = {
        m.topic
        for m in (
            follow_rows(key=4, chosen=None, start=np.zeros(1)),
            advance_margins(key=4, forest=None),
            unfollow_rows(key=4),
        )
    }
    assert len(followed) == 1
    assert topics.isdisjoint(followed | {close_shard(key=5).topic})


class Ones:
    """A forest of three trees, each of which adds the first code."""

    def __len__(self):
        return 3

    def add_trees(self, codes, margins, first, last):
        margins += (last - first) * codes[:, :1].astype(float)


def test_margins_of_followed_rows_grow():
    part = encoded()
    follow_rows(key=0, chosen=CHOSEN, start=np.array([0.5])).answer(part)
    follow_rows(key=1, chosen=None, start=np.array([1.0, 2.0])).answer(part)
    assert part.followed[1][1].tolist() == [[1.0, 2.0]] * N
    for times in (3, 6):
        (margins,) = advance_margins(key=0, forest=Ones()).answer(part)
        assert_array_equal(margins[:, 0], 0.5 + times * CODES[CHOSEN, 0].astype(float))
    unfollow_rows(key=0).answer(part)
    unfollow_rows(key=0).answer(part)
    assert list(part.followed) == [1]


def test_what_was_not_done_yet_is_named():
    with pytest.raises(RuntimeError, match="send Encode first"):
        fetch_codes(chosen=None).answer(bare())
    with pytest.raises(RuntimeError, match="send BindLabels first"):
        fetch_row_data().answer(bare())
