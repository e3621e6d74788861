# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""NVIDIA Cumulus Linux: the objects that Drawbridge owns, as lines in one canonical form.

A line is a path of the object model with its value, as `nv set` takes it. `enable on` and `state enabled`, whose
spelling differs by release, are left out: what a line configures is on. `off` in any spelling is a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...model import Cnp, Roce, Storage, SwitchProfile
from ...plan import PORT, Lines
from ..channels import other_channel
from .capabilities import REST

Tree = Mapping[str, Any]
MODE, CLASSES, MARKING, WATCHDOG, HASH = "RoCE mode", "traffic classes", "ECN", "PFC watchdog", "ECMP hash"
PROFILE = "default-global"
ON, OFF = ("on", "enable", "enabled"), ("off", "disable", "disabled")
DEFAULT_MTU = 9216
"""Of a port without a line for it."""
HASHED = ("source-ip", "destination-ip", "ip-protocol", "source-port", "destination-port")
"""What tells flows apart: those of one pair of hosts differ in the UDP source port. All are on by default."""
POOLS = ("default-lossy", "roce-lossless")
"""Of RoCE mode."""
OVERRULING = ("pfc", "mapping", "congestion-control", "egress-scheduler", "link-pause")
"""Profiles that a port can have instead of the global one."""

_PART = re.compile(r"(?P<stem>[A-Za-z][\w.-]*?(?<!\d))?(?P<low>\d+)(?:-(?:[A-Za-z][\w.-]*?(?<!\d))?(?P<high>\d+))?")
_PANELS = re.compile(r"(?P<stem>[a-z]+)(?P<low>\d+)-(?P<high>\d+)s(?P<first>\d+)(?:-(?P<last>\d+))?")
"""Breakout ports of several ports: `swp1-2s0-1` is swp1s0, swp1s1, swp2s0, swp2s1."""


def ports_of(text: str) -> list[str]:
    """The interfaces of a key: `swp1-4,6` is what five ports share."""
    names: list[str] = []
    stem = ""
    for part in text.split(","):
        if found := _PANELS.fullmatch(part):
            low, high, first = (int(found[key]) for key in ("low", "high", "first"))
            lanes = range(first, int(found["last"] or first) + 1)
            names += [f"{found['stem']}{number}s{lane}" for number in range(low, high + 1) for lane in lanes]
            continue
        match = _PART.fullmatch(part)
        if not match or not (match["stem"] or stem):
            names.append(part)
            continue
        stem = match["stem"] or stem
        names += [f"{stem}{number}" for number in range(int(match["low"]), int(match["high"] or match["low"]) + 1)]
    return names


def interfaces(tree: Tree) -> dict[str, list[Tree]]:
    """The objects of each interface, from all keys that name it."""
    found: dict[str, list[Tree]] = {}
    for key, node in tree.get("interface", {}).items():
        for name in ports_of(key):
            found.setdefault(name, []).append(node)
    return found


def classes(profile: SwitchProfile) -> tuple[Roce | Cnp | Storage, ...]:
    """The traffic classes that Drawbridge owns."""
    return (profile.roce, profile.cnp, *([profile.storage] if profile.storage else []))


def sections_of(tree: Tree, profile: SwitchProfile) -> tuple[tuple[str, Lines], ...]:
    """The owned lines by section, in the order in which a change types them."""
    qos = tree.get("qos", {})
    sections = {
        MODE: (*_mode(qos), *_pausing(qos, profile), *_buffers(qos, profile)),
        CLASSES: tuple(_classes(qos, profile)),
        MARKING: tuple(_marking(qos, profile)),
        WATCHDOG: tuple(_values("qos pfc-watchdog", qos.get("pfc-watchdog", {}), ("polling-interval", "robustness"))),
        HASH: tuple(_hash(tree)),
    }
    own = interfaces(tree)
    for port in profile.ports:
        lines = _on_port(own.get(port, []), port in profile.channel_of)
        sections[f"{PORT}{port}"] = (f"{PORT}{port}", *sorted(lines))
    for channel in profile.channels:
        sections[f"{PORT}{channel.name}"] = (f"{PORT}{channel.name}", _mtu(own.get(channel.name, [])))
    return tuple(sections.items())


def at(node: Any, *path: object) -> Any:
    """The object or value at a path; an empty object if there is none."""
    for key in path:
        node = node.get(str(key), {}) if isinstance(node, Mapping) else {}
    return node


def _values(path: str, node: Tree, keys: tuple[str, ...]) -> Iterator[str]:
    """Lines of keys that have a value: the empty text configures nothing."""
    for key in keys:
        if key in node and not isinstance(node[key], Mapping) and node[key] not in ("", None):
            yield f"{path} {key} {node[key]}"


