# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Which nodes are free in a round, and who is a known good partner."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from .state import State


class Free:
    """The nodes of one round. Each node serves one task, so that no port carries two tests."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.used: set[str] = set()
        self._log: list[str] = []
        self._ready: dict[str, list[str]] = {}

    def mark(self) -> int:
        """A place to which `undo` returns."""
        return len(self._log)

    def undo(self, mark: int) -> None:
        """Give back the nodes that were claimed since the mark."""
        if len(self._log) > mark:
            self.used.difference_update(self._log[mark:])
            del self._log[mark:]
            self._ready.clear()

    def claim(self, nodes: Iterable[str]) -> bool:
        """Use these nodes in this round; False if one of them is in use already."""
        nodes = list(nodes)
        if not self.used.isdisjoint(nodes):
            return False
        self.used.update(nodes)
        self._log.extend(nodes)
        return True

    def take(self, unit: str, avoid: Collection[str] = (), level: int = 1) -> str | None:
        """A node of this unit that passed in the step of this level or a later one, or None."""
        if unit not in self._ready:
            self._ready[unit] = self._sorted(unit)
        ready = self._ready[unit]
        while ready and ready[-1] in self.used:
            ready.pop()
        for node in reversed(ready):
            if self.state.trust[node] < level:
                return None
            if node not in avoid and node not in self.used:
                self.claim([node])
                return node
        return None

    def _sorted(self, unit: str) -> list[str]:
        """The last one is the best: it passed in the latest step. Others of this kind come first in other rounds."""
        trust = self.state.trust
        nodes = [node for node in self.state.good(self.state.site.units[unit]) if node in trust]
        turn = self.state.turn % max(1, len(nodes))
        return sorted(nodes[turn:] + nodes[:turn], key=trust.__getitem__)

    def partners(self, unit: str, count: int, avoid: Collection[str], never: Collection[str]) -> list[str] | None:
        """Known good nodes: the own unit's if it has any, new ones before those to avoid. None if too few are free.

        A task waits for nodes of its unit that passed in this step: another unit's are behind a leaf pair, which may
        be slow. Before any test has passed, nodes that no test has met yet are partners.
        """
        if not count:
            return []
        level, blocks = self.state.level, ({*avoid, *never}, set(never))
        mates = self.state.good(self.state.site.units[unit])
        enough = sum(self.state.trust.get(node) == level for node in mates if node not in never) >= count
        found: list[str] = []
        # at the start of a step all nodes are as good as the last step left them
        levels = (level,) if enough else (level, 1) if self.state.newest == level else (1,)
        for lowest in levels:
            for other in [unit] if enough else self._units(unit, found):
                for block in blocks:
                    while len(found) < count and (node := self.take(other, block, lowest)):
                        found.append(node)
                if len(found) == count:
                    return found
        return None if self.state.good(self.state.trust) else self._unmet(unit, count - len(found), blocks, found)

    def _unmet(self, unit: str, count: int, blocks: Iterable[set[str]], found: list[str]) -> list[str] | None:
        """The partners found so far, and nodes that no test has met."""
        nodes = [node for other in self._units(unit, found) for node in self.state.good(self.state.site.units[other])]
        for block in blocks:
            some = [node for node in nodes if node not in block and node not in self.used][:count]
            count -= len(some)
            self.claim(some)
            found += some
        return None if count else found

    def _units(self, unit: str, found: Sequence[str]) -> Iterator[str]:
        """The own unit, and then others that no suspected leaf pair separates from it or from partners found."""
        yield unit
        site, slow = self.state.site, self.state.slow
        units = list(site.units)
        turn = self.state.turn % len(units)
        for other in units[turn:] + units[:turn]:
            reached = {unit, *(site.unit_of[node] for node in found)}
            if other != unit and not any((other, it) in slow for it in reached):
                yield other
