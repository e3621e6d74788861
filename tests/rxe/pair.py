# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Two virtual machines with one cable between them, perftest's server and its client, and the packets on it (pcap)."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.guest import boot
from tests.waiting import until

SCRIPT = Path(__file__).parent / "rxe.sh"
FIRST_PORT = 18600
CLIENT = "10.9.0.2"
ROCE_PORT, NAME_PORT = 4791, 9
_FILE, _PACKET, _ETHERNET, _UDP = 24, struct.Struct("<IIII"), 14, 8
IPV4, UDP = 0x0800, 17
RELIABLE = range(0x20)
"""Opcodes of reliable connections; RDMA-CM's own messages are unreliable datagrams."""


@dataclass(frozen=True)
class Seen:
    """What the client printed, and the types of service that it sent, by case."""

    printed: str
    sent: Mapping[str, set[int]]


def run(folder: Path, tos: int, cases: Mapping[str, tuple[str, ...]]) -> Seen:
    """Boot both, run all cases one after another. `tos`: RDMA-CM's default on both."""
    system = boot.debian(with_packages=True)
    listed = ";".join(
        f"{name}:{FIRST_PORT + number}:{','.join(words)}" for number, (name, words) in enumerate(cases.items())
    )
    guests = []
    try:
        for end in (1, 2):
            words = f"rxe.end={end} rxe.tos={tos} rxe.cases={listed}"
            guests.append(boot.start(system, folder / f"end{end}", SCRIPT, words, cable(folder, end)))
            # its server is there before the client looks for the cable
            until((folder / "cable").exists, boot.LIMIT_S, "the first one has its end of the cable")
        boot.end(guests[1], patience_s=boot.LIMIT_S)
    finally:
        for guest in guests:
            boot.end(guest)
    sent = types_of_service((folder / "wire2").read_bytes(), CLIENT)
    return Seen((folder / "end2/console").read_text(), sent)


def cable(folder: Path, end: int) -> list[str]:
    """The cable's end; QEMU writes each packet on it into a file."""
    side = "server=on" if end == 1 else "server=off"
    return [
        *("-netdev", f"stream,id=net0,{side},addr.type=unix,addr.path={folder / 'cable'}"),
        *("-device", f"virtio-net-pci,netdev=net0,mac=02:00:00:00:00:0{end}"),
        *("-object", f"filter-dump,id=wire,netdev=net0,file={folder / f'wire{end}'}"),
    ]


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
