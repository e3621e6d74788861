# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings of a live Slurm, key by key, against those of the intent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..config.keys import (
    CGROUP_OWNED,
    DBD_DERIVED,
    DBD_OWNED,
    DERIVED,
    HARMFUL,
    MERGED,
    OWNED,
    PLUGIN_LISTS,
    SCRIPT_KINDS,
)
from ..config.words import CGROUP_KEYS, DBD_KEYS, KEYS, spelled
from .model import DROPPED, KEPT, OURS, Change, shown
from .text import Line, settings

LUA = {"JobSubmitPlugins": "job_submit", "CliFilterPlugins": "cli_filter"}
LOOKUP = "{{ lookup('ansible.builtin.file', '%s.lua') }}"
_HOST = "write it into drawbridge_slurm.controller and drawbridge_slurm.controller_address"
OTHER = {
    "BackupAddr": "Drawbridge runs one slurmctld",
    "BackupController": "Drawbridge runs one slurmctld",
    "ControlAddr": _HOST,
    "ControlMachine": _HOST,
    "SlurmctldAddr": _HOST,
}
"""Keys that no key of the intent keeps as they are."""


@dataclass(frozen=True)
class Table:
    """Who sets the keys of one file."""

    keys: str
    place: tuple[str, ...]
    """The key of drawbridge_slurm for the site's own lines."""
    derived: Mapping[str, str]
    owned: Mapping[str, str]
    lists: frozenset[str] = frozenset()
    """Keys whose value is compared word by word."""
    other: Mapping[str, str] = field(default_factory=dict)

    def spelling(self, key: str) -> str:
        """A key as Slurm's manual spells it."""
        names = (*self.derived, *self.owned, *self.other, *spelled(self.keys))
        return next((name for name in names if name.lower() == key.lower()), key)


LISTS = MERGED | {pair.partition("=")[0] for pair in HARMFUL}
_STORAGE = "drawbridge_slurm.accounting"
TABLES = {
    "slurm.conf": Table(KEYS, ("settings",), DERIVED, {key: own.reason for key, own in OWNED.items()}, LISTS, OTHER),
    "cgroup.conf": Table(CGROUP_KEYS, ("cgroup_settings",), {}, CGROUP_OWNED),
    "slurmdbd.conf": Table(
        *(DBD_KEYS, ("accounting", "settings"), {key: f"{_STORAGE}.{name}" for key, name in DBD_DERIVED.items()}),
        {key: why for key, why in DBD_OWNED.items() if key != "StoragePass"},
        other={
            "StoragePass": f"the database then knows Slurm's user by its socket; else set {_STORAGE}.database.server: "
            "site, and the variable with the password"
        },
    ),
}


def compared(
    table: Table, old: Sequence[Line], new: Sequence[Line], scripts: Mapping[str, Sequence[str]]
) -> list[Change]:
    """All settings of both files. `scripts` are the site's programs that the intent keeps, by key of slurm.conf."""
    have, want = settings(list(old)), settings(list(new))
    found: list[Change] = []
    for key, values in have.items():
        name = table.spelling(key)
        if name in SCRIPT_KINDS and table.place == ("settings",):
            found += [_script(name, value, want.get(key), scripts.get(name, ())) for _unused, value in values]
        elif name == "SlurmctldHost":
            found += _hosts([value for _unused, value in values], want[key][-1][1])
        else:
            found += _setting(table, name, values[-1][1], want[key][-1][1] if key in want else None)
    found += [Change(OURS, "", shown(*values[-1])) for key, values in want.items() if key not in have]
    return found


def _setting(table: Table, name: str, old: str, new: str | None) -> Iterator[Change]:
    """One key that the live file has; `new` is None if the new file lacks it."""
    before, after = shown(name, old), "" if new is None else shown(name, new)
    if new is not None and same(old, new):
        yield Change(KEPT, before, after)
    elif name in table.owned:
        yield Change(OURS, before, after, table.owned[name])
    elif name in table.other:
        yield Change(DROPPED, before, after, table.other[name])
    elif name in table.lists:
        yield from _words(name, old, new or "", after)
    elif new is not None and words(old) <= words(new) and "," in new:
        yield Change(OURS, before, after, "it adds words")
    elif name in table.derived:
        yield Change(DROPPED, before, after, f"set it in {table.derived[name]}")
    elif name in spelled(table.keys):
        yield Change(DROPPED, before, after, "", (*table.place, name), old)
    else:
        yield Change(DROPPED, before, after, "Slurm itself ignores this key")


def _words(name: str, old: str, new: str, after: str) -> Iterator[Change]:
    """A list that holds words of both. Lost words can be added, except those that Drawbridge can't work with."""
    present = words(new)
    lost = [word for word in old.split(",") if word.strip().lower() not in present]
    harmful = [word for word in lost if f"{name}={word}".lower() in {pair.lower() for pair in HARMFUL}]
    reasons = {pair.lower(): why for pair, why in HARMFUL.items()}
    for word in harmful:
        yield Change(OURS, shown(name, word), after, reasons[f"{name}={word}".lower()])
    missing = [word for word in lost if word not in harmful]
    if name in PLUGIN_LISTS and "lua" in missing:
        missing.remove("lua")
        yield Change(DROPPED, shown(name, "lua"), after, "", (LUA[name], "script"), LOOKUP % LUA[name])
    if missing:
        yield Change(DROPPED, shown(name, ",".join(missing)), after, "", ("settings", name), ",".join(missing))
    elif not lost:
        yield Change(OURS, shown(name, old), after, "it adds words")


def _script(name: str, path: str, new: list[tuple[str, str]] | None, kept: Sequence[str]) -> Change:
    """A program of the site. It runs on as a part, if the intent names it, or a program of its directory."""
    after = shown(name, new[-1][1]) if new else ""
    folder = path.rpartition("/")[0] if path.endswith("*") else ""
    if path in kept or (folder and any(program.startswith(f"{folder}/") for program in kept)):
        return Change(KEPT, shown(name, path), after, "it runs as a part")
    if folder:
        note = f"name each program of {folder} in drawbridge_slurm.scripts.{SCRIPT_KINDS[name]}"
        return Change(DROPPED, shown(name, path), after, note)
    return Change(DROPPED, shown(name, path), after, "", ("scripts", SCRIPT_KINDS[name]), path)


def _hosts(old: Sequence[str], new: str) -> Iterator[Change]:
    """The first line names the controller, the others its backups."""
    first, *backups = old
    if same(first, new):
        yield Change(KEPT, shown("SlurmctldHost", first), shown("SlurmctldHost", new))
    else:
        yield Change(DROPPED, shown("SlurmctldHost", first), shown("SlurmctldHost", new), _HOST)
    for host in backups:
        yield Change(DROPPED, shown("SlurmctldHost", host), "", OTHER["BackupController"])


def words(value: str) -> set[str]:
    """The words of a list in small letters."""
    return {word.strip().lower() for word in value.split(",") if word.strip()}


def same(old: str, new: str) -> bool:
    """Whether Slurm reads both alike: case and order of words do not count, times without limit have three names."""
    unlimited = {"infinite": "unlimited", "-1": "unlimited", "yes": "1", "no": "0", "true": "1", "false": "0"}
    if "/" in old:
        return old.rstrip("/") == new.rstrip("/") or words(old) == words(new)
    return {unlimited.get(word, word) for word in words(old)} == {unlimited.get(word, word) for word in words(new)}
