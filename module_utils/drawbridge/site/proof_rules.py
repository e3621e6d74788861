# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules between the proof and what it measures."""

from __future__ import annotations

from collections.abc import Iterator

from ..core import hostlist
from ..core.faults import MISSING, Fault
from ..core.rules import doubled
from ..fabric.model import Fabric
from ..nodes.model import Nodes
from ..proof.model import Proof


def proved_classes_exist(nodes: Nodes, proof: Proof) -> Iterator[Fault]:
    """What a class must prove is that of a class of the site."""
    for name in proof.classes:
        if name not in nodes.classes:
            repair = f"use one of {', '.join(sorted(nodes.classes))}, or remove the entry"
            yield Fault(f"drawbridge_proof.classes.{name}", name, "no class of drawbridge_nodes has that name", repair)


def rails_have_a_rate(nodes: Nodes, proof: Proof, fabric: Fabric | None) -> Iterator[Fault]:
    """Without a line rate, no limit of a rail can be derived, and a slow rail would pass."""
    for name, build in nodes.classes.items():
        for at, nics in enumerate(build.nics):
            if fabric and nics.purpose == "rails" and not nics.gbps:
                key = f"drawbridge_nodes.classes.{name}.nics[{at}].gbps"
                reason = "drawbridge_proof derives limits of rails from their line rate"
                yield Fault(key, MISSING, reason, "set gbps: 400, or the rate that they have in Gb/s")


def directories_are_measured_once(proof: Proof) -> Iterator[Fault]:
    """Two entries of one directory would disturb each other."""
    paths = [it.path for it in proof.directories]
    yield from doubled("drawbridge_proof.directories", paths, "name each directory once")


def limits_and_uplinks_are_given_once(proof: Proof) -> Iterator[Fault]:
    """Of two values for the same thing, one would silently win."""
    yield from doubled("drawbridge_proof.limits", [it.measure for it in proof.limits], "name each measure once")
    leaves = [leaf for it in proof.uplinks for leaf in hostlist.expand(it.leaves)]
    yield from doubled("drawbridge_proof.uplinks", leaves, "name each leaf once")


RULES = (proved_classes_exist, rails_have_a_rate, directories_are_measured_once, limits_and_uplinks_are_given_once)