def _off(path: str, node: Tree, keys: tuple[str, ...]) -> Iterator[str]:
    yield from (line for line in _values(path, node, keys) if line.endswith(tuple(f" {word}" for word in OFF)))


def _mode(qos: Tree) -> Iterator[str]:
    yield from _values("qos roce", qos.get("roce", {}), ("mode",))
    yield from _off("qos roce", qos.get("roce", {}), ("enable", "state"))


def _buffers(qos: Tree, profile: SwitchProfile) -> Iterator[str]:
    """What divides the buffers, as far as the intent says it; otherwise the site's own stays."""
    if profile.cable_m:
        yield from _values("qos roce", qos.get("roce", {}), ("cable-length",))
    for pool in POOLS if profile.lossless_buffer_percent else ():
        yield from _values(f"qos traffic-pool {pool}", at(qos, "traffic-pool", pool), ("memory-percent",))


def _pausing(qos: Tree, profile: SwitchProfile) -> Iterator[str]:
    """Where PFC differs from that of RoCE mode: other priorities, or one direction only."""
    pfc = at(qos, "pfc", PROFILE)
    for priority in at(pfc, "switch-priority"):
        if priority != str(profile.roce.priority):
            yield f"qos pfc {PROFILE} switch-priority {priority}"
    yield from _off(f"qos pfc {PROFILE}", pfc, ("rx", "tx"))


def _classes(qos: Tree, profile: SwitchProfile) -> Iterator[str]:
    mapping, queues = at(qos, "mapping", PROFILE), at(qos, "egress-queue-mapping", PROFILE)
    yield from _values(f"qos mapping {PROFILE}", mapping, ("trust",))
    for part in classes(profile):
        path = f"dscp {part.dscp}"
        yield from _values(f"qos mapping {PROFILE} {path}", at(mapping, "dscp", part.dscp), ("switch-priority",))
    own = [part.priority for part in classes(profile)]
    others = _other_shares(qos, (REST, *own))
    for number in (*own, *others):
        path = f"qos egress-queue-mapping {PROFILE} switch-priority {number}"
        yield from _values(path, at(queues, "switch-priority", number), ("traffic-class",))
    for number in (REST, *own, *others):
        path = f"qos egress-scheduler {PROFILE} traffic-class {number}"
        node = at(qos, "egress-scheduler", PROFILE, "traffic-class", number)
        yield from _values(path, node, ("mode", "bw-percent"))


def _other_shares(qos: Tree, own: Sequence[int]) -> list[int]:
    """Traffic classes beside those of the intent that have a share. All shares are one whole, of which none is left.

    A class that the intent no longer has is one of them, with the queue of its switch priority.
    """
    shares = at(qos, "egress-scheduler", PROFILE, "traffic-class")
    return sorted(int(number) for number, it in shares.items() if "bw-percent" in it and int(number) not in own)


def _marking(qos: Tree, profile: SwitchProfile) -> Iterator[str]:
    """Thresholds, and what spoils them: marking that is off, early drops that are on."""
    node = at(qos, "congestion-control", PROFILE, "traffic-class", profile.roce.priority)
    path = f"qos congestion-control {PROFILE} traffic-class {profile.roce.priority}"
    yield from _values(path, node, ("min-threshold", "max-threshold", "probability"))
    yield from _off(path, node, ("ecn",))
    if node and str(node.get("red")) in ON:
        yield f"{path} red {node['red']}"


def _hash(tree: Tree) -> Iterator[str]:
    yield from _off("system forwarding ecmp-hash", at(tree, "system", "forwarding", "ecmp-hash"), HASHED)


def wrong_channels(tree: Tree, profile: SwitchProfile) -> Iterator[str]:
    """Ports whose bond on the switch is another one than in the intent, as sentences with the repair."""
    members = {
        port: name
        for name, nodes in interfaces(tree).items()
        for node in nodes
        for key in at(node, "bond", "member")
        for port in ports_of(key)
    }
    for port in profile.ports:
        if members.get(port, "") != (wanted := profile.channel_of.get(port, "")):
            yield other_channel(port, members.get(port, ""), wanted)


def _mtu(nodes: list[Tree]) -> str:
    mtus = [at(node, "link", "mtu") for node in nodes]
    return f"   link mtu {next((mtu for mtu in mtus if mtu != {}), DEFAULT_MTU)}"


def _on_port(nodes: list[Tree], member: bool) -> Iterator[str]:
    """A member of a bond has the bond's MTU."""
    if not member:
        yield _mtu(nodes)
    for node in nodes:
        qos = at(node, "qos")
        if "pfc-watchdog" in qos:
            off = list(_off("   qos pfc-watchdog", qos["pfc-watchdog"], ("state",)))
            yield from off or ["   qos pfc-watchdog"]
        for kind in OVERRULING:
            if name := at(qos, kind, "profile"):
                yield f"   qos {kind} profile {name}"
