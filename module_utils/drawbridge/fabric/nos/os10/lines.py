# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Dell SmartFabric OS10: which lines of a configuration Drawbridge owns, in one canonical form.

OS10 hides defaults, spells numbers as ranges and sorts blocks. In the canonical form, equal text means equal
configuration.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from ...model import Cnp, Roce, Storage, SwitchProfile
from ...plan import PORT, Lines

NAME = "ROCE"
"""Of everything that Drawbridge makes; blocks with other names belong to the site."""
MAPS, QUEUES, PAUSE, HASH = "DSCP and queue maps", "queues", "PFC policy", "ECMP hash"
LEFT_OUT = re.compile(
    r"no (load-balancing (tcp-udp-selection l4-(source|destination)-port|ip(v6)?-selection (source|destination)-ip))"
)
"""Fields of RoCE that the hash does without. OS10 uses all of them by default, and prints those that are off."""
OWNED = {
    MAPS: (f"trust dscp-map {NAME}", f"qos-map traffic-class {NAME}"),
    QUEUES: (f"wred {NAME}", rf"class-map type queuing {NAME}-Q\d", f"policy-map type queuing {NAME}"),
    PAUSE: (rf"class-map type network-qos {NAME}-\d", f"policy-map type network-qos {NAME}"),
}
"""Headers of the owned blocks by section. Blocks come before those that name them."""
DEFAULTS = {
    " mtu": " mtu 1532",
    " flowcontrol receive": " flowcontrol receive off",
    " flowcontrol transmit": " flowcontrol transmit off",
    " ets mode": " ets mode off",
}
"""Lines of a port that OS10 need not print."""

_ON_PORT = re.compile(
    r" (mtu|flowcontrol (receive|transmit)|priority-flow-control mode on|ets mode|qos-map traffic-class|trust-map"
    r"|service-policy (input type network-qos|output type queuing)) ?.*"
)
"""Lines of a port: the owned ones, and those that would overrule them."""
_NUMBERS = re.compile(r"( (?:match qos-group|match queue|(?:qos-group|queue) \d+ \S+)) ([\d,-]+)")


def classes(profile: SwitchProfile) -> tuple[Roce | Cnp | Storage, ...]:
    """The traffic classes that Drawbridge owns."""
    return (profile.roce, profile.cnp, *([profile.storage] if profile.storage else []))


def blocks_of(text: str) -> dict[str, list[str]]:
    """The lines below each top-level line, without remarks and separators."""
    blocks: dict[str, list[str]] = {}
    below: list[str] = []
    for line in map(str.rstrip, text.splitlines()):
        if not line or line.lstrip().startswith("!"):
            continue
        if line.startswith(" "):
            below.append(line)
        else:
            below = blocks.setdefault(line, [])
    return blocks


def sections_of(blocks: dict[str, list[str]], profile: SwitchProfile) -> tuple[tuple[str, Lines], ...]:
    """The owned lines by section, in the order in which a change types them."""
    sections = {name: _section(blocks, patterns) for name, patterns in OWNED.items()}
    if profile.ecmp:
        sections[HASH] = tuple(sorted(header for header in blocks if LEFT_OUT.fullmatch(header)))
    for port in profile.ports:
        sections[f"{PORT}{port}"] = on_port(port, blocks.get(f"{PORT}{port}", []))
    for header in (f"{PORT}{channel.name}" for channel in profile.channels):
        mtus = [line for line in blocks.get(header, []) if line.startswith(" mtu ")]
        sections[header] = (header, *(mtus or [DEFAULTS[" mtu"]]))
    return tuple(sections.items())


def is_owned(header: str) -> bool:
    """Whether a block is Drawbridge's as a whole."""
    return any(re.fullmatch(pattern, header) for patterns in OWNED.values() for pattern in patterns)


def is_owned_on_port(line: str) -> bool:
    """Whether a line of a port is Drawbridge's, or would overrule one that is."""
    return bool(_ON_PORT.fullmatch(line))


def _section(blocks: dict[str, list[str]], patterns: tuple[str, ...]) -> Lines:
    found = [sorted(header for header in blocks if re.fullmatch(pattern, header)) for pattern in patterns]
    return tuple(line for headers in found for header in headers for line in (header, *_sorted(blocks[header])))


def _sorted(body: list[str]) -> list[str]:
    """Lines, then classes with their lines, each in one order."""
    plain: list[str] = []
    inner: dict[str, list[str]] = {}
    for line in map(_ranged, body):
        if line.startswith("  "):
            list(inner.values())[-1].append(line)
        elif line.startswith(" class "):
            inner[line] = []
        else:
            plain.append(line)
    return [*sorted(plain), *(line for header in sorted(inner) for line in (header, *sorted(inner[header])))]


def on_port(port: str, body: Iterable[str]) -> Lines:
    """The owned lines of a port, with the defaults that OS10 hides."""
    owned = [line for line in body if is_owned_on_port(line)]
    hidden = [line for start, line in DEFAULTS.items() if not any(it.startswith(f"{start} ") for it in owned)]
    return (f"{PORT}{port}", *sorted([*owned, *hidden]))


def ranges(numbers: Iterable[int]) -> str:
    """Numbers as OS10 spells them: `0-25,27`."""
    runs: list[str] = []
    for _unused, group in groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0]):
        row = [number for _unused, number in group]
        runs.append(str(row[0]) if len(row) == 1 else f"{row[0]}-{row[-1]}")
    return ",".join(runs)


def _ranged(line: str) -> str:
    match = _NUMBERS.fullmatch(line)
    if not match:
        return line
    bounds = [[int(number) for number in part.split("-")] for part in match[2].split(",")]
    return f"{match[1]} {ranges(number for bound in bounds for number in range(bound[0], bound[-1] + 1))}"
