# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Arista EOS: the lines of the lossless class, the answers to show commands, and configuration sessions.

Only the controller imports this: it needs hier_config. Drawbridge owns the profile ROCE, the maps of both DSCPs and
their traffic classes, and the watchdog's four lines. On the intent's ports it owns the MTU, the service profile, the
ECN lines of the lossless queue, and lines that would overrule the profile. With `ecmp` it owns the fields by which XGS
chooses among equal paths. It never changes any other line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ...model import SwitchProfile
from ...plan import Config, Lines
from ...strategy import Timer, always
from ..dialect import SESSION_PREFIX, Dialect, DialectError
from .capabilities import CAPABILITIES
from .commands import commands, on_ports, stops
from .lines import (
    HASH,
    INSTANT,
    MAPS,
    PROFILE,
    QUEUE,
    WATCHDOG,
    blocks_of,
    canonical,
    classes,
    hashes,
    map_line,
    sections_of,
    wrong_channels,
)
from .state import reads

WATCHDOG_ACTION = {"drop": "drop", "forward": "no-drop"}
_PAUSING = re.compile(r"Et(?:hernet)?([\d/]+)\s+(Yes|No)\s+([\d ]*?)\s*(?:Yes|No)\b")


def render(profile: SwitchProfile) -> Config:
    """The wanted state. EOS counts thresholds in units of 1000 bytes and watchdog times in seconds."""
    roce, cnp = profile.roce, profile.cnp
    queue, weight = QUEUE[profile.family], INSTANT[profile.family]
    ecn = f"minimum-threshold {roce.ecn_min_bytes // 1000} kbytes maximum-threshold {roce.ecn_max_bytes // 1000} kbytes"
    marked = f"      random-detect ecn {ecn} max-mark-probability {roce.ecn_probability_percent}{weight}"
    body = [
        "   qos trust dscp",
        "   priority-flow-control on",
        *(f"   priority-flow-control priority {priority} no-drop" for priority in profile.lossless),
        "   priority-flow-control pause watchdog",
        f"   {queue} {cnp.priority}",
        "      priority strict",
    ]
    for part in (roce, profile.storage):
        if part:
            share = ["      no priority", f"      bandwidth percent {part.bandwidth_percent}"]
            body += [f"   {queue} {part.priority}", *share, *([marked] if part.priority in profile.lossless else [])]
    mtu, members = f"   mtu {profile.mtu_bytes}", profile.channel_of
    on_port = [f"   service-{PROFILE.removeprefix('qos ')}"]
    for priority in profile.lossless:
        on_port += [f"   {queue} {priority}", "      random-detect ecn count"]
    maps = [map_line("dscp", part.dscp, part.priority) for part in classes(profile)]
    maps += [map_line("traffic-class", part.priority, part.priority) for part in classes(profile)]
    ports = {
        f"interface {port}": canonical(f"interface {port}", [*([] if port in members else [mtu]), *on_port])
        for port in profile.ports
    }
    ports |= {f"interface {channel.name}": (f"interface {channel.name}", mtu) for channel in profile.channels}
    spread = {HASH: hashes({})} if profile.ecmp and profile.family == "xgs" else {}
    sections = {MAPS: tuple(maps), WATCHDOG: _watchdog(profile), PROFILE: canonical(PROFILE, body), **spread, **ports}
    return Config(tuple(sections.items()))


def parse(answers: Sequence[str], profile: SwitchProfile) -> Config:
    """Project the answers onto the owned lines. Raises DialectError for a port that the switch doesn't have."""
    running, startup, sessions, pausing = answers
    blocks = blocks_of(running)
    if missing := [port for port in profile.ports if f"interface {port}" not in blocks]:
        raise DialectError(
            f"it has no {', '.join(missing)}, which drawbridge_fabric.switches lists; correct ports there,"
            " or insert the line card"
        )
    for why in wrong_channels(blocks, profile):
        raise DialectError(why)
    sections = sections_of(blocks, profile)
    known = json.loads(sessions)["sessions"]
    in_force = [name for name, session in known.items() if _in_force(session)]
    waiting = [name for name in in_force if name.startswith(SESSION_PREFIX)]
    stale = [name for name, session in known.items() if name.startswith(SESSION_PREFIX) and _left_open(session)]
    others = [name for name, session in known.items() if session["state"] == "pending" or name in in_force]
    return Config(
        sections=sections,
        saved=sections_of(blocks_of(startup), profile) == sections,
        stale=tuple(stale),
        waiting="".join(waiting),  # EOS lets only one session wait for its confirmation
        foreign=tuple(_owner(name, known[name]) for name in others if name not in {*waiting, *stale}),
        unproven=tuple(_unproven(pausing, profile)),
    )


def _commit_timer(seconds: int) -> str:
    """EOS rolls back when the timer ends, even if no user is logged in."""
    return f"commit timer {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _watchdog(profile: SwitchProfile) -> Lines:
    watchdog = profile.watchdog
    times = {"timeout": watchdog.detect_ms, "recovery-time": watchdog.restore_ms, "polling-interval": watchdog.poll_ms}
    head = "priority-flow-control pause watchdog"
    lines = [f"{head} default {name} {milliseconds / 1000:g}" for name, milliseconds in times.items()]
    return (*sorted(lines), f"{head} action {WATCHDOG_ACTION[watchdog.action]}")


def _in_force(session: dict[str, Any]) -> bool:
    return session["state"] == "pendingCommitTimer" or "commitBy" in session


def _left_open(session: dict[str, Any]) -> bool:
    """Open without a user in it. With one, it belongs to a run that is still going on."""
    return session["state"] == "pending" and not session.get("instances")


def _owner(name: str, session: dict[str, Any]) -> str:
    users = sorted({instance["user"] for instance in session.get("instances", {}).values()})
    return f"{name} ({', '.join(users)})" if users else name


def _unproven(pausing: str, profile: SwitchProfile) -> Iterator[str]:
    """Ports where the hardware does not pause exactly the lossless priorities."""
    wanted = ("Yes", " ".join(map(str, profile.lossless)))
    shown = {match[1]: (match[2], match[3]) for match in map(_PAUSING.match, pausing.splitlines()) if match}
    for port in profile.ports:
        enabled, priorities = shown.get(port.removeprefix("Ethernet"), ("not listed", ""))
        if (enabled, priorities) != wanted:
            yield f"{port} does not pause priority {wanted[1]} alone (PFC {enabled}, priorities {priorities or 'none'})"


DIALECT = Dialect(
    device_type="arista_eos",
    prompt=r"(\([^)\n]*\))?[>#]",
    opening=("no terminal monitor",),  # a log line in the middle of an answer would look like a part of it
    enables=True,
    refusal=r"^% .*",
    slow=r"(?!)",
    reads=(
        "show running-config",
        "show startup-config",
        "show configuration sessions | json",
        "show priority-flow-control",
    ),
    parse=parse,
    render=render,
    commands=commands,
    stops=stops,
    on_ports=on_ports,
    save="write memory",
    strategy=always(
        Timer(
            change=lambda name, seconds, lines, _: (f"configure session {name}", *lines, _commit_timer(seconds)),
            confirm="configure session {} commit".format,  # from exec: EOS refuses to enter a session whose timer runs
            abort="configure session {} abort".format,
            roll_back="configure session {} abort".format,
        )
    ),
    state_reads=reads,
    releases=CAPABILITIES.releases,
)
