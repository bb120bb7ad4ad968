"""Which worker gets which parts: where their rows are already, else whoever has least."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from costboost.clusters import handshake
from costboost.clusters.errors import VersionsDifferError
from costboost.clusters.transport import Candidate, Transport

__all__ = ["Housing"]


class Housing:
    """Deals parts to the workers of a transport.

    Parameters
    ----------
    transport : Transport
    homes : mapping
        The worker on which a part's rows are already.

    Attributes
    ----------
    refused : dict
        Workers that get no parts any more, and why.
    """

    def __init__(self, transport: Transport, homes: Mapping[int, str]) -> None:
        self.refused: dict[str, str] = {}
        self._transport = transport
        self._homes = dict(homes)
        self._shunned: dict[int, set[str]] = {}

    def leave(self, parts: Iterable[int]) -> None:
        """Note that the rows of some parts are no longer where they were."""
        for part in parts:
            self._homes.pop(part, None)

    def shun(self, worker: str, parts: Iterable[int]) -> None:
        """Let some parts go elsewhere, if they can: they failed on this worker."""
        for part in parts:
            self._shunned.setdefault(part, set()).add(worker)

    def deal(self, parts: Iterable[int], load: Counter[str]) -> list[tuple[str, tuple[int, ...]]]:
        """Deal parts to workers that are there; `load` says how many parts each has.

        A part that failed before is alone in its group, so that it takes no others with it.
        """
        alive = self._candidates()
        dealt: dict[tuple[str, int | None], list[int]] = {}
        for part in sorted(parts):
            able = [n for n, c in alive.items() if c.parts is None or part in c.parts]
            if not able:
                continue
            worker = self._choose(part, able, load)
            load[worker] += 1
            dealt.setdefault((worker, part if part in self._shunned else None), []).append(part)
        return [(worker, tuple(own)) for (worker, _), own in dealt.items()]

    def _candidates(self) -> dict[str, Candidate]:
        """Return who may hold parts: alive, of the same make, and not silent."""
        alive = {}
        for name, candidate in self._transport.workers().items():
            if name in self.refused:
                continue
            try:
                handshake.check(name, candidate.identity)
            except VersionsDifferError as error:
                self.refused[name] = str(error)
                continue
            alive[name] = candidate
        return alive

    def _choose(self, part: int, able: list[str], load: Counter[str]) -> str:
        home = self._homes.get(part)
        if home in able:
            return home
        shunned = self._shunned.get(part, set())
        return min(able, key=lambda name: (name in shunned, load[name]))
