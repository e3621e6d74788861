# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""SONiC: a change as the lines to type: patches in stages, and before them a job on the switch that reverts.

The stages are definitions, ports in groups, definitions that nothing needs any more, and the watchdog, which only its
own command can change. `config rollback` takes maps apart entry by entry while ports use them, so the job writes old
values to the database itself. That needs no port down, and may begin in the middle of a patch.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ....core import ports
from ...plan import Lines
from ..dialect import SESSION_PREFIX
from .lines import DSCP, EMPTY, MAP_FIELDS, ON_PORTS, PORT_FIELDS, covered

FOLDER = "/var/tmp"
"""Of the files of a change: the folder in it is the login's own."""
AT_ONCE = 8
"""Ports in one patch: the updater takes about ten seconds for each."""
PORT_S, REST_S = 15, 60
"""Seconds for a port, and for all else of a change, at most."""
WIDTH = 400
"""Characters of a file in one typed line, so that it fits into a terminal's."""
WATCHED, MARKED = "PFC_WD", "WRED_PROFILE"
"""Tables that no patch has: the updater of 202405 to 202505 refuses new WRED profiles, and PFC_WD on most hardware."""
HISTORY = "pfc_stat_history"
"""A field that `config pfcwd start` adds from 202511 on."""
Tree = dict[str, dict[str, dict[str, str]]]


@dataclass
class Entry:
    """What becomes of one entry of ConfigDB."""

    old: dict[str, str] = field(default_factory=dict)
    new: dict[str, str] = field(default_factory=dict)
    comes: bool = False
    goes: bool = False


@dataclass
class Difference:
    """The lines of a candidate, port by port."""

    entries: dict[tuple[str, str], Entry]

    @classmethod
    def of(cls, lines: Iterable[str]) -> Difference:
        """Read `+ QUEUE|Ethernet0-8:8|3 scheduler ROCE_DATA`."""
        found = cls({})
        for line in lines:
            sign, path, *rest = line.split(" ", 3)
            table, _sep, key = path.partition("|")
            for name in _keys(table, key):
                found._note(sign, found.entries.setdefault((table, name), Entry()), table, rest)
        return found

    def _note(self, sign: str, entry: Entry, table: str, rest: list[str]) -> None:
        if not rest:
            entry.comes, entry.goes = entry.comes or sign == "+", entry.goes or sign == "-"
            return
        name, value = rest[0], "" if rest[1] == EMPTY else rest[1]
        names = [str(number) for number in covered(name)] if table == DSCP else [name]
        (entry.new if sign == "+" else entry.old).update(dict.fromkeys(names, value))


@dataclass(frozen=True)
class Own:
    """What a change needs to know beside the owned lines."""

    restored: Lines = ()
    """Lines of ports that the job puts back, too."""
    missing: Lines = ()
    """Tables that the switch lacks. Each comes with its first entry, since the updater refuses an empty table."""


def change(session: str, seconds: int, lines: Lines, own: Own) -> Lines:
    """Write the files, start the timer, load the WRED profile, apply the stages."""
    home, found = f"{FOLDER}/{session}", Difference.of(lines)
    patches = [patch for patch in _patches(found, list(own.missing)) if patch]
    files = [f"{home}/{number}.json" for number in range(1, len(patches) + 1)]
    typed = [f"rm -rf {FOLDER}/{SESSION_PREFIX}*", f"mkdir -m 700 {home}"]
    for path, patch in zip(files, patches):
        typed += _written(path, patch)
    marks = {key: entry.new for (table, key), entry in found.entries.items() if table == MARKED and entry.new}
    typed += _written(f"{home}/marks.json", {MARKED: marks}) if marks else []
    typed += _written(f"{home}/old.json", _old(found, own.restored))
    typed += [f"echo {_quoted(line)} >> {home}/revert" for line in _revert(home, found)]
    typed.append(
        f"sudo systemd-run --unit={session} --on-active={seconds} --service-type=oneshot /bin/sh {home}/revert"
    )
    typed += _unnamed(found)
    typed += [f"sudo config load -y {home}/marks.json"] if marks else []
    typed += [f"sudo config apply-patch {path}" for path in files]
    return (*typed, *_unmarked(found), *_watchdog(found))


def takes_s(lines: Lines) -> int:
    """Seconds for the stages: the timer starts before them."""
    touched = {key.split("|")[0] for _unused, key in Difference.of(lines).entries if key.startswith("Ethernet")}
    return REST_S + PORT_S * len(touched)


def _keys(table: str, key: str) -> list[str]:
    """Keys of a line: those of ports begin with a list of them."""
    if table not in ON_PORTS or key == "GLOBAL":
        return [key]
    names, _sep, rest = key.partition("|")
    return [f"{name}|{rest}" if rest else name for name in ports.expand(names)]


def _patches(found: Difference, missing: list[str]) -> Iterator[list[dict[str, Any]]]:
    """Definitions, groups of ports, definitions that go. `missing` loses the tables that they make."""
    entries = {at: entry for at, entry in found.entries.items() if at[0] not in (WATCHED, MARKED)}
    on_ports = {at: entry for at, entry in entries.items() if at[0] in ON_PORTS}
    shared = {at: entry for at, entry in entries.items() if at not in on_ports}
    yield list(_operations({at: entry for at, entry in shared.items() if not entry.goes}, missing))
    names = list(dict.fromkeys(key.split("|")[0] for _unused, key in on_ports))
    for start in range(0, len(names), AT_ONCE):
        group = {*names[start : start + AT_ONCE]}
        yield list(_operations({at: it for at, it in on_ports.items() if at[1].split("|")[0] in group}, missing))
    yield list(_operations({at: entry for at, entry in shared.items() if entry.goes}, missing))


