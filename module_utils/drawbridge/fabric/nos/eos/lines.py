# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Arista EOS: which lines of a configuration Drawbridge owns, in one canonical form.

EOS hides defaults, sorts blocks, joins maps into one line and may drop lines that equal a default. In the canonical
form, equal text means equal configuration.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Union

from ...model import Cnp, Roce, Storage, SwitchProfile
from ...plan import Lines
from ..channels import other_channel

Class = Union[Roce, Cnp, Storage]
PROFILE = "qos profile ROCE"
MAPS = "traffic classes"
WATCHDOG = "PFC watchdog"
HASH = "ECMP hash"
HASHED = {
    "ip": "source-ip source-port destination-ip destination-port ingress-interface",
    "ipv6": "destination-port source-ip ingress-interface destination-ip source-port flow-label",
}
"""Fields that XGS uses of itself, as a line that EOS then hides."""
NEEDED = {"source-ip", "source-port", "destination-ip", "destination-port"}
"""What tells RoCE flows apart; others don't matter."""
QUEUE = {"xgs": "uc-tx-queue", "jericho": "tx-queue"}
"""Broadcom XGS splits unicast queues from the others, Jericho does not."""
INSTANT = {"xgs": " weight 0", "jericho": ""}
"""XGS weighs the queue's depth; 0 is the depth of this moment, and the default that EOS need not print."""
DEFAULT_CLASS = (1, 0, 2, 3, 4, 5, 6, 7)
"""Default traffic class of each block of eight DSCPs: 0 and 1 are swapped (EOS manual)."""
DEFAULT_MTU = "   mtu 1500"

_TIME = re.compile(r"(priority-flow-control pause watchdog default (?:timeout|recovery-time|polling-interval)) (\S+)")
_ACTION = re.compile(r"priority-flow-control pause watchdog action \S+")
_MAP = re.compile(r"qos map (dscp|traffic-class) ([\d ,-]+) to (traffic-class|tx-queue) (\d+)")
_HASH = re.compile(r"ip load-sharing trident fields (ip|ipv6) (.+)")
_OWNED = re.compile(r"   (mtu |service-profile |(no )?qos trust(?! dscp)|priority-flow-control )")
"""Lines of a port: the owned ones, and those that would overrule the profile."""


def classes(profile: SwitchProfile) -> tuple[Class, ...]:
    """The traffic classes that Drawbridge owns."""
    return (profile.roce, profile.cnp, *([profile.storage] if profile.storage else []))


def map_line(kind: str, number: int, to: int) -> str:
    """Map a DSCP to a class, or a traffic class to a queue."""
    return f"qos map {kind} {number} to {'traffic-class' if kind == 'dscp' else 'tx-queue'} {to}"


def blocks_of(text: str) -> dict[str, list[str]]:
    """The lines below each top-level line, without remarks and separators."""
    blocks: dict[str, list[str]] = {}
    below: list[str] = []
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("!"):
            continue
        if line.startswith(" "):
            below.append(line.rstrip())
        else:
            below = blocks.setdefault(line.rstrip(), [])
    return blocks


def sections_of(blocks: dict[str, list[str]], profile: SwitchProfile) -> tuple[tuple[str, Lines], ...]:
    """The owned lines by section, in the order in which a change types them."""
    sections = {MAPS: _maps(blocks, profile), WATCHDOG: _watching(blocks), PROFILE: _profile(blocks, profile)}
    if profile.ecmp and profile.family == "xgs":
        sections[HASH] = hashes({match[1]: match[2] for match in map(_HASH.fullmatch, blocks) if match})
    queues = [f"   {QUEUE[profile.family]} {priority}" for priority in profile.lossless]
    for port in profile.ports:
        header = f"interface {port}"
        sections[header] = _on_port(header, blocks.get(header, []), queues, port in profile.channel_of)
    for channel in profile.channels:
        header = f"interface {channel.name}"
        sections[header] = (header, next(_mtus(blocks.get(header, [])), DEFAULT_MTU))
    return tuple(sections.items())


