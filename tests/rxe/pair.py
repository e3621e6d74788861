# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Two virtual machines with one cable between them: perftest's server and its client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.guest import boot
from tests.rxe import wire
from tests.waiting import until

SCRIPT = Path(__file__).parent / "rxe.sh"
FIRST_PORT = 18600
CLIENT = "10.9.0.2"


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
    sent = wire.types_of_service((folder / "wire2").read_bytes(), CLIENT)
    return Seen((folder / "end2/console").read_text(), sent)


def cable(folder: Path, end: int) -> list[str]:
    """The cable's end; QEMU writes each packet on it into a file."""
    side = "server=on" if end == 1 else "server=off"
    return [
        *("-netdev", f"stream,id=net0,{side},addr.type=unix,addr.path={folder / 'cable'}"),
        *("-device", f"virtio-net-pci,netdev=net0,mac=02:00:00:00:00:0{end}"),
        *("-object", f"filter-dump,id=wire,netdev=net0,file={folder / f'wire{end}'}"),
    ]
