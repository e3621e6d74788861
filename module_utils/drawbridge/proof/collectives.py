# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Limits of collectives: bus bandwidth as nccl-tests and rccl-tests print it, in a node and between nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .gpu_models import GpuModel, gpu_model
from .limits import Derived, NoLimit, number, unknown_model
from .measure import Limit

ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALLTOALL = "all_reduce", "all_gather", "reduce_scatter", "alltoall"
RING, HIERARCHICAL, CHOSEN = "Ring", "hierarchical", ""
"""How nodes exchange data: NCCL_ALGO=Ring, a tree over nodes (Tree, NVLSTree), or as NCCL chooses."""
FABRIC_NODES = 4
"""With fewer nodes, a tree's bus bandwidth says little about the fabric."""
NODE_SHARE = 0.90
SHARES: Mapping[str, float] = {ALL_REDUCE: 0.85, ALL_GATHER: 0.80, REDUCE_SCATTER: 0.80, ALLTOALL: 0.80}
"""Share of the ceiling between nodes. Published: all_reduce 0.91 to 0.96, all_gather 0.85, alltoall 0.84."""
RAIL_ALONE_SHARE = 0.90
"""One GPU and one rail of each node, as NCCL_TESTS_SPLIT="MOD 8" runs them."""


@dataclass(frozen=True)
class Group:
    """Equal nodes that run a collective together. `rails` are a node's NICs, each of `gbps` Gb/s."""

    nodes: int
    gpus: int
    rails: int
    gbps: float
    product: str = ""
    """Product name of the GPUs; empty: the links in the node are not considered."""

    @property
    def ranks(self) -> int:
        """GPUs of all nodes."""
        return self.nodes * self.gpus

    @property
    def nics(self) -> float:
        """GB/s of one node's NICs, one direction."""
        return self.rails * self.gbps / 8


def algorithm_for(nodes: int) -> str:
    """Return the NCCL_ALGO for a group of so many nodes; empty: NCCL's choice is fit to judge a fabric."""
    return RING if 1 < nodes < FABRIC_NODES else CHOSEN


def ceiling(collective: str, group: Group, algorithm: str) -> float:
    """Return GB/s of bus bandwidth that the NICs of several nodes allow.

    Raises ValueError for an unknown collective and for one node.
    """
    if collective not in SHARES or group.nodes < 2:
        raise ValueError(f"no ceiling of {collective} over {group.nodes} nodes")
    ranks, nodes = group.ranks, group.nodes
    if collective == ALLTOALL:
        # a GPU sends `ranks - gpus` of its `ranks` parts to other nodes
        return group.nics / group.gpus * (ranks - 1) / (ranks - group.gpus)
    if algorithm == RING:
        return group.nics
    # each node sends (nodes - 1) / nodes of the data, but bus bandwidth counts (ranks - 1) / ranks
    return group.nics * (ranks - 1) / ranks * nodes / (nodes - 1)


def most_bus_bandwidth(collective: str, group: Group, algorithm: str = CHOSEN) -> Derived:
    """Return GB/s above which the data can't have passed the NICs that the intent has.

    In-network reduction (SHARP) is not considered. Raises ValueError as `ceiling` does.
    """
    value = ceiling(collective, group, algorithm)
    model = gpu_model(group.product)
    if model and model.rack:
        return NoLimit(f"links of {model.name} also connect nodes", "GB/s", at_least=False)
    return Limit(value, "GB/s", False, f"{_ceiling_why(collective, group, algorithm)} = {number(value)} GB/s")


def bus_bandwidth(collective: str, group: Group, algorithm: str = CHOSEN) -> Derived:
    """Return GB/s of a group of nodes: one node over its links, several over their NICs.

    Raises ValueError for an unknown collective.
    """
    if group.nodes == 1:
        return node_bus_bandwidth(collective, group.gpus, group.product)
    model = gpu_model(group.product)
    if refused := _unfit(collective, group, algorithm, model):
        return refused
    # NCCL takes the faster algorithm, so the ring is the least that a tree must reach
    most, why = ceiling(collective, group, RING), _ceiling_why(collective, group, RING)
    share = SHARES[collective]
    if group.gpus == 1:
        share = RAIL_ALONE_SHARE
    elif model and (link := model.between(group.gpus)) < most:
        most, why = link, f"{number(link)} GB/s (links of {model.name}, slower than the NICs)"
    return Limit(share * most, "GB/s", True, f"{share:.2f} x {why}")


def _unfit(collective: str, group: Group, algorithm: str, model: GpuModel | None) -> NoLimit | None:
    """Why a result of this group says nothing about the fabric; None if it does."""
    if group.gpus == 1:
        return None
    if model and not model.link:
        return NoLimit(f"{model.name} has no links to all GPUs of its node", "GB/s")
    if collective == ALLTOALL or algorithm == RING:
        return None
    if algorithm == HIERARCHICAL:
        return NoLimit("no share of the ceiling of Tree or NVLSTree is known; use NCCL_ALGO=Ring", "GB/s")
    if group.nodes < FABRIC_NODES:
        why = f"{group.nodes} nodes do not show the fabric; use {FABRIC_NODES} nodes or NCCL_ALGO=Ring"
        return NoLimit(why, "GB/s")
    return None


def _ceiling_why(collective: str, group: Group, algorithm: str) -> str:
    ranks, nics = group.ranks, f"{group.rails} x {number(group.gbps)} Gb/s / 8"
    if collective == ALLTOALL:
        return f"{nics} / {group.gpus} GPUs x {ranks - 1}/{ranks - group.gpus} ({group.nodes} nodes)"
    if algorithm == RING:
        return f"{nics} (NICs of a node, ring)"
    factors = f"{ranks - 1}/{ranks} x {group.nodes}/{group.nodes - 1}"
    return f"{nics} x {factors} (tree over {group.nodes} nodes)"


def node_bus_bandwidth(collective: str, gpus: int, product: str, nvls: bool = True) -> Derived:
    """Return GB/s of a collective of the GPUs of one node; `nvls` is false where NCCL's log says that it is inactive.

    Raises ValueError for an unknown collective.
    """
    if collective not in SHARES:
        raise ValueError(f"{collective} is not known")
    model = gpu_model(product)
    if model is None:
        return unknown_model(product, "GB/s")
    if gpus < 2:
        return NoLimit("a single GPU of a node has no partner there", "GB/s")
    if not model.link:
        return NoLimit(f"{model.name} has no links to all GPUs of its node", "GB/s")
    if collective != ALL_REDUCE:
        return NoLimit(f"no {collective} in one node is published", "GB/s")
    share, reason = model.reached(gpus, nvls)
    rate = model.between(gpus)
    why = f"{NODE_SHARE:.2f} x {100 * share:.0f} % ({reason}) x {number(rate)} GB/s (links of {model.name}, one way)"
    return Limit(NODE_SHARE * share * rate, "GB/s", True, why)