def _operations(entries: dict[tuple[str, str], Entry], missing: list[str]) -> Iterator[dict[str, Any]]:
    """Operations of a JSON patch (RFC 6902). A missing table is added before its first entry."""
    for (table, key), entry in entries.items():
        path = f"/{table}/{key}"
        if entry.goes:
            yield {"op": "remove", "path": path}
            continue
        if table in missing:
            missing.remove(table)
            yield {"op": "add", "path": f"/{table}", "value": {}}
        if entry.comes:
            yield {"op": "add", "path": path, "value": entry.new}
            continue
        for name, value in entry.new.items():
            yield {"op": "add", "path": f"{path}/{name}", "value": value}
        for name in entry.old:
            if name not in entry.new and name not in _empty_maps(entry):
                yield {"op": "remove", "path": f"{path}/{name}"}


def _old(found: Difference, restored: Iterable[str]) -> Tree:
    """The values that the job puts back."""
    tree: Tree = {}
    for (table, key), entry in found.entries.items():
        if entry.old:
            tree.setdefault(table, {}).setdefault(key, {}).update(entry.old)
    touched = {key.split("|")[0] for _unused, key in found.entries}
    for line in restored:
        path, name, value = line.split(" ", 2)
        table, _sep, key = path.partition("|")
        if key in touched:
            tree.setdefault(table, {}).setdefault(key, {})[name] = value
    return tree


def _revert(home: str, found: Difference) -> Iterator[str]:
    """The job: end a patch that still runs, take away what came, and put old values back."""
    yield f"pkill -f 'apply-patch {home}/'"
    came = [
        f"'{table}|{key}'"
        for (table, key), entry in reversed(found.entries.items())
        if entry.comes or (table == WATCHED and key != "GLOBAL" and not entry.old)
    ]
    for start in range(0, len(came), AT_ONCE):
        yield f"sonic-db-cli CONFIG_DB DEL {' '.join(came[start : start + AT_ONCE])}"
    for (table, key), entry in found.entries.items():
        added = [name for name in entry.new if name not in entry.old]
        added += [HISTORY] if table == WATCHED and key != "GLOBAL" else []  # what it was before is put back below
        if added and not entry.comes and not (table == WATCHED and key != "GLOBAL" and not entry.old):
            yield f"sonic-db-cli CONFIG_DB HDEL '{table}|{key}' {' '.join(added)}"
    yield f"sonic-cfggen -j {home}/old.json --write-to-db"


def _empty_maps(entry: Entry) -> list[str]:
    """Fields that should name a map and have the empty text, which has no effect."""
    return [name for name, value in entry.old.items() if name in MAP_FIELDS and not value]


def _unnamed(found: Difference) -> Iterator[str]:
    """Take such fields away first: the updater checks the whole ConfigDB, and its models refuse them."""
    for (table, key), entry in found.entries.items():
        if names := _empty_maps(entry):
            yield f"sudo sonic-db-cli CONFIG_DB HDEL '{table}|{key}' {' '.join(names)}"


def _unmarked(found: Difference) -> Iterator[str]:
    """What goes of WRED profiles, once no port uses it any more."""
    for (table, key), entry in found.entries.items():
        if table == MARKED and entry.goes:
            yield f"sudo sonic-db-cli CONFIG_DB DEL '{table}|{key}'"
        elif table == MARKED and (gone := [name for name in entry.old if name not in entry.new]):
            yield f"sudo sonic-db-cli CONFIG_DB HDEL '{table}|{key}' {' '.join(gone)}"


def _watchdog(found: Difference) -> Iterator[str]:
    """A shorter interval comes before the ports' times, a longer one after them: no time is ever below it."""
    interval = found.entries.get((WATCHED, "GLOBAL"), Entry())
    old, new = (int(it.get("POLL_INTERVAL") or 0) for it in (interval.old, interval.new))
    line = [f"sudo config pfcwd interval {new}"] if new else []
    first = new < old
    yield from line if first else []
    alike: dict[tuple[str, ...], list[str]] = {}
    for (table, key), entry in found.entries.items():
        if table == WATCHED and key != "GLOBAL":
            times = {**entry.old, **entry.new}
            alike.setdefault(tuple(times[name] for name in PORT_FIELDS[WATCHED]), []).append(key)
    for (action, detect, restore), names in alike.items():
        for start in range(0, len(names), AT_ONCE):
            group = " ".join(names[start : start + AT_ONCE])
            yield f"sudo config pfcwd start --action {action} --restoration-time {restore} {group} {detect}"
    yield from [] if first else line


def _written(path: str, content: object) -> Iterator[str]:
    """Lines that write a file, each short enough for a terminal. A line ends between two parts of JSON, of which a
    string is one: `"3,4"` stays whole.
    """
    line = ""
    for part in json.JSONEncoder(separators=(",", ":")).iterencode(content):
        if line and len(line) + len(part) > WIDTH:
            yield f"echo '{line}' >> {path}"
            line = ""
        line += part
    yield f"echo '{line}' >> {path}"


def _quoted(line: str) -> str:
    """In double quotes: the line has single ones, and nothing that a shell expands."""
    return f'"{line}"'
