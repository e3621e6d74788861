# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Juniper Junos: the statements that Drawbridge owns, as lines in one canonical form.

A line is a statement without the word `set`. `deactivate PATH` says that a statement is written down, but not in force.
On ports, the port's name is left out: `class-of-service interfaces et-0/0/0 scheduler-map ROCE` is
`class-of-service scheduler-map ROCE`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ...model import Cnp, Roce, Storage, SwitchProfile
from ...plan import PORT, Lines

NAME = "ROCE"
"""Of Drawbridge's objects; those of a class other than the lossless one add a word."""
COS = "class-of-service"
CNP, STORAGE, REST, CONTROL = (f"{NAME}-{word}" for word in ("CNP", "STORAGE", "REST", "CONTROL"))
QUEUES = {NAME: 4, CNP: 6}
STORAGE_QUEUE = {True: 3, False: 2}
"""By whether storage is lossless. The classes of a queue are all lossless or none; by default, those of 3 and 4 are."""
CLASSES = (NAME, CNP, STORAGE)
HASH = "ECMP hash"
LEFT_OUT = re.compile(
    r"forwarding-options enhanced-hash-key (hash-mode layer2-header"
    r"|(family )?inet6? no-(ipv[46]-(source|destination)-address|l4-(source|destination)-port|protocol|next-header))"
)
"""Statements that take from the hash what tells RoCE flows apart. Of itself Junos has all of it, and the queue pair."""
MARKS, ECN, SHARES, PAUSE = "classifier", "drop profile", "schedulers", f"congestion notification profile {NAME}"
ROOTS = {
    **{f"forwarding class {name}": (f"{COS} forwarding-classes class {name}",) for name in CLASSES},
    MARKS: (f"{COS} classifiers dscp {NAME}",),
    ECN: (f"{COS} drop-profiles {NAME}",),
    SHARES: (
        *(f"{COS} schedulers {name}" for name in (NAME, CNP, STORAGE, REST, CONTROL)),
        f"{COS} scheduler-maps {NAME}",
    ),
    PAUSE: (f"{COS} congestion-notification-profile {NAME}",),
}
"""Objects of each section, in the order in which a change types them. All below them is Drawbridge's, but for LEFT."""
LEFT = re.compile(
    rf"{COS} congestion-notification-profile {NAME} input (cable-length \S+|dscp code-point \S+ pfc (.+))"
)
"""What the site may tune in Drawbridge's profile: the cable length, and the size and thresholds of a code point."""
ON_PORT = re.compile(
    rf"{COS} (congestion-notification-profile|scheduler-map|forwarding-class-set|output-traffic-control-profile) \S.*"
    rf"|{COS} (unit \S+ )?(classifiers dscp|forwarding-class) \S+"
    r"|mtu \d+|(ether|aggregated-ether)-options flow-control"
)
"""Statements of a port: the owned ones, and those that would overrule them."""
BOUND = (
    f"{COS} congestion-notification-profile",
    f"{COS} scheduler-map",
    f"{COS} unit * classifiers dscp",
    "mtu",
)
"""Statements of a port that Drawbridge sets, without their values."""
DEFAULT_MTU = 1514
OFF = "deactivate "


@dataclass(frozen=True)
class Statements:
    """The configuration of a switch: statements, and paths of those that are not in force."""

    lines: Lines
    off: Lines

    @classmethod
    def of(cls, text: str) -> Statements:
        """Read what `| display set` prints."""
        lines = [line.strip() for line in text.splitlines()]
        return cls(
            tuple(line.removeprefix("set ") for line in lines if line.startswith("set ")),
            tuple(line.removeprefix(OFF) for line in lines if line.startswith(OFF)),
        )

    def below(self, path: str) -> Iterator[str]:
        """Statements at a path or below it, and marks of those that are not in force."""
        yield from (line for line in self.lines if within(line, path))
        yield from (f"{OFF}{line}" for line in self.off if within(line, path))


def within(line: str, path: str) -> bool:
    """Whether a statement is at a path or below it."""
    return f"{line} ".startswith(f"{path} ")


def classes(profile: SwitchProfile) -> dict[str, Roce | Cnp | Storage]:
    """The traffic classes by the names of their forwarding classes."""
    storage: dict[str, Roce | Cnp | Storage] = {STORAGE: profile.storage} if profile.storage else {}
    return {NAME: profile.roce, CNP: profile.cnp, **storage}


def queue(name: str, profile: SwitchProfile) -> int:
    """The queue of a forwarding class."""
    return STORAGE_QUEUE[bool(profile.storage and profile.storage.lossless)] if name == STORAGE else QUEUES[name]


def sections_of(config: Statements, profile: SwitchProfile) -> tuple[tuple[str, Lines], ...]:
    """The owned lines by section, in the order in which a change types them."""
    sections = {
        name: tuple(sorted(_canonical(line for root in roots for line in config.below(root))))
        for name, roots in ROOTS.items()
    }
    sections[ECN] = tuple(_canonical(config.below(ROOTS[ECN][0])))  # its lists have an order
    if profile.ecmp:
        sections[HASH] = tuple(sorted(line for line in config.lines if LEFT_OUT.fullmatch(line)))
    for port in profile.ports:
        sections[f"{PORT}{port}"] = (f"{PORT}{port}", *sorted(_on_port(config, port)))
    return tuple(sections.items())


def _canonical(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        match = LEFT.fullmatch(line)
        if match and match[2]:
            yield line.removesuffix(f" {match[2]}")
        elif not match:
            yield line


def _on_port(config: Statements, port: str) -> Iterator[str]:
    found = [_without(line, port) for start in (COS, "") for line in config.below(f"{start} interfaces {port}".strip())]
    owned = [line for line in found if ON_PORT.fullmatch(line) or _switches_off(line)]
    yield from (f"   {line}" for line in owned)
    if not any(line.startswith("mtu ") for line in owned):
        yield f"   mtu {DEFAULT_MTU}"


def _switches_off(line: str) -> bool:
    path = line.removeprefix(OFF)
    return line.startswith(OFF) and any(within(it, path) or within(path, it) for it in BOUND)


def _without(line: str, port: str) -> str:
    mark = OFF if line.startswith(OFF) else ""
    path = line.removeprefix(OFF)
    start = f"{COS} " if path.startswith(f"{COS} ") else ""
    return f"{mark}{start}{path.removeprefix(f'{start}interfaces {port}').strip()}"


def statement(line: str, port: str) -> str:
    """The whole statement of a port's line."""
    text = line.strip()
    start = f"{COS} " if text.startswith(f"{COS} ") else ""
    return f"{start}interfaces {port} {text.removeprefix(start)}"
