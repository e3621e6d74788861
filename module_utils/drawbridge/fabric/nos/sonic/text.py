# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""SONiC: ConfigDB's entries of the lossless class, the answers to the database tools, and the job that reverts.

Drawbridge owns its maps, schedulers and WRED profile, all named ROCE, and the watchdog's interval. On the intent's
ports it owns the MTU, the maps and PFC of PORT_QOS_MAP, and the watchdog's times. It also owns their queues of the
classes and of all other traffic. Entries named AZURE, buffers, cable lengths, the ECMP hash and all else belong to
the site.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ...model import SwitchProfile
from ...plan import PORT, Config, Lines
from ...strategy import Job, always
from ..dialect import SESSION_PREFIX, Dialect, DialectError
from .capabilities import CAPABILITIES, REST
from .change import HISTORY, WATCHED, Own, change, takes_s
from .checks import unfit, unproven
from .commands import commands, on_ports, stops
from .lines import (
    CHANNELS,
    COLORS,
    ENABLED,
    MAPS,
    MARKING,
    NAME,
    NEEDED,
    POLLING,
    SHARES,
    classes,
    map_fields,
    owned_queues,
    runs,
    sections_of,
)
from .state import reads


def render(profile: SwitchProfile) -> Config:
    """The wanted state. Other traffic shares what the classes leave."""
    lines = {
        MAPS: tuple(_maps(profile)),
        SHARES: tuple(_schedulers(profile)),
        MARKING: tuple(_wred(profile)),
        POLLING: (f"PFC_WD|GLOBAL POLL_INTERVAL {profile.watchdog.poll_ms}",),
    }
    mtu, on_port, members = profile.mtu_bytes, tuple(_on_port(profile)), profile.channel_of
    ports = {
        f"{PORT}{port}": (f"{PORT}{port}", *(() if port in members else (f"   PORT mtu {mtu}",)), *on_port)
        for port in profile.ports
    }
    ports |= {f"{PORT}{it.name}": (f"{PORT}{it.name}", f"   {CHANNELS} mtu {mtu}") for it in profile.channels}
    return Config(tuple({**lines, **ports}.items()))


def _maps(profile: SwitchProfile) -> Iterator[str]:
    marks = {
        **dict.fromkeys(map(str, range(64)), str(REST)),
        **{str(it.dscp): str(it.priority) for it in classes(profile)},
    }
    same = {str(number): str(number) for number in range(8)}
    groups = {str(number): str(number if number in profile.lossless else REST) for number in range(8)}
    paused = {str(number): str(number) for number in profile.lossless}
    for table, fields in zip(map_fields(profile).values(), (marks, same, groups, same, paused)):
        yield f"{table}|{NAME}"
        rows = runs(fields) if fields is marks else fields.items()
        yield from (f"{table}|{NAME} {number} {value}" for number, value in rows)


def _schedulers(profile: SwitchProfile) -> Iterator[str]:
    for name, share in sorted(_shares(profile).items()):
        path = f"SCHEDULER|{name}"
        yield from (path, f"{path} type DWRR", f"{path} weight {share}") if share else (path, f"{path} type STRICT")


def _shares(profile: SwitchProfile) -> dict[str, int]:
    """Weights of the schedulers; 0 for the strict one."""
    storage = {f"{NAME}_STORAGE": profile.storage.bandwidth_percent} if profile.storage else {}
    data = profile.roce.bandwidth_percent
    rest = 100 - data - sum(storage.values())
    return {f"{NAME}_CNP": 0, f"{NAME}_DATA": data, f"{NAME}_REST": rest, **storage}


def _wred(profile: SwitchProfile) -> Iterator[str]:
    roce, path = profile.roce, f"WRED_PROFILE|{NAME}"
    fields = {"ecn": "ecn_all"}
    for color in COLORS:
        fields |= {
            f"wred_{color}_enable": "true",
            f"{color}_min_threshold": str(roce.ecn_min_bytes),
            f"{color}_max_threshold": str(roce.ecn_max_bytes),
            f"{color}_drop_probability": str(roce.ecn_probability_percent),
        }
    yield path
    yield from (f"{path} {name} {value}" for name, value in sorted(fields.items()))


