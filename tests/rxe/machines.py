# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Three virtual machines with two rails of rdma_rxe each, programs that run on them, and the packets of one (pcap)."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.guest import boot
from tests.waiting import until

SCRIPT = Path(__file__).parent / "rxe.sh"
NAMES = ("n1", "n2", "n3")
RAILS = (0, 1)
SEEN = "n2"
"""The machine whose packets are kept."""
ROCE_PORT = 4791
_FILE, _PACKET, _ETHERNET, _UDP = 24, struct.Struct("<IIII"), 14, 8
IPV4, UDP = 0x0800, 17
RELIABLE = range(0x20)
"""Opcodes of reliable connections; RDMA-CM's own messages are unreliable datagrams."""


def address(name: str, rail: int = 0) -> str:
    """The address of a machine's rail."""
    return f"10.9.{rail}.{name[1:]}"


@dataclass
class Machines:
    """Booted machines by name."""

    folder: Path
    guests: dict[str, subprocess.Popen] = field(default_factory=dict)
    ran: int = 0

    def boot(self, tos: int) -> None:
        """Boot all. `tos`: RDMA-CM's default."""
        system = boot.debian(with_packages=True)
        for name in NAMES:
            (self.folder / f"{name}.jobs").mkdir()
            words = f"rxe.end={name[1:]} rxe.tos={tos}"
            devices = [*_shared(self.folder / f"{name}.jobs"), *_cables(self.folder, name)]
            self.guests[name] = boot.start(system, self.folder / name, SCRIPT, words, devices)
            # its servers are there before the others look for the cables
            last = self.folder / f"cable{RAILS[-1]}-{NAMES[-1]}"
            until(last.exists, boot.LIMIT_S, "the first one has its end of the cables")

    def run(self, programs: Mapping[str, str | bytes]) -> dict[str, tuple[int, str]]:
        """Run a program on each of these machines at the same time; exit codes, and what they printed."""
        self.ran += 1
        for name in NAMES:
            program = programs.get(name, "#!/bin/sh\n")
            job = self.folder / f"{name}.jobs/{self.ran}"
            job.with_suffix(".new").write_bytes(program if isinstance(program, bytes) else program.encode())
            job.with_suffix(".new").rename(job)
        return {name: self._ended(name, self.folder / f"{name}.jobs/{self.ran}") for name in NAMES if name in programs}

    def _ended(self, name: str, job: Path) -> tuple[int, str]:
        code, guest = job.with_suffix(".code"), self.guests[name]
        until(lambda: code.exists() or guest.poll() is not None, boot.LIMIT_S, f"{name} has run its program")
        assert code.exists(), (self.folder / name / "console").read_text()
        return int(code.read_text()), job.with_suffix(".out").read_text()

    def end(self) -> None:
        """Switch all off."""
        for guest in self.guests.values():
            boot.end(guest)

    def mark(self) -> Mapping[int, int]:
        """How much each capture has, by rail."""
        return {rail: self._wire(rail).stat().st_size for rail in RAILS}

    def sent_since(self, mark: Mapping[int, int], rail: int) -> set[int]:
        """Types of service of what SEEN has sent in reliable connections since then."""
        capture = self._wire(rail).read_bytes()[mark[rail] :]
        sender = address(SEEN, rail)
        return {tos for source, tos, port, payload in datagrams(capture)
                if source == sender and port == ROCE_PORT and payload[0] in RELIABLE}  # fmt: skip

    def _wire(self, rail: int) -> Path:
        return self.folder / f"wire{rail}"


def _shared(folder: Path) -> list[str]:
    return ["-virtfs", f"local,path={folder},mount_tag=jobs,security_model=none"]


def _cables(folder: Path, name: str) -> Iterator[str]:
    """NICs and cables. The first machine's QEMU joins the others; QEMU writes the packets of one into a file."""
    for rail in RAILS:
        place, nic = f"addr.type=unix,addr.path={folder / f'cable{rail}'}", f"nic{rail}"
        if name == NAMES[0]:
            yield from ("-netdev", f"hubport,id={nic},hubid={rail}")
            for other in NAMES[1:]:
                yield from ("-netdev", f"stream,id=to{rail}{other},server=on,{place}-{other}")
                yield from ("-netdev", f"hubport,id=port{rail}{other},hubid={rail},netdev=to{rail}{other}")
        else:
            yield from ("-netdev", f"stream,id={nic},server=off,{place}-{name}")
        mac = f"02:00:00:00:0{rail}:0{name[1:]}"
        yield from ("-device", f"virtio-net-pci,netdev={nic},mac={mac},host_mtu=9000")
        if name == SEEN:
            yield from ("-object", f"filter-dump,id=wire{rail},netdev={nic},file={folder / f'wire{rail}'},maxlen=64")


def datagrams(capture: bytes) -> Iterator[tuple[str, int, int, bytes]]:
    """Source address, type of service, destination port and payload's start of each UDP datagram over IPv4.

    `capture` begins at a packet.
    """
    place = 0
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
