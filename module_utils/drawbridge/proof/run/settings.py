# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The configuration of the proof's program, as view `node_proof` derives it: nodes, units, leaves, limits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ...core import hostlist
from ..node import ProofNode
from ..schedule.site import Site, site_of

NEEDED = {"cluster", "partition", "classes", "ranges", "uplinks", "passports", "group", "incast", "percent_per_hour"}
"""Keys of the file."""


@dataclass(frozen=True)
class Placed:
    """A node's class, unit, and the leaf of each of its rails."""

    node_class: str
    unit: str
    leaves: tuple[str, ...]


@dataclass(frozen=True)
class Settings:
    """The configuration. `raw` is the file's content."""

    raw: Mapping[str, Any]

    @classmethod
    def parse(cls, text: str) -> Settings:
        """Read the file. Raises ValueError for text that is no such JSON object."""
        found = json.loads(text)
        if not isinstance(found, dict):
            raise ValueError("it is no JSON object")
        if lacking := sorted(NEEDED - found.keys()):
            raise ValueError(f"it has no {lacking[0]}")
        return cls(found)

    @cached_property
    def classes(self) -> dict[str, ProofNode]:
        """A node of each class, without its own name."""
        return {name: ProofNode.from_dict(data) for name, data in self.raw["classes"].items()}

    @cached_property
    def placed(self) -> dict[str, Placed]:
        """All nodes, in the order of the intent."""
        return {
            name: Placed(part["node_class"], part["unit"], tuple(part["leaves"]))
            for part in self.raw["ranges"]
            for name in hostlist.expand(part["names"])
        }

    @cached_property
    def addresses(self) -> dict[str, str]:
        """Addresses of the nodes that have one beside their name."""
        return {
            name: address
            for part in self.raw["ranges"]
            if part["addresses"]
            for name, address in zip(hostlist.expand(part["names"]), hostlist.expand(part["addresses"]))
        }

    @property
    def partition(self) -> str:
        """Slurm's partition of the proof; reservation and jobs have this name, too."""
        return str(self.raw["partition"])

    @property
    def per_hour(self) -> int:
        """Share of the nodes that a patrol measures in an hour, in percent."""
        return int(self.raw["percent_per_hour"])

    @property
    def uplinks(self) -> Mapping[str, float]:
        """Gb/s of each leaf's cables to spines; a leaf that is not known is absent."""
        return self.raw["uplinks"]

    def build(self, name: str) -> ProofNode:
        """A node of this node's class. Raises KeyError for a node that the intent lacks."""
        return self.classes[self.placed[name].node_class]

    def node(self, name: str) -> ProofNode:
        """A node as its checks see it. Raises KeyError for a node that the intent lacks."""
        return replace(self.build(name), name=name)

    @cached_property
    def with_rails(self) -> frozenset[str]:
        """Nodes whose rails are measured."""
        builds = {name for name, it in self.classes.items() if it.rails and it.mtu_bytes}
        return frozenset(name for name, it in self.placed.items() if it.node_class in builds)

    def wants_passport(self, name: str) -> bool:
        """Whether the node takes jobs only with a passport."""
        return self.placed[name].node_class in self.raw["passports"]

    def site(self, names: Collection[str]) -> Site:
        """These nodes for the search, without those that have no rails or whose network is the site's."""
        wanted = set(names)
        units: dict[str, list[str]] = {}
        leaves: dict[str, Sequence[str]] = {}
        for name, it in self.placed.items():
            build = self.classes[it.node_class]
            if name in wanted and build.mtu_bytes:
                units.setdefault(it.unit, []).append(name)
                # of a bond, the leaf of its first member stands for the rail
                step = max(1, len(it.leaves) // max(1, len(build.rails)))
                leaves[name] = it.leaves[::step]
        return site_of(units, leaves, group=self.raw["group"], incast=self.raw["incast"])

    @cached_property
    def digest(self) -> str:
        """A hash of all that a result depends on in the intent."""
        return hashlib.sha256(json.dumps(self.raw, sort_keys=True).encode()).hexdigest()
