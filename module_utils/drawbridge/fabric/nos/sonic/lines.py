# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""SONiC: the entries of ConfigDB that Drawbridge owns, as lines in one canonical form.

`TABLE|KEY` says that there is an entry, and `TABLE|KEY field value` what it holds. `TABLE` alone says that the table
exists, because a JSON patch can't add to a missing one. Lines of a port leave its name out:
`QUEUE|3 scheduler ROCE_DATA` of Ethernet0 is `QUEUE|Ethernet0|3 scheduler ROCE_DATA`. DSCPs in a row with the same
class are one line, `DSCP_TO_TC_MAP|ROCE 0-25 0`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby

from ...model import Cnp, Roce, Storage, SwitchProfile
from ...plan import PORT, Lines
from ..systems import SPECTRUM
from .capabilities import REST

Fields = Mapping[str, str]
Tables = Mapping[str, Mapping[str, Fields]]
MAPS, SHARES, MARKING, POLLING = "maps", "schedulers", "ECN", "PFC watchdog"
NAME = "ROCE"
"""Of Drawbridge's maps and profiles: those of the platform, AZURE, are shared by all ports."""
DSCP = "DSCP_TO_TC_MAP"
MAP_FIELDS = {
    "dscp_to_tc_map": DSCP,
    "tc_to_queue_map": "TC_TO_QUEUE_MAP",
    "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
    "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
    "pfc_to_pg_map": "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
}
"""Fields of PORT_QOS_MAP, and the tables of the maps that they name."""
PAUSED = "pfc_to_pg_map"
"""SONiC's own template, qos_config.j2, writes this one for mellanox and barefoot only."""
ENABLED = ("pfc_enable", "pfcwd_sw_enable")
CHANNELS = "PORTCHANNEL"
PORT_FIELDS = {
    "PORT": ("mtu",),
    "PORT_QOS_MAP": (*MAP_FIELDS, *ENABLED),
    "PFC_WD": ("action", "detection_time", "restoration_time"),
}
"""Owned fields of a port's entries. Its queues are owned one by one. A port-channel has an MTU only."""
ON_PORTS = (*PORT_FIELDS, "QUEUE", CHANNELS)
"""Tables whose keys begin with a port or port-channel."""
NEEDED = (*MAP_FIELDS.values(), "SCHEDULER", "PORT_QOS_MAP", "QUEUE")
"""Tables that a new switch may lack."""
DEFAULT_MTU = "9100"
COLORS = ("green", "yellow", "red")
EMPTY = "''"
"""A value that is the empty text, which SONiC writes into PORT_QOS_MAP of service ports."""


def map_fields(profile: SwitchProfile) -> dict[str, str]:
    """Those of MAP_FIELDS that Drawbridge owns: on Broadcom, a map of paused priorities is the site's."""
    return {name: table for name, table in MAP_FIELDS.items() if name != PAUSED or profile.family == SPECTRUM}


def classes(profile: SwitchProfile) -> tuple[Roce | Cnp | Storage, ...]:
    """The traffic classes that Drawbridge owns."""
    return (profile.roce, profile.cnp, *([profile.storage] if profile.storage else []))


def owned_queues(profile: SwitchProfile) -> list[int]:
    """Queues of the classes and of all other traffic."""
    return sorted({REST, *(part.priority for part in classes(profile))})


