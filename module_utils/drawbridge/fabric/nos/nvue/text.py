# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""NVIDIA Cumulus Linux: the objects of the lossless class, the answers to show commands, and revisions.

Drawbridge owns RoCE mode and what overrules its PFC, the mapping of its DSCPs, and the queues and shares of classes. It
owns the ECN thresholds of the lossless class, the watchdog's two times, and hash fields that are off. On the intent's
ports it owns the MTU, the watchdog, and profiles that would overrule the global one. It owns the cable length and the
traffic pools of RoCE mode if the intent has them. Remarking, shapers and all else belong to the site.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...model import SwitchProfile
from ...plan import PORT, Config, Lines
from ...strategy import Timer, always
from ..dialect import SESSION_PREFIX, Dialect, DialectError
from .capabilities import CAPABILITIES, REST, STATUS_OF_ALL
from .commands import commands, on_ports, stops
from .lines import CLASSES, HASH, MARKING, MODE, POOLS, PROFILE, WATCHDOG, at, classes, sections_of, wrong_channels
from .sizes import size_bytes
from .state import reads

WAITS = "confirm"
"""State of a revision that is in force under its timer."""
STATUS = {"pfc", "trust", "mode", "congestion-control", "lldp-app-tlv"}
"""Keys of a port's state, one of which each port has."""
ROUNDING = 0.1
CELLS_BYTES = 16384
"""How far the hardware's thresholds may be from those of the intent: a share, and one cell."""


def render(profile: SwitchProfile) -> Config:
    """The wanted state. Other traffic shares what the classes leave."""
    roce, cnp, storage = profile.roce, profile.cnp, profile.storage
    rest = 100 - roce.bandwidth_percent - (storage.bandwidth_percent if storage else 0)
    shares = [(REST, rest), (roce.priority, roce.bandwidth_percent)]
    shares += [(storage.priority, storage.bandwidth_percent)] if storage else []
    scheduler = f"qos egress-scheduler {PROFILE} traffic-class"
    ecn = f"qos congestion-control {PROFILE} traffic-class {roce.priority}"
    watchdog = profile.watchdog
    lines = {
        MODE: ("qos roce mode lossless", *_buffers(profile)),
        CLASSES: (
            f"qos mapping {PROFILE} trust both",  # as in RoCE mode: IP packets by their DSCP, others by their PCP
            *(f"qos mapping {PROFILE} dscp {it.dscp} switch-priority {it.priority}" for it in classes(profile)),
            *(
                f"qos egress-queue-mapping {PROFILE} switch-priority {it.priority} traffic-class {it.priority}"
                for it in classes(profile)
            ),
            f"{scheduler} {cnp.priority} mode strict",
            *(
                line
                for number, share in shares
                for line in (f"{scheduler} {number} mode dwrr", f"{scheduler} {number} bw-percent {share}")
            ),
        ),
        MARKING: (
            f"{ecn} min-threshold {roce.ecn_min_bytes}",
            f"{ecn} max-threshold {roce.ecn_max_bytes}",
            f"{ecn} probability {roce.ecn_probability_percent}",
        ),
        WATCHDOG: (
            f"qos pfc-watchdog polling-interval {watchdog.poll_ms}",
            f"qos pfc-watchdog robustness {watchdog.detect_ms // watchdog.poll_ms}",
        ),
        HASH: (),
    }
    shared = {name: tuple(sorted(part)) for name, part in lines.items()}
    return Config(tuple({**shared, **_on_ports(profile)}.items()))


def _on_ports(profile: SwitchProfile) -> dict[str, tuple[str, ...]]:
    """A bond has the MTU, its members have the watchdog, and other ports have both."""
    mtu, watched, members = f"   link mtu {profile.mtu_bytes}", "   qos pfc-watchdog", profile.channel_of
    lines = {port: (watched,) if port in members else (mtu, watched) for port in profile.ports}
    lines |= {channel.name: (mtu,) for channel in profile.channels}
    return {f"{PORT}{name}": (f"{PORT}{name}", *own) for name, own in lines.items()}


def _buffers(profile: SwitchProfile) -> Iterator[str]:
    """Cable length and pools, if the intent has them."""
    if profile.cable_m:
        yield f"qos roce cable-length {profile.cable_m}"
    if share := profile.lossless_buffer_percent:
        for pool, percent in zip(POOLS, (100 - share, share)):
            yield f"qos traffic-pool {pool} memory-percent {percent}"


