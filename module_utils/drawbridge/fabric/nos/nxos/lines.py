# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Cisco NX-OS: which lines of a configuration Drawbridge owns, in one canonical form.

NX-OS hides defaults, names DSCPs and may add empty default classes. In the canonical form, equal text means equal
configuration. Indentation is that of NX-OS: two spaces a level.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ...model import SwitchProfile
from ...plan import PORT, Lines

DATA, NOTIFICATIONS, STORAGE = (f"class-map type qos match-all ROCE-{name}" for name in ("DATA", "CNP", "STORAGE"))
INPUT, OUTPUT, NETWORK = (
    "policy-map type qos ROCE-IN",
    "policy-map type queuing ROCE-OUT",
    ("policy-map type network-qos ROCE-NQ"),
)
CLASSES, SYSTEM, WATCHDOG, HASH = "traffic classes", "system qos", "PFC watchdog", "ECMP hash"
SPREAD = "ip load-sharing address"
HASHED = f"{SPREAD} source-destination port source-destination"
"""What a Nexus does of itself, and then need not print. `rotate` and `universal-id` may follow."""
PFC = "priority-flow-control"
WATCHED = {
    f"{PFC} watch-dog-interval": "off",
    f"{PFC} watch-dog interval": "100",
    f"{PFC} watch-dog shutdown-multiplier": "1",
    f"{PFC} auto-restore multiplier": "10",
}
"""The lines of the watchdog with the values that NX-OS hides."""
DEFAULT_MTU = "mtu 1500"
NAMES = {
    **{f"cs{number}": 8 * number for number in range(1, 8)},
    **{f"af{number}{drop}": 8 * number + 2 * drop for number in range(1, 5) for drop in range(1, 4)},
    **{"default": 0, "ef": 46},
}
"""What NX-OS calls some DSCPs."""

Block = dict[str, Any]
"""Lines with the block below each."""

_POLICIES = "service-policy type (qos input|queuing output) "
_OWNED = re.compile(rf"mtu |{PFC} (mode|watch-dog-interval)|{_POLICIES}")
_OF_MEMBER = re.compile(rf"{PFC} watch-dog-interval|{_POLICIES}")
"""NX-OS prints a port-channel's MTU and PFC on its members too, where they can't be set."""
_OF_CHANNEL = re.compile(rf"mtu |{PFC} mode|{_POLICIES}")
_ATTACHED = "service-policy type network-qos "
_MATCH = "match dscp "


def tree_of(lines: Iterable[str]) -> Block:
    """The lines by indentation, without remarks and empty lines."""
    top: Block = {}
    open_blocks: list[tuple[int, Block]] = [(-1, top)]
    for line in lines:
        text = line.strip()
        if not text or text.startswith("!"):
            continue
        depth = len(line) - len(line.lstrip())
        while open_blocks[-1][0] >= depth:
            open_blocks.pop()
        open_blocks.append((depth, open_blocks[-1][1].setdefault(text, {})))
    return top


def lines_of(block: Mapping[str, Any], indent: str = "") -> Lines:
    """The block in one order: lines, then blocks, each sorted."""
    ordered = sorted(block, key=lambda text: (bool(block[text]), text))
    return tuple(line for text in ordered for line in (f"{indent}{text}", *lines_of(block[text], f"{indent}  ")))


def section(header: str, *body: str) -> Lines:
    """A block of one header in canonical form; lines of the body are indented from the header on."""
    return lines_of({header: tree_of(body)})


def sections_of(config: Block, profile: SwitchProfile) -> tuple[tuple[str, Lines], ...]:
    """The owned lines by section, in the order in which a change types them."""
    maps = [DATA, NOTIFICATIONS, *([STORAGE] if profile.storage else [])]
    known: Block = {header: _numbered(config[header]) for header in maps if header in config}
    if INPUT in config:
        known[INPUT] = {text: below for text, below in config[INPUT].items() if not _implied(text, below)}
    sections = {
        CLASSES: lines_of(known),
        NETWORK: _whole(NETWORK, config, DEFAULT_MTU),
        OUTPUT: _whole(OUTPUT, config, ""),
        WATCHDOG: _watchdog(config),
        SYSTEM: _owned(SYSTEM, config, re.compile(_ATTACHED)),
        **({HASH: _spread(config)} if profile.ecmp else {}),
    }
    for port in profile.ports:
        own = (_OF_MEMBER, "") if port in profile.channel_of else (_OWNED, DEFAULT_MTU)
        sections[f"{PORT}{port}"] = _owned(f"{PORT}{port}", config, *own)
    for channel in profile.channels:
        sections[f"{PORT}{channel.name}"] = _owned(f"{PORT}{channel.name}", config, _OF_CHANNEL, DEFAULT_MTU)
    return tuple(sections.items())


def _spread(config: Block) -> Lines:
    lines = [text for text in config if text.startswith(f"{SPREAD} ")]
    return tuple(
        HASHED if re.match(rf"{HASHED}( (universal-id|rotate|concatenation)|$)", it) else it for it in lines
    ) or (HASHED,)


def watched(values: Iterable[object]) -> Lines:
    """The watchdog's lines with these values, in the order of WATCHED."""
    return tuple(f"{start} {value}" for start, value in zip(WATCHED, values))


def _numbered(classes: Block) -> Block:
    """Classes with one number a line, whether NX-OS lists or names them."""
    plain: Block = {}
    for text, below in classes.items():
        numbers = text.removeprefix(_MATCH).split(",") if text.startswith(_MATCH) else []
        plain.update({f"{_MATCH}{NAMES.get(number, number)}": {} for number in numbers} or {text: below})
    return plain


def _implied(text: str, below: Block) -> bool:
    """Whether it says what NX-OS does anyway: traffic of no other class is that of qos-group 0."""
    return text == "class class-default" and set(below) <= {"set qos-group 0"}


def _whole(header: str, config: Block, default: str) -> Lines:
    """A policy that is Drawbridge's alone; a class without the line that `default` begins with has that line."""
    if header not in config:
        return ()
    return lines_of({header: {text: _filled(below, default) for text, below in config[header].items()}})


def _owned(header: str, config: Block, pattern: re.Pattern[str], default: str = "") -> Lines:
    own = {text: below for text, below in config.get(header, {}).items() if pattern.match(text)}
    return lines_of({header: _filled(own, default)})


def _filled(block: Block, default: str) -> Block:
    hidden = default and not any(text.startswith(default.split()[0]) for text in block)
    return {**block, default: {}} if hidden else block


def _watchdog(config: Block) -> Lines:
    return watched(
        next((text[len(start) + 1 :] for text in config if text.startswith(f"{start} ")), value)
        for start, value in WATCHED.items()
    )