def hashes(fields: Mapping[str, str]) -> Lines:
    """The fields by which equal paths are chosen; those of EOS itself stand for any that have all of RoCE's."""
    return tuple(
        f"ip load-sharing trident fields {kind} {own if {*fields.get(kind, own).split()} >= NEEDED else fields[kind]}"
        for kind, own in HASHED.items()
    )


def wrong_channels(blocks: dict[str, list[str]], profile: SwitchProfile) -> Iterator[str]:
    """Ports whose port-channel on the switch is another one than in the intent, as sentences with the repair."""
    for port in profile.ports:
        groups = [
            line.split()[1] for line in blocks.get(f"interface {port}", []) if line.startswith("   channel-group ")
        ]
        there, wanted = (f"Port-Channel{groups[0]}" if groups else ""), profile.channel_of.get(port, "")
        if there != wanted:
            yield other_channel(port, there, wanted)
        elif wanted and f"interface {wanted}" not in blocks:
            yield f"it has no {wanted}; make the port-channel on the switch"


def _mtus(body: list[str]) -> Iterator[str]:
    return (line for line in body if line.startswith("   mtu "))


def _maps(blocks: dict[str, list[str]], profile: SwitchProfile) -> Lines:
    """The maps of both classes; one line may map many numbers, and EOS may hide a default."""
    found = {
        (match[1], number): int(match[4])
        for match in map(_MAP.fullmatch, blocks)
        if match
        for number in _numbers(match[2])
    }
    parts = classes(profile)
    lines = [map_line("dscp", p.dscp, found.get(("dscp", p.dscp), DEFAULT_CLASS[p.dscp // 8])) for p in parts]
    queues = [(p.priority, found.get(("traffic-class", p.priority), p.priority)) for p in parts]
    return (*lines, *(map_line("traffic-class", number, queue) for number, queue in queues))


def _numbers(text: str) -> list[int]:
    bounds = [[int(number) for number in part.split("-")] for part in re.split(r"[ ,]+", text.strip())]
    return [number for bound in bounds for number in range(bound[0], bound[-1] + 1)]


def _watching(blocks: dict[str, list[str]]) -> Lines:
    times = [f"{match[1]} {float(match[2]):g}" for match in map(_TIME.fullmatch, blocks) if match]
    return (*sorted(times), *(line for line in blocks if _ACTION.fullmatch(line)))


def _profile(blocks: dict[str, list[str]], profile: SwitchProfile) -> Lines:
    if PROFILE not in blocks:
        return ()
    weight = INSTANT[profile.family]
    hides = re.compile(r"random-detect ecn minimum-threshold (?!.* weight )")
    return canonical(PROFILE, [line + weight if hides.search(line) else line for line in blocks[PROFILE]])


def canonical(header: str, body: list[str]) -> Lines:
    """The block in one order: lines, then queues."""
    return _joined(header, *_split(body))


def _on_port(header: str, body: list[str], own: list[str], member: bool) -> Lines:
    """A member of a port-channel has the MTU of the port-channel."""
    plain, queues = _split(body)
    owned = [line for line in plain if _OWNED.match(line) and not (member and line.startswith("   mtu "))]
    if not member and not any(_mtus(owned)):
        owned.append(DEFAULT_MTU)
    marking = {queue: [line for line in queues.get(queue, []) if "random-detect ecn" in line] for queue in own}
    return _joined(header, owned, {queue: lines for queue, lines in marking.items() if lines})


def _split(body: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    top: list[str] = []
    queues: dict[str, list[str]] = {}
    for line in body:
        if line.startswith("      "):
            queues.setdefault(top[-1], []).append(line)
        else:
            top.append(line)
    return [line for line in top if line not in queues], queues


def _joined(header: str, plain: list[str], queues: dict[str, list[str]]) -> Lines:
    below = [line for queue in sorted(queues) for line in (queue, *sorted(queues[queue]))]
    return (header, *sorted(plain), *below)
