# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Cisco NX-OS: the lines of the lossless class, the answers to show commands, and how a change is made.

Drawbridge owns the class maps ROCE-DATA, ROCE-CNP and ROCE-STORAGE, and the policies ROCE-IN, ROCE-OUT and ROCE-NQ. It
owns the switch's network-qos policy and the watchdog's four lines. On the intent's ports it owns the MTU, PFC, the
watchdog, and the policies of type qos input and queuing output. On port-channels it owns all of these but the watchdog.
With `ecmp` it owns the line by which equal paths are chosen.
It never changes any other line.

NX-OS does not show which change waits for its confirmation. A class map that no policy uses marks such a change. Its
name ends with the seconds until the roll-back. Only the SSH session that made the change is known to confirm it.
Releases without two-stage commits have a job instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta

from ...model import SwitchProfile
from ...plan import PORT, Config, Lines
from ...strategy import HeldSession, Job
from ..dialect import SESSION_PREFIX, Dialect
from . import jobs
from .capabilities import CAPABILITIES, REST, STRICT, TWO_STAGES
from .checks import SPARE, clock, over, refuse, release_of, unproven
from .commands import commands, on_ports, stops
from .lines import (
    CLASSES,
    DATA,
    HASH,
    HASHED,
    INPUT,
    NETWORK,
    NOTIFICATIONS,
    OUTPUT,
    PFC,
    STORAGE,
    SYSTEM,
    WATCHDOG,
    Block,
    lines_of,
    section,
    sections_of,
    tree_of,
    watched,
)
from .state import reads

MARK = "class-map type qos match-all "
_MARKED = re.compile(rf"{MARK}({SESSION_PREFIX}[0-9a-f]+)-(\d+)")


def render(profile: SwitchProfile) -> Config:
    """The wanted state. Congestion notifications have the strict queue, other traffic what the classes leave."""
    queues = {DATA: profile.roce.priority, NOTIFICATIONS: STRICT}
    marks = {DATA: profile.roce.dscp, NOTIFICATIONS: profile.cnp.dscp}
    if profile.storage:
        queues[STORAGE], marks[STORAGE] = profile.storage.priority, profile.storage.dscp
    classified: Block = {header: {f"match dscp {dscp}": {}} for header, dscp in marks.items()}
    classified[INPUT] = {f"class {_name(header)}": {f"set qos-group {queue}": {}} for header, queue in queues.items()}
    watchdog = profile.watchdog
    times = (watchdog.poll_ms, watchdog.detect_ms // watchdog.poll_ms, watchdog.restore_ms // watchdog.poll_ms)
    sections = {
        CLASSES: lines_of(classified),
        NETWORK: section(NETWORK, *_network(profile, sorted(queues.values()))),
        OUTPUT: section(OUTPUT, *_output(profile)),
        WATCHDOG: watched(("on", *times)),
        SYSTEM: section(SYSTEM, f"service-policy type network-qos {_name(NETWORK)}"),
        **({HASH: (HASHED,)} if profile.ecmp else {}),
    }
    return Config(tuple({**sections, **_on_ports(profile)}.items()))


def _on_ports(profile: SwitchProfile) -> dict[str, Lines]:
    """A port-channel has PFC, the MTU and the policies of its members, which keep the watchdog of their queues."""
    watched_port = f"{PFC} watch-dog-interval on"
    whole = (
        f"mtu {profile.mtu_bytes}",
        f"{PFC} mode on",
        f"service-policy type qos input {_name(INPUT)}",
        f"service-policy type queuing output {_name(OUTPUT)}",
    )
    own = {port: (watched_port,) if port in profile.channel_of else (*whole, watched_port) for port in profile.ports}
    own |= {channel.name: whole for channel in profile.channels}
    return {f"{PORT}{name}": section(f"{PORT}{name}", *lines) for name, lines in own.items()}


def parse(answers: Sequence[str], profile: SwitchProfile) -> Config:
    """Project the answers onto the owned lines. Raises DialectError for what can't become the wanted state."""
    running, startup, pausing = answers
    config, kept = (tree_of(text.splitlines()) for text in (running, startup))
    refuse(config, profile)
    marks = [match for match in map(_MARKED.fullmatch, config) if match]
    over_now = [match for match in marks if over(running, timedelta(seconds=int(match[2])))]
    armed, idle = jobs.jobs_of(config, clock(running), SPARE)
    sections = sections_of(config, profile)
    return Config(
        sections=sections,
        saved=sections_of(kept, profile) == sections and not any(SESSION_PREFIX in text for text in kept),
        stale=(*(match[0].removeprefix(MARK) for match in over_now), *idle),
        waiting="".join([*(match[1] for match in marks if match not in over_now), *armed][:1]),
        own=jobs.Own("feature scheduler" in config, CAPABILITIES.releases.has(TWO_STAGES, release_of(config))),
        unproven=tuple(unproven(pausing, profile)),
    )


def _network(profile: SwitchProfile, queues: Sequence[int]) -> Iterator[str]:
    for queue in (REST, *queues):
        yield f"class type network-qos c-8q-nq{queue or '-default'}"
        yield f"  mtu {profile.mtu_bytes}"
        if queue in profile.lossless:
            yield f"  pause pfc-cos {queue}"


def _output(profile: SwitchProfile) -> Iterator[str]:
    roce, storage = profile.roce, profile.storage
    shares = {
        roce.priority: roce.bandwidth_percent,
        **({storage.priority: storage.bandwidth_percent} if storage else {}),
    }
    shares[REST] = 100 - sum(shares.values())
    for queue in range(8):
        yield f"class type queuing c-out-8q-q{queue or '-default'}"
        yield "  priority level 1" if queue == STRICT else f"  bandwidth remaining percent {shares.get(queue, 0)}"
        if queue in profile.lossless:
            yield (
                f"  random-detect minimum-threshold {roce.ecn_min_bytes} bytes maximum-threshold {roce.ecn_max_bytes}"
                f" bytes drop-probability {roce.ecn_probability_percent} weight 0 ecn"
            )


def _name(header: str) -> str:
    return header.split()[-1]


def _change(name: str, seconds: int, lines: Lines, _own: jobs.Own) -> Lines:
    return (TWO_STAGES, f"{MARK}{name}-{seconds}", *lines, f"commit confirmed {seconds}")


def _kept(name: str, seconds: int) -> Lines:
    """Confirm, and take the mark away; both are done where the change was made."""
    return ("commit", f"no {MARK}{name}-{seconds}", "commit", "end")


_HELD = HeldSession(
    change=_change,
    abort=f"configure terminal ; no {MARK}{{}} ; end".format,
    keep=_kept,
)
_ONE_STAGE = Job(
    change=jobs.change,
    takes_s=jobs.takes_s,
    unit_s=jobs.MINUTE_S,
    confirm=jobs.kept,
    tidy=jobs.tidied,
    abort=jobs.dropped,
    roll_back=jobs.rolled_back,
)
DIALECT = Dialect(
    device_type="cisco_nxos",
    prompt=r"(\([^)\n]*\))?#",
    opening=(),
    enables=False,
    refusal=r"^(?:% |ERROR|Error|Failed|commit verification failed).*",
    slow="commit|copy running-config|checkpoint|rollback",
    reads=("show running-config", "show startup-config", "show interface priority-flow-control"),
    parse=parse,
    render=render,
    state_reads=reads,
    releases=CAPABILITIES.releases,
    commands=commands,
    stops=stops,
    on_ports=on_ports,
    save="copy running-config startup-config",
    strategy=lambda own: _HELD if own.two_stages else _ONE_STAGE,
)