def sections_of(config: Tables, profile: SwitchProfile) -> tuple[tuple[str, Lines], ...]:
    """The owned lines by section, in the order in which a change makes them."""
    sections = {
        MAPS: tuple(line for table in map_fields(profile).values() for line in _entry(config, table, NAME)),
        SHARES: tuple(
            line
            for name in sorted(config.get("SCHEDULER", {}))
            if name.startswith(f"{NAME}_") and not _used_elsewhere(config, name, profile)
            for line in _entry(config, "SCHEDULER", name)
        ),
        MARKING: tuple(_entry(config, "WRED_PROFILE", NAME)),
        POLLING: tuple(_fields("PFC_WD|GLOBAL", config.get("PFC_WD", {}).get("GLOBAL", {}), ("POLL_INTERVAL",))),
    }
    for port in profile.ports:
        sections[f"{PORT}{port}"] = (f"{PORT}{port}", *_port(config, port, profile))
    for channel in profile.channels:
        mtu = config.get(CHANNELS, {}).get(channel.name, {}).get("mtu", DEFAULT_MTU) or EMPTY
        sections[f"{PORT}{channel.name}"] = (f"{PORT}{channel.name}", f"   {CHANNELS} mtu {mtu}")
    return tuple(sections.items())


def covered(queues: str) -> range:
    """The queues of a key's last part, `3` or `3-4`."""
    low, _sep, high = queues.partition("-")
    return range(int(low), int(high or low) + 1)


def runs(fields: Fields) -> Iterator[tuple[str, str]]:
    """Numbers in a row with the same value as one: `0-25`."""
    numbers = sorted((int(number), value) for number, value in fields.items() if number.isdigit())
    for _unused, group in groupby(enumerate(numbers), key=lambda it: (it[1][0] - it[0], it[1][1])):
        row = [pair for _unused, pair in group]
        low, high = row[0][0], row[-1][0]
        yield (str(low) if low == high else f"{low}-{high}"), row[0][1] or EMPTY


def _entry(config: Tables, table: str, name: str) -> Iterator[str]:
    if name not in config.get(table, {}):
        return
    fields = config[table][name]
    yield f"{table}|{name}"
    if table == DSCP:
        yield from (f"{table}|{name} {row} {value}" for row, value in runs(fields))
    else:
        yield from _fields(f"{table}|{name}", fields, tuple(sorted(fields)))


def _fields(path: str, fields: Fields, names: tuple[str, ...]) -> Iterator[str]:
    yield from (f"{path} {name} {fields[name] or EMPTY}" for name in names if name in fields)


def _used_elsewhere(config: Tables, scheduler: str, profile: SwitchProfile) -> bool:
    """A class that the intent no longer has, on ports that this change does not touch."""
    wanted = {f"{NAME}_DATA", f"{NAME}_CNP", f"{NAME}_REST", *([f"{NAME}_STORAGE"] if profile.storage else [])}
    users = [key.split("|")[0] for key, it in config.get("QUEUE", {}).items() if it.get("scheduler") == scheduler]
    return scheduler not in wanted and not {*users} <= {*profile.ports}


def _port(config: Tables, port: str, profile: SwitchProfile) -> Iterator[str]:
    if port not in profile.channel_of:
        yield f"   PORT mtu {config['PORT'].get(port, {}).get('mtu', DEFAULT_MTU) or EMPTY}"
    maps = config.get("PORT_QOS_MAP", {})
    if port in maps:
        yield "   PORT_QOS_MAP"
        yield from _fields("   PORT_QOS_MAP", maps[port], (*map_fields(profile), *ENABLED))
    for queues, fields in sorted(_queues(config, port, profile)):
        yield f"   QUEUE|{queues}"
        yield from _fields(f"   QUEUE|{queues}", fields, tuple(sorted(fields)))
    yield from _fields("   PFC_WD", config.get("PFC_WD", {}).get(port, {}), PORT_FIELDS["PFC_WD"])


def _queues(config: Tables, port: str, profile: SwitchProfile) -> Iterator[tuple[str, Fields]]:
    """Entries for an owned queue, and others that use what Drawbridge owns."""
    for key, fields in config.get("QUEUE", {}).items():
        name, _sep, queues = key.partition("|")
        if name != port or not re.fullmatch(r"\d+(-\d+)?", queues):
            continue
        ours = any(str(value).startswith(NAME) for value in fields.values())
        if ours or {*covered(queues)} & {*owned_queues(profile)}:
            yield queues, fields
