# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""NVIDIA Cumulus Linux: the commands that lead from one set of objects to another. Only differences are typed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ....core import ports
from ...plan import PORT, Lines
from .lines import MODE, OVERRULING

OPPOSITE = {"off": "on", "disable": "enable", "disabled": "enabled"}
"""How a release that writes the one writes the other."""
AT_ONCE = 16
"""Ports in one command, so that it fits into a terminal's line."""
_OFF = re.compile(r"(.*) (off|disable|disabled)")
_WATCHED = "qos pfc-watchdog"


def commands(have: Lines, want: Lines) -> list[str]:
    """Unset what overrules, then set what differs. On ports, `nv` and the port's name are left to on_ports()."""
    gone = [line for line in have if line not in want]
    new = [line for line in want if line not in have and not line.startswith(PORT)]
    replaced = {_path(line) for line in new}
    unset = [_path(line) for line in gone if not _switched(line) and (_path(line) not in replaced or _WATCHED in line)]
    done = [f"unset {path}" for path in dict.fromkeys(unset)]
    done += [f"set {line}" for line in filter(None, map(_switched, gone))]
    done += [f"set {line.strip()}" for line in new]
    return done if any(line.startswith(PORT) for line in want) else [f"nv {line}" for line in done]


def stops(section: str, have: Lines, want: Lines) -> str:
    """RoCE mode and PFC divide the buffers anew, for which switchd is reloaded; a new MTU takes the link down."""
    if section == MODE:
        return "a change of RoCE mode or PFC divides the buffers of all ports anew"
    if not section.startswith(PORT):
        return ""
    if _only(have, "   link mtu ") != _only(want, "   link mtu "):
        return "a new MTU takes the links of {ports} down for a moment"
    profiles = tuple(f"   qos {kind} profile " for kind in OVERRULING)
    return "without their own profile, buffers of {ports} are divided anew" if _only(have, profiles) else ""


def on_ports(names: Sequence[str], lines: Lines) -> Lines:
    """One command for up to AT_ONCE ports."""
    every = [name for text in names for name in _each(text)]
    chunks = [every[at : at + AT_ONCE] for at in range(0, len(every), AT_ONCE)]
    return tuple(_typed(line, ",".join(_ranges(chunk))) for line in lines for chunk in chunks)


def _typed(line: str, names: str) -> str:
    verb, _sep, path = line.partition(" ")
    return f"nv {verb} interface {names} {path}"


def _each(text: str) -> list[str]:
    """The ports of a list; a bond may have a name that no list has, such as peerlink."""
    try:
        return ports.expand(text)
    except ports.PortsError:
        return [text]


def _ranges(names: list[str]) -> Iterator[str]:
    """NVUE takes ranges of the last number only. Names of bonds stay as they are."""
    for part in ports.compress(names).split(","):
        yield from [part] if part in names or re.fullmatch(r"[a-z0-9]+-\d+", part) else ports.expand(part)


def _path(line: str) -> str:
    """The path that `nv unset` takes: without the value, but with a key of a set."""
    words = line.split()
    if line.strip() == _WATCHED or line.strip().startswith(f"{_WATCHED} state "):
        return _WATCHED
    keyed = words[:2] == ["qos", "pfc"] and words[-2] == "switch-priority"
    return " ".join(words if keyed else words[:-1])


def _switched(line: str) -> str:
    """The same path, switched on; a watchdog's is taken away instead, since releases differ in its words."""
    match = _OFF.fullmatch(line)
    if not match or line.strip().startswith(f"{_WATCHED} state"):
        return ""
    return f"{match[1].strip()} {OPPOSITE[match[2]]}"


def _only(lines: Lines, start: str | tuple[str, ...]) -> set[str]:
    return {line for line in lines if line.startswith(start)}
