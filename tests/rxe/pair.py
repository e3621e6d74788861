# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Two virtual machines with two rails of rdma_rxe, programs that run on both, and the packets between them (pcap)."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.guest import boot
from tests.waiting import until

SCRIPT = Path(__file__).parent / "rxe.sh"
NAMES = ("n00000", "n00001")
RAILS = (0, 1)
ROCE_PORT = 4791
CLOCK = ("-icount", "shift=0")
"""A machine's time is the number of its instructions, and real time while it is idle.

perftest compares two clocks 200 times. Where the host interrupts that, it prints 0 as the rate of any traffic.
"""
_FILE, _PACKET, _ETHERNET, _UDP = 24, struct.Struct("<IIII"), 14, 8
IPV4, UDP = 0x0800, 17
RELIABLE = range(0x20)
"""Opcodes of reliable connections; RDMA-CM's own messages are unreliable datagrams."""


def address(name: str, rail: int = 0) -> str:
    """The address of a machine's rail."""
    return f"10.9.{rail}.{NAMES.index(name) + 1}"


class Pair:
    """Both machines. Each program runs when the one before has ended on both."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._guests: dict[str, subprocess.Popen] = {}
        self._ran = 0
        self._seen: list[int] = []

    def boot(self, tos: int) -> None:
        """Boot both. `tos`: RDMA-CM's default."""
        system = boot.debian(with_packages=True)
        for end, name in enumerate(NAMES, 1):
            jobs = self.folder / f"{name}.jobs"
            jobs.mkdir()
            share = ["-virtfs", f"local,path={jobs},mount_tag=jobs,security_model=none"]
            words = f"rxe.end={end} rxe.name={name} rxe.tos={tos}"
            devices = [*CLOCK, *share, *self._cables(end)]
            self._guests[name] = boot.start(system, self.folder / name, SCRIPT, words, devices)
            # its server is there before the other one looks for the cables
            until((self.folder / f"cable{RAILS[-1]}").exists, boot.LIMIT_S, "the first one has its ends of the cables")
        self.run(("", ""))

    def _cables(self, end: int) -> Iterator[str]:
        """Ends of the cables; QEMU writes the start of each packet on them into a file."""
        for rail in RAILS:
            place = f"server={'on' if end == 1 else 'off'},addr.type=unix,addr.path={self.folder / f'cable{rail}'}"
            yield from ("-netdev", f"stream,id=net{rail},{place}")
            mac = f"02:00:00:00:0{rail}:0{end}"
            yield from ("-device", f"virtio-net-pci,netdev=net{rail},mac={mac},host_mtu=9000")
            if end == 2:
                file = self.folder / f"wire{rail}"
                yield from ("-object", f"filter-dump,id=wire{rail},netdev=net{rail},file={file},maxlen=64")

    def run(self, programs: Sequence[str | bytes]) -> list[str]:
        """Run a program on each machine; what they printed. Raises AssertionError for another exit code than 0."""
        self._ran += 1
        wires = [self.folder / f"wire{rail}" for rail in RAILS]
        self._seen = [wire.stat().st_size if wire.exists() else 0 for wire in wires]
        jobs = [self.folder / f"{name}.jobs/{self._ran}" for name in NAMES]
        for job, program in zip(jobs, programs, strict=True):
            whole = job.with_suffix(".new")
            whole.write_bytes(program if isinstance(program, bytes) else f"#!/bin/sh\n{program}\n".encode())
            whole.rename(job)
        return [self._ended(name, job) for name, job in zip(NAMES, jobs, strict=True)]

    def _ended(self, name: str, job: Path) -> str:
        code, guest = job.with_suffix(".code"), self._guests[name]
        until(lambda: code.exists() or guest.poll() is not None, boot.LIMIT_S, f"{name} has run its program")
        printed = job.with_suffix(".out").read_text() if code.exists() else (self.folder / name / "console").read_text()
        assert code.exists() and code.read_text() == "0\n", printed
        return printed

    def sent(self, rail: int) -> set[int]:
        """Types of service that the second machine has sent in reliable connections during the last programs."""
        packets = (self.folder / f"wire{rail}").read_bytes()[self._seen[rail] :]
        return types_of_service(packets, address(NAMES[1], rail))

    def end(self) -> None:
        """Switch both off."""
        for guest in self._guests.values():
            boot.end(guest)


def types_of_service(packets: bytes, sender: str) -> set[int]:
    """Types of service of a sender's packets in reliable connections. `packets`: a capture without its head."""
    return {
        tos
        for source, tos, port, payload in datagrams(packets)
        if source == sender and port == ROCE_PORT and payload[0] in RELIABLE
    }


def datagrams(packets: bytes) -> Iterator[tuple[str, int, int, bytes]]:
    """Source address, type of service, destination port and payload of each UDP datagram over IPv4."""
    place = 0
    while place + _PACKET.size <= len(packets):
        kept = _PACKET.unpack_from(packets, place)[2]
        place += _PACKET.size
        frame, place = packets[place : place + kept], place + kept
        packet = frame[_ETHERNET:]
        if frame[12:14] != struct.pack(">H", IPV4) or packet[9] != UDP:
            continue
        start = (packet[0] & 15) * 4
        source = ".".join(map(str, packet[12:16]))
        yield source, packet[1], struct.unpack_from(">H", packet, start + 2)[0], packet[start + _UDP :]
