# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Packets of a file that QEMU has written (pcap)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

ROCE_PORT, NAME_PORT = 4791, 9
_FILE, _PACKET, _ETHERNET, _UDP = 24, struct.Struct("<IIII"), 14, 8
IPV4, UDP = 0x0800, 17
RELIABLE = range(0x20)
"""Opcodes of reliable connections; RDMA-CM's own messages are unreliable datagrams."""


def datagrams(capture: bytes) -> Iterator[tuple[str, int, int, bytes]]:
    """Source address, type of service, destination port and payload of each UDP datagram over IPv4."""
    place = _FILE
    while place + _PACKET.size <= len(capture):
        kept = _PACKET.unpack_from(capture, place)[2]
        place += _PACKET.size
        frame, place = capture[place : place + kept], place + kept
        packet = frame[_ETHERNET:]
        if frame[12:14] != struct.pack(">H", IPV4) or packet[9] != UDP:
            continue
        start = (packet[0] & 15) * 4
        source = ".".join(map(str, packet[12:16]))
        yield source, packet[1], struct.unpack_from(">H", packet, start + 2)[0], packet[start + _UDP :]


def types_of_service(capture: bytes, sender: str) -> dict[str, set[int]]:
    """Types of service of a sender's packets in reliable connections, by the name that it has sent before them."""
    found: dict[str, set[int]] = {}
    name = ""
    for source, tos, port, payload in datagrams(capture):
        if source != sender:
            continue
        if port == NAME_PORT:
            name = payload.decode()
            found.setdefault(name, set())
        elif port == ROCE_PORT and payload[0] in RELIABLE:
            found[name].add(tos)
    return found
