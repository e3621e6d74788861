# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The circuit breaker: one bad check, or one dead switch, must not drain a cluster. Pure.

There is a breaker for the site and one for each unit, the nodes with the same leaf switches. A breaker opens when
findings want to keep more nodes drained than its limit. While it is open, findings drain no node of it. A person closes
it, because a program can't know whether a hundred nodes are broken or one check is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from .model import Breaker

SITE = "site"


@dataclass(frozen=True)
class Domain:
    """Nodes with a breaker of their own."""

    name: str
    nodes: frozenset[str]
    most: int
    """Nodes that findings may keep drained."""


def domains(limits: Breaker, units: Mapping[str, Collection[str]]) -> list[Domain]:
    """The site, then each unit. `units` has the nodes of the site by the name of their unit."""
    every = frozenset(name for names in units.values() for name in names)
    parts = [(name, frozenset(names), limits.unit_percent) for name, names in units.items()]
    return [
        Domain(name, names, max(limits.least, len(names) * percent // 100))
        for name, names, percent in [(SITE, every, limits.site_percent), *parts]
    ]


def opening(some: Sequence[Domain], drained: Collection[str], wanted: Collection[str]) -> dict[str, str]:
    """Breakers that these wishes open, with the reason. `drained` and `wanted` are nodes: by findings, now and next.

    Nodes drain themselves before a job, so `drained` alone may be too many. A unit whose breaker opens counts for the
    site with its limit. So a dead leaf switch opens the breaker of its unit, and a bad check that of the site.
    """
    found: dict[str, str] = {}
    left, shut = set(wanted), 0
    for domain in sorted(some, key=lambda it: it.name == SITE):
        count = len(domain.nodes & left.union(drained)) + (shut if domain.name == SITE else 0)
        if count > domain.most:
            every, size = len(domain.nodes & {*wanted, *drained}), len(domain.nodes)
            found[domain.name] = f"findings would keep {every} of {size} nodes drained, the limit is {domain.most}"
            left -= domain.nodes
            shut += max(0, domain.most - len(domain.nodes.intersection(drained)))
    return {SITE: found[SITE]} if SITE in found else found


def shut_for(some: Sequence[Domain], opened: Collection[str]) -> dict[str, str]:
    """Nodes that findings drain no more, with the open breaker that they belong to; the site's comes first."""
    found: dict[str, str] = {}
    for domain in some:
        if domain.name in opened:
            found.update({name: domain.name for name in domain.nodes if name not in found})
    return found
