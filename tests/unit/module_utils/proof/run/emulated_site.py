# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The site of the emulated cluster: nodes, leaves, cables, and the faults that a test plants."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import hostlist
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.settings import Settings
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.proof_view import node_proof

from tests.unit.module_utils.site.test_refused import site

NAMES = [f"gpu{number:02}" for number in range(1, 9)]
PER_UNIT, RAILS, DSCP = 4, 8, 26
FILES = {"/gpfs/fs1": ("gpfs", True), "/scratch": ("xfs", False)}
FIRMWARE, OLD_FIRMWARE = "28.41.1000", "28.39.1002"
STALE = "stale"
PORT = {"up": True, "mtu": 9214, "trust": True, "lossless": [3], "marks": [3]}


def leaf_of(host: str, rail: int, optimised: bool) -> str:
    """A leaf for each unit, or for each rail of it."""
    unit = NAMES.index(host) // PER_UNIT
    return f"leaf{unit * RAILS + rail + 1}" if optimised else f"leaf{unit + 1}"


def uplinks(optimised: bool) -> int:
    """Cables of a leaf to the spine, as many as those to nodes."""
    return PER_UNIT if optimised else PER_UNIT * RAILS


@functools.cache
def settings(optimised: bool) -> Settings:
    """The lab's intent with eight nodes in two units."""
    intent = site("lab")
    ranges = [
        {"names": "gpu[01-04]", "node_class": "h100", "leaves": "leaf[1-8]" if optimised else "leaf1"},
        {"names": "gpu[05-08]", "node_class": "h100", "leaves": "leaf[9-16]" if optimised else "leaf2"},
    ]
    intent["drawbridge_nodes"]["ranges"] = ranges
    rates = {"read_mb_s": 2000, "write_mb_s": 2000, "size_mib": 8}
    own = intent["drawbridge_proof"]
    own["directories"] = [{"path": it, "file_system": FILES[it][0], "shared": FILES[it][1], **rates} for it in FILES]
    own["tools"]["dcgmi"] = "/usr/bin/dcgmi"
    leaves = sorted({leaf for it in ranges for leaf in hostlist.expand(it["leaves"])})
    own["uplinks"] = [{"leaves": leaf, "gbps": 400 * uplinks(optimised)} for leaf in leaves]
    parts = (part(name, intent[f"drawbridge_{name}"]) for name in ("nodes", "slurm", "proof", "fabric"))
    return Settings(node_proof(*parts))


@functools.cache
def cables(optimised: bool) -> tuple[Mapping[tuple[str, int], tuple[str, str]], Mapping[str, Any]]:
    """Switch and port of each rail, and the switches: leaves with their cables to one spine."""
    ends: dict[tuple[str, int], tuple[str, str]] = {}
    count: Counter[str] = Counter()
    for host, rail in itertools.product(NAMES, range(RAILS)):
        leaf = leaf_of(host, rail, optimised)
        count[leaf] += 1
        ends[host, rail] = (leaf, f"Ethernet{count[leaf]}")
    switches: dict[str, Any] = {"spine1": {"ports": {}, "dscp": {str(DSCP): 3}, "neighbors": {}}}
    each = uplinks(optimised)
    for number, leaf in enumerate(count):
        own: dict[str, Any] = {"ports": {}, "dscp": {str(DSCP): 3}, "neighbors": {}}
        own["ports"] = {f"Ethernet{at}": PORT for at in range(1, 2 * each + 1)}
        for at in range(1, each + 1):
            mine, theirs = f"Ethernet{each + at}", f"Ethernet{number * each + at}"
            own["neighbors"][mine] = ["spine1", theirs]
            switches["spine1"]["neighbors"][theirs] = [leaf, mine]
            switches["spine1"]["ports"][theirs] = PORT
        switches[leaf] = own
    return ends, switches


class Memory:
    """A device of a host: its state without a file."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content

    @contextlib.contextmanager
    def state(self, default: Mapping[str, Any] | None = None) -> Iterator[dict[str, Any]]:
        for key, value in (default or {}).items():
            self.content.setdefault(key, value)
        yield self.content

    def fault(self, *_words: object) -> None:
        return None

    def journal(self, **_fields: object) -> None:
        pass


@dataclass
class Faults:
    """Planted faults. `hosts` has the state of measuring tools, as lab/plant.py writes it, and further keys."""

    hosts: dict[str, dict[str, Any]] = field(default_factory=dict)
    ports: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    """Changes of switch ports."""
    slow: dict[str, float] = field(default_factory=dict)
    plugged: dict[tuple[str, int], tuple[str, str]] = field(default_factory=dict)
    """Switch and port in which the cable of a rail ends instead."""

    def host(self, name: str, key: str) -> dict[str, Any]:
        """A part of a host's state: rails, gpus, mounts, disks, firmware."""
        return self.hosts.setdefault(name, {}).setdefault(key, {})
