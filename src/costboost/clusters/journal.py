"""What changed parts: enough to bring a new one to where the others are.

One entry for every call that changed anything: the messages that did, for all parts or by part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from costboost.shards.messages import Message

__all__ = ["Journal", "Said"]

Said = Message | Sequence[Message]


def _changes(order: Said) -> bool:
    return order.changes if isinstance(order, Message) else any(m.changes for m in order)


class Journal:
    """Calls that changed parts, in their order."""

    def __init__(self) -> None:
        self._calls: list[tuple[Said, ...]] = []

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, orders: Sequence[Said]) -> None:
        """Remember of a call what changed parts; a call that changed nothing is no entry."""
        changed = tuple(order for order in orders if _changes(order))
        if changed:
            self._calls.append(changed)

    def since(self, entry: int, parts: Iterable[int]) -> dict[int, list[Message]]:
        """Return what some parts have to be told that know everything before an entry."""
        missed = [order for call in self._calls[entry:] for order in call]
        if not missed:
            return {}
        return {
            part: [order if isinstance(order, Message) else order[part] for order in missed]
            for part in parts
        }
