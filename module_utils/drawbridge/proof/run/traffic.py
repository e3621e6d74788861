# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the fabric as flows between two rails, and the command of perftest at each end of a flow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..node import ProofNode
from ..schedule.site import CROSSING, INCAST, PAIR, PATH, Test

BANDWIDTH, LATENCY, READ_LATENCY = "rail bandwidth", "rail latency", "rail latency (read)"
"""Phases of a test and names of their measures. A phase begins when both ends of a flow have ended the one before."""
PATH_MTU = "path MTU"
GATE_PORT = 18514
"""Port at which a receiver lets its senders begin."""
FIRST_PORT, MOST_SENDERS, PHASE_PORTS = 18515, 64, 2048
"""Ports of servers: 64 for each rail, 2,048 for each phase, all below those that the kernel gives to clients."""
SIZE_BYTES, QUEUES, ITERATIONS = 1 << 20, 4, 1000
LATENCIES = (LATENCY, READ_LATENCY)
TOOLS = {BANDWIDTH: "ib_write_bw", LATENCY: "ib_write_lat", READ_LATENCY: "ib_read_lat"}
START_S, LISTEN_S = 30.0, 30.0
"""Seconds that a tool gets beside its measurement, and seconds until servers listen."""


@dataclass(frozen=True)
class Flow:
    """Packets from a rail of one node to a rail of another one. `test` is the number of its test in the round."""

    test: int
    sender: str
    sender_rail: int
    receiver: str
    receiver_rail: int
    slot: int
    """Number of the flow among those of a round to the same rail."""

    @property
    def where(self) -> str:
        """The flow in words."""
        return f"{self.sender} rail{self.sender_rail} -> {self.receiver} rail{self.receiver_rail}"


def phases(test: Test, wanted: Sequence[str]) -> tuple[str, ...]:
    """The wanted measurements that a test can have. A latency among many senders says nothing."""
    return tuple(phase for phase in wanted if phase == BANDWIDTH or test.kind != INCAST)


def flows(tests: Sequence[Test]) -> list[Flow]:
    """All flows of a round, in the order of its tests."""
    slots: Counter[tuple[str, int]] = Counter()
    found = []
    for number, test in enumerate(tests):
        for sender, sender_rail, receiver, receiver_rail in _ends(test):
            slot = slots[receiver, receiver_rail]
            slots[receiver, receiver_rail] += 1
            found.append(Flow(number, sender, sender_rail, receiver, receiver_rail, slot))
    return found


def _ends(test: Test) -> Iterator[tuple[str, int, str, int]]:
    nodes, rails = test.nodes, test.rails
    if test.kind == CROSSING:
        yield nodes[0], rails[0], nodes[1], rails[1]
        yield nodes[1], rails[1], nodes[0], rails[0]
    elif test.kind == INCAST:
        yield from ((node, rail, nodes[0], rail) for rail in rails for node in nodes[1:])
    elif test.kind == PATH:
        yield from ((nodes[0], rail, nodes[1], rail) for rail in rails)
    elif test.kind == PAIR or len(nodes) == 2:
        both = ((nodes[0], nodes[1]), (nodes[1], nodes[0]))
        yield from ((sender, rail, receiver, rail) for rail in rails for sender, receiver in both)
    else:
        ring = list(zip(nodes, [*nodes[1:], nodes[0]]))
        yield from ((sender, rail, receiver, rail) for rail in rails for sender, receiver in ring)


def port(flow: Flow, phase: str) -> int:
    """TCP port of a flow's server. Raises ValueError for more flows than a rail has ports."""
    if flow.slot >= MOST_SENDERS:
        raise ValueError(f"more than {MOST_SENDERS} flows to {flow.receiver} rail{flow.receiver_rail}")
    return FIRST_PORT + list(TOOLS).index(phase) * PHASE_PORTS + flow.receiver_rail * MOST_SENDERS + flow.slot


def command(node: ProofNode, rail: int, gid: int, phase: str, at_port: int, host: str = "") -> list[str]:
    """The tool at one end: the server, or with `host` the client that measures.

    Packets carry the lossless class at both ends, because acknowledgements and data of reads come from the server.
    """
    device = ["-d", node.rails[rail].rdma, "-x", str(gid), "-F"]
    if phase == BANDWIDTH:
        how = ["--report_gbits", "-s", str(SIZE_BYTES), "-q", str(QUEUES), "-D", str(node.seconds)]
    else:
        how = ["-n", str(ITERATIONS)]
    return [TOOLS[phase], *device, *how, f"--tclass={node.tclass}", "-p", str(at_port), *([host] if host else [])]


def limit_s(node: ProofNode, phase: str) -> float:
    """Seconds after which a tool hangs."""
    return START_S + (node.seconds if phase == BANDWIDTH else 0)