def _on_port(profile: SwitchProfile) -> Iterator[str]:
    paused, watchdog, storage = ",".join(map(str, profile.lossless)), profile.watchdog, profile.storage
    yield "   PORT_QOS_MAP"
    yield from (f"   PORT_QOS_MAP {name} {NAME}" for name in map_fields(profile))
    yield from (f"   PORT_QOS_MAP {name} {paused}" for name in ENABLED)
    users = {REST: "REST", profile.roce.priority: "DATA", profile.cnp.priority: "CNP"}
    users |= {storage.priority: "STORAGE"} if storage else {}
    for number in owned_queues(profile):
        yield f"   QUEUE|{number}"
        yield f"   QUEUE|{number} scheduler {NAME}_{users[number]}"
        if number in profile.lossless:
            yield f"   QUEUE|{number} wred_profile {NAME}"
    yield f"   PFC_WD action {watchdog.action}"
    yield f"   PFC_WD detection_time {watchdog.detect_ms}"
    yield f"   PFC_WD restoration_time {watchdog.restore_ms}"


def parse(answers: Sequence[str], profile: SwitchProfile) -> Config:
    """Project the answers onto the owned lines. Raises DialectError for what a change can't repair."""
    running, saved = _json(answers[0]), _json(answers[1])
    for why in unfit(running, profile):
        raise DialectError(why)
    units = [line.split()[:4] for line in answers[2].splitlines() if line.startswith(SESSION_PREFIX)]
    sections = sections_of(running, profile)
    return Config(
        sections=sections,
        saved=sections_of(saved, profile) == sections,
        stale=tuple(unit.removesuffix(".service") for unit, *state in units if state[1] == "failed"),
        waiting="".join(re.sub(r"\.(timer|service)$", "", unit) for unit, *state in units[:1] if state[1] != "failed"),
        own=Own(
            restored=tuple(_restored(running, profile)),
            missing=tuple(table for table in NEEDED if table not in running),
        ),
        unproven=tuple(unproven(answers[3], profile)),
    )


def _restored(running: Any, profile: SwitchProfile) -> Iterator[str]:
    """What a change may leave behind on its ports although it does not own it."""
    for port in profile.ports:
        yield f"PORT|{port} admin_status {running['PORT'][port].get('admin_status', 'down')}"
        if history := running.get(WATCHED, {}).get(port, {}).get(HISTORY):
            yield f"{WATCHED}|{port} {HISTORY} {history}"


def _json(answer: str) -> Any:
    try:
        return json.loads(answer)
    except ValueError as err:
        raise DialectError(f"it printed no JSON, but {answer.strip()[:80]!r}; is its database running?") from err


def _start(unit: str) -> str:
    """Run the job now, apart from this connection, and end its timer."""
    return f"sudo systemctl start {unit}.service && sudo systemctl stop {unit}.timer"


def _hardware() -> str:
    return (
        "sonic-db-dump -n COUNTERS_DB -k COUNTERS_PORT_NAME_MAP -y;"
        " sonic-db-dump -n ASIC_DB -k 'ASIC_STATE:SAI_OBJECT_TYPE_PORT:*' -y"
    )


READS: Lines = (
    "sonic-cfggen -d --print-data",
    "sudo sonic-cfggen -j /etc/sonic/config_db.json --print-data",
    f"systemctl list-units --plain --no-legend --no-pager '{SESSION_PREFIX}*'",
    _hardware(),
)

DIALECT = Dialect(
    device_type="linux",
    prompt=r"[$#]",
    opening=(),
    enables=False,
    refusal=r"^(?:Error|Failed|Usage|SKIPPED|Job for|Root privileges|unable to|Traceback|-?bash:|sudo:|cat:).*",
    slow="sudo (config|systemctl)",  # the updater takes some seconds for each port
    reads=READS,
    parse=parse,
    render=render,
    commands=commands,
    stops=stops,
    on_ports=on_ports,
    save="sudo config save -y",
    strategy=always(
        Job(
            change=change,
            takes_s=takes_s,
            confirm=lambda name: f"sudo systemctl stop {name}.timer",
            abort=lambda name: f"sudo systemctl reset-failed {name}.service",
            roll_back=_start,
        )
    ),
    state_reads=reads,
    releases=CAPABILITIES.releases,
)
