"""What changed parts: enough to bring a new one to where the others are.

One entry for every order that changed anything, by the number of its call: a message for all parts,
or one by part. What is over (`Message.ends`) is taken out, so that a part that is built again
need not train the models of folds that are done.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from costboost.clusters.requests import told
from costboost.shards.messages import Message

__all__ = ["Journal", "Said"]

Said = Message | Sequence[Message]


@dataclass(frozen=True)
class _Entry:
    call: int
    order: Said


def _one(order: Said) -> Message:
    return order if isinstance(order, Message) else order[0]


def _changes(order: Said) -> bool:
    return order.changes if isinstance(order, Message) else any(m.changes for m in order)


def _lasting(order: Said) -> Said:
    return order.lasting() if isinstance(order, Message) else [m.lasting() for m in order]


class Journal:
    """Orders that changed parts.

    Attributes
    ----------
    calls : int
        How many calls there were.
    """

    def __init__(self) -> None:
        self.calls = 0
        self._entries: list[_Entry] = []

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, orders: Sequence[Said]) -> None:
        """Remember of a call what changed parts."""
        self.calls += 1
        for order in orders:
            if _one(order).ends:
                self._forget(order)
            elif _changes(order):
                self._entries.append(_Entry(self.calls, _lasting(order)))

    def _forget(self, order: Said) -> None:
        """Take out what an order ends; itself only matters to those who were told the rest."""
        topic = _one(order).topic
        self._entries = [entry for entry in self._entries if _one(entry.order).topic != topic]

    def since(self, calls: int, parts: Iterable[int]) -> dict[int, list[Message]]:
        """Return what parts have to be told that know of so many calls."""
        if calls == self.calls:
            return {}
        missed = [entry.order for entry in self._entries if entry.call > calls]
        if not missed:
            return {}
        return {part: [told(order, part) for order in missed] for part in parts}
