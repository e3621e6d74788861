# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Counters of a node's rails before and after an incast: drops, ECN marks, congestion notifications, pauses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...core.command import Command, tool
from ...core.converge import DeviceError
from ...nodes.port_counters import priorities
from ..measure import Found, Measure, Missing
from ..node import ProofNode
from ..schedule.site import INCAST, Test
from .fabric_verdict import DROPS, IN_CLASS, MARKS, NOTIFICATIONS, PAUSED

LIMIT_S = 10.0
INFINIBAND = Path("/sys/class/infiniband")
SENT = "tx_packets"
HARDWARE: Mapping[str, Sequence[str]] = {
    MARKS: ("np_ecn_marked_roce_packets",),
    NOTIFICATIONS: ("np_cnp_sent",),
    DROPS: ("rx_discards", "out_of_buffer", "packet_seq_err", "out_of_sequence"),
}
"""Counters of RDMA devices in the kernel's tree that each quantity is the sum of."""
OF_PRIORITY: Mapping[str, Sequence[str]] = {DROPS: ("rx_discards", "tx_discards"), PAUSED: ("rx_pause",)}
"""Counters of the lossless priority."""

Counts = Mapping[str, int]


class Counters:
    """The counters at the start of a round, for the rails of this node that take part in an incast."""

    def __init__(self, node: ProofNode, tests: Sequence[Test]) -> None:
        self._node = node
        self._rails = {
            number: test.rails for number, test in enumerate(tests) if test.kind == INCAST and node.name in test.nodes
        }
        self._receives = {number for number, test in enumerate(tests) if test.nodes[0] == node.name}
        self._before = self._read()

    def found(self) -> dict[int, list[Found]]:
        """What each counter has grown by since the start, in packets, by the number of the test."""
        after = self._read() if self._rails else {}
        return {number: list(self._of(number, rails, after)) for number, rails in self._rails.items()}

    def _of(self, number: int, rails: Sequence[int], after: Mapping[int, Counts]) -> Iterator[Found]:
        # marks arrive at the receiver, and pauses at senders
        receives = number in self._receives
        names = (DROPS, MARKS, NOTIFICATIONS) if receives else (DROPS, PAUSED)
        for rail in rails:
            where = f"{self._node.name} rail{rail}"
            for name in names:
                before, now = self._before.get(rail, {}).get(name), after.get(rail, {}).get(name)
                if before is None or now is None:
                    yield Missing(name, where, "the driver has no such counter")
                else:
                    yield Measure(name, float(now - before), "packets", where)
            if not receives:
                yield self._share(rail, where, after.get(rail, {}))

    def _share(self, rail: int, where: str, after: Counts) -> Found:
        """How much of what this rail sent was in the lossless priority."""
        before = self._before.get(rail, {})
        sent = {name: now - before.get(name, 0) for name, now in after.items() if name.startswith(f"{SENT} ")}
        total, own = sum(sent.values()), sent.get(f"{SENT} {self._node.priority}")
        if own is None or total <= 0:
            return Missing(IN_CLASS, where, "the driver does not count packets of each priority")
        return Measure(IN_CLASS, 100 * own / total, "%", where)

    def _read(self) -> dict[int, Counts]:
        return {rail: self._rail(rail) for rail in sorted({it for rails in self._rails.values() for it in rails})}

    def _rail(self, rail: int) -> Counts:
        it = self._node.rails[rail]
        texts = {path.name: path for path in (INFINIBAND / it.rdma / "ports/1/hw_counters").glob("*")}
        found: dict[str, int] = {}
        for quantity, names in HARDWARE.items():
            values = [int(text) for name in names if name in texts and (text := _text(texts[name])).isdigit()]
            if values:
                found[quantity] = sum(values)
        try:
            printed = Command(LIMIT_S)([tool("ethtool"), "-S", it.netdev]).out
        except DeviceError:
            return found
        every = priorities(printed)
        found.update({f"{SENT} {at}": counts[SENT] for at, counts in every.items() if SENT in counts})
        own = every.get(str(self._node.priority), {})
        for quantity, names in OF_PRIORITY.items():
            values = [own[name] for name in names if name in own]
            if values:
                found[quantity] = found.get(quantity, 0) + sum(values)
        return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""