def parse(answers: Sequence[str], profile: SwitchProfile) -> Config:
    """Project the answers onto the owned lines. Raises DialectError for a port that the switch doesn't have."""
    applied, startup, revisions, *states = map(_json, answers)
    hardware = _by_port(states, profile)
    if missing := [port for port in profile.ports if port not in hardware]:
        raise DialectError(
            f"it has no {', '.join(missing)}, which drawbridge_fabric.switches lists; correct ports there,"
            " or break the port out"
        )
    for why in wrong_channels(_set(applied), profile):
        raise DialectError(why)
    waiting = {number: it.get("message") or "" for number, it in revisions.items() if it.get("state") == WAITS}
    sections = _sorted(applied, profile)
    return Config(
        sections=sections,
        saved=_sorted(startup, profile) == sections,
        waiting="".join(name for name in waiting.values() if name.startswith(SESSION_PREFIX)),
        foreign=tuple(f"{n} ({name})" for n, name in waiting.items() if not name.startswith(SESSION_PREFIX)),
        unproven=tuple(_unproven(hardware, profile)),
    )


def _json(answer: str) -> Any:
    try:
        return json.loads(answer)
    except ValueError as err:
        raise DialectError(f"it printed no JSON, but {answer.strip()[:80]!r}; is its NVUE service running?") from err


def _sorted(answer: Any, profile: SwitchProfile) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The sections of `nv config show -o json`."""
    return tuple((name, _in_order(name, lines)) for name, lines in sections_of(_set(answer), profile))


def _set(answer: Any) -> Any:
    """The objects: the answer is a list of which one element has them."""
    return next((part["set"] for part in answer if "set" in part), {}) if isinstance(answer, list) else answer


def _in_order(name: str, lines: tuple[str, ...]) -> tuple[str, ...]:
    return lines if name.startswith(PORT) else tuple(sorted(lines))


def _unproven(hardware: Mapping[str, Any], profile: SwitchProfile) -> Iterator[str]:
    """Ports where the hardware does not do what the lines say."""
    roce = profile.roce
    for port in profile.ports:
        status = _status(hardware[port])
        pfc, ecn = at(status, "pfc"), at(status, "congestion-control")
        paused = [str(at(pfc, key) or "none") for key in ("pfc-priority", "rx-enabled", "tx-enabled")]
        if paused != [str(roce.priority), "yes", "yes"]:
            shown = "priorities {}, rx {}, tx {}".format(*paused)
            yield f"{port} does not pause priority {roce.priority} alone ({shown})"
            continue
        for key, wanted in (("min-threshold", roce.ecn_min_bytes), ("max-threshold", roce.ecn_max_bytes)):
            size = at(ecn, key) or "none"
            if not _near(size, wanted):
                yield f"{port} marks at a {key} of {size}, not at {wanted} bytes"


def _more_reads(profile: SwitchProfile, release: str) -> Lines:
    """What the hardware does: of all ports, or port by port where the release has no such view."""
    if CAPABILITIES.releases.has(STATUS_OF_ALL, release):
        return (f"{STATUS_OF_ALL} -o json",)
    return tuple(f"nv show interface {port} qos roce status -o json" for port in profile.ports)


def _by_port(states: Sequence[Any], profile: SwitchProfile) -> Mapping[str, Any]:
    """What the hardware does by port, from one answer for all ports or one for each."""
    if len(states) == 1 and not STATUS & {*states[0]}:
        return states[0]
    return dict(zip(profile.ports, states))


def _status(port: Any) -> Mapping[str, Any]:
    """The object of RoCE's state, which views nest below the interface."""
    nested = at(port, "qos", "roce", "status")
    return nested if nested else port


def _near(size: Any, wanted: int) -> bool:
    """Whether the hardware's threshold is the wanted one, but for rounding."""
    try:
        return abs(size_bytes(size) - wanted) <= max(wanted * ROUNDING, CELLS_BYTES)
    except ValueError:
        return False


DIALECT = Dialect(
    device_type="cumulus_linux",
    prompt=r"[$#]",
    opening=(),
    enables=False,
    refusal=r"^(?:Error|Invalid|Ambiguous|Failed|Unable|Cannot|Traceback|cat:|-?bash:).*(?:\n[ \t]+\S.*)*",
    slow="nv config apply",  # it waits until switchd has been reloaded
    reads=(
        "nv config show -o json",
        "nv config show -r startup -o json",
        "nv config revision -o json",
    ),
    more_reads=_more_reads,
    parse=parse,
    render=render,
    commands=commands,
    stops=stops,
    on_ports=on_ports,
    save="nv config save",
    strategy=always(
        Timer(
            # edits of an earlier run, or of a person with the same login, are not part of the change; NVUE keeps their
            # revision
            change=lambda name, seconds, lines, _: (
                "nv config detach",
                *lines,
                f"nv config apply -y --confirm {seconds}s -m {name}",
            ),
            confirm=lambda _: "nv config apply --confirm-yes",
            abort=lambda _: "nv config detach",
            roll_back=lambda _: "nv config apply --confirm-no",
        )
    ),
    paged="nv (config )?(show|revision)",
    state_reads=reads,
    releases=CAPABILITIES.releases,
)
