# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings of a live Slurm, key by key, against those of the intent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...core.options import FILE
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
    unusable,
)
from ..config.words import CGROUP_KEYS, DBD_KEYS, KEYS, WORDS, known, spelled
from ..language.lines import Line, settings, shown
from ..language.values import listed, meaning, own, plugins, same
from .model import DROPPED, KEPT, OURS, Change

LUA = {"JobSubmitPlugins": "job_submit", "CliFilterPlugins": "cli_filter"}
LOOKUP = "{{ lookup('ansible.builtin.file', '%s.lua') }}"
_HOST = "write it into drawbridge_slurm.controller"
_ONE = "Drawbridge runs one slurmctld"
OTHER = {"SlurmctldAddr": "Drawbridge manages no address that moves between controllers"}
"""Keys that no key of the intent keeps as they are."""
_NO_PREEMPTION = "Slurm preempts nothing as long as no QOS has Preempt, those of drawbridge_slurm.qos_of_site included"
HARMLESS = {
    "CryptoType": {"crypto/munge": "CredType is its name today"},
    "PreemptMode": {"off": _NO_PREEMPTION},
    "PreemptType": {"preempt/none": _NO_PREEMPTION},
    "PropagateResourceLimits": {"all": "RDMA needs more locked memory than a login has"},
}
"""Values that Drawbridge replaces by ones of the same effect, by key and value in small letters."""
_ALWAYS_COUNTED = frozenset({"billing", "cpu", "energy", "fs/disk", "mem", "node", "pages", "vmem"})
"""Words of AccountingStorageTRES that Slurm adds itself."""


@dataclass(frozen=True)
class Table:
    """Who sets the keys of one file."""

    name: str
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
    "slurm.conf": Table(
        *("slurm.conf", KEYS, ("settings",), DERIVED, {key: it.reason for key, it in OWNED.items()}, LISTS),
        other=OTHER,
    ),
    "cgroup.conf": Table("cgroup.conf", CGROUP_KEYS, ("cgroup_settings",), {}, CGROUP_OWNED),
    "slurmdbd.conf": Table(
        *("slurmdbd.conf", DBD_KEYS, ("accounting", "settings")),
        {key: f"{_STORAGE}.{name}" for key, name in DBD_DERIVED.items()},
        {key: why for key, why in DBD_OWNED.items() if key not in ("DbdBackupHost", "StoragePass")},
        other={
            "DbdBackupHost": DBD_OWNED["DbdBackupHost"],
            "StoragePass": f"the database then knows Slurm's user by its socket; else set {_STORAGE}.database.server: "
            "site, and the variable with the password",
        },
    ),
}


def compared(
    table: Table, old: Sequence[Line], new: Sequence[Line], scripts: Mapping[str, Sequence[str]], release: str = ""
) -> list[Change]:
    """All settings of both files. `scripts` are the site's programs that the intent keeps, by key of slurm.conf.

    `release` is Slurm's; empty: a word counts that any release has.
    """
    have, want = settings(list(old)), settings(list(new))
    lost = _Lost(table, release)
    found: list[Change] = []
    for key, values in have.items():
        name = table.spelling(key)
        after = want[key][-1][1] if key in want else None
        if name in SCRIPT_KINDS and table.place == ("settings",):
            found += [_script(name, value, after, scripts.get(name, ())) for _unused, value in values]
        elif name in _HOSTS:
            found += _hosts(name, [value for _unused, value in values], want["slurmctldhost"][-1][1])
        else:
            found += lost.setting(name, values[-1][1], after, want)
    found += [Change(OURS, "", shown(*values[-1])) for key, values in want.items() if key not in have]
    return found


@dataclass(frozen=True)
class _Lost:
    """What one file's settings lose."""

    table: Table
    release: str

    def setting(
        self, name: str, old: str, new: str | None, want: Mapping[str, Sequence[tuple[str, str]]]
    ) -> Iterator[Change]:
        """One key that the live file has; `new` is None if the new file lacks it."""
        table, before, after = self.table, shown(name, old), "" if new is None else shown(name, new)
        effective = own(table.name, name) if new is None else new
        reason = HARMLESS.get(name, {}).get(old.lower(), "")
        if (effective is not None and same(name, old, effective)) or _said_otherwise(table, name, old, want):
            yield Change(KEPT, before, after)
        elif name in table.owned or reason:
            yield Change(OURS, before, after, reason or table.owned[name])
        elif name in table.other:
            yield Change(DROPPED, before, after, table.other[name])
        elif name in table.lists:
            yield from self._list(name, old, new or "", after)
        elif name in table.derived:
            yield Change(DROPPED, before, after, f"set it in {table.derived[name]}")
        elif table.name == "slurm.conf" and (why := unusable(name, old)):
            yield Change(DROPPED, before, after, why)
        elif name.lower() in known(table.keys, self.release) if self.release else name in spelled(table.keys):
            yield Change(DROPPED, before, after, "", (*table.place, name), old)
        else:
            yield Change(OURS, before, after, "Slurm itself ignores this key")

    def _list(self, name: str, old: str, new: str, after: str) -> Iterator[Change]:
        """A list that holds words of both. Lost words can be added, except those that Drawbridge can't work with."""
        lost = [word for word in listed(old) if not _present(name, word, new)]
        reasons = {pair.lower(): why for pair, why in HARMFUL.items()}
        harmful = [word for word in lost if f"{name}={word}".lower() in reasons]
        for word in harmful:
            yield Change(OURS, shown(name, word), after, reasons[f"{name}={word}".lower()])
        unknown = [word for word in lost if self._unknown(name, word)]
        for word in unknown:
            yield Change(OURS, shown(name, word), after, f"Slurm {self.release} ignores this word")
        missing = [word for word in lost if word not in (*harmful, *unknown)]
        if name in PLUGIN_LISTS:
            yield from _in_turn(name, old, new, missing, after)
        elif missing:
            yield Change(DROPPED, shown(name, ",".join(missing)), after, "", ("settings", name), ",".join(missing))
        elif not lost:
            yield Change(OURS, shown(name, old), after, "it adds words")

    def _unknown(self, name: str, word: str) -> bool:
        """Whether this release ignores a word."""
        key = word.partition("=")[0].lower()
        return bool(self.release) and name in WORDS and key not in known(WORDS[name], self.release)


def _present(name: str, word: str, new: str) -> bool:
    """Whether a list has a word. Case counts in some lists: a GPU's type in AccountingStorageTRES has capitals."""
    if name == "AccountingStorageTRES" and word.lower() in _ALWAYS_COUNTED:
        return True
    return meaning(name, word) in {meaning(name, other) for other in listed(new)}


def _in_turn(name: str, old: str, new: str, missing: Sequence[str], after: str) -> Iterator[Change]:
    """Plugins that run in the order of the list. The site's list gives `lua` its place; its script is another key."""
    lua = plugins(name, "lua")[0]
    if lua in plugins(name, ",".join(missing)):
        yield Change(DROPPED, shown(name, "lua"), after, "", (LUA[name], "script"), LOOKUP % LUA[name])
    before, then = ([it for it in plugins(name, text) if it != "cli_filter/none"] for text in (old, new))
    others = [it for it in before if it != lua]
    if others and [it for it in then if it in before] != before:
        yield Change(DROPPED, shown(name, old), after, "", ("settings", name), old)
    elif others or lua in then:
        yield Change(OURS, shown(name, old), after, "it adds plugins")


def _said_otherwise(table: Table, name: str, old: str, want: Mapping[str, Sequence[tuple[str, str]]]) -> bool:
    """Whether another key of the new file says the same."""
    if table.name == "slurmdbd.conf" and name == "DbdAddr":
        return "dbdaddr" not in want and same(name, old, want["dbdhost"][-1][1])
    return False


def _script(name: str, path: str, new: str | None, kept: Sequence[str]) -> Change:
    """A program of the site. It runs on as a part, if the intent names it, or a program of its directory."""
    after = shown(name, new) if new else ""
    folder = path.rpartition("/")[0] if path.endswith("*") else ""
    if path in kept or (folder and any(program.startswith(f"{folder}/") for program in kept)):
        return Change(KEPT, shown(name, path), after, "it runs as a part")
    if folder:
        note = f"name each program of {folder} in drawbridge_slurm.scripts.{SCRIPT_KINDS[name]}"
        return Change(DROPPED, shown(name, path), after, note)
    if not re.fullmatch(FILE.pattern, path):
        note = f"name its absolute path, without blanks, in drawbridge_slurm.scripts.{SCRIPT_KINDS[name]}"
        return Change(DROPPED, shown(name, path), after, note)
    return Change(DROPPED, shown(name, path), after, "", ("scripts", SCRIPT_KINDS[name]), path)


_HOSTS = ("BackupAddr", "BackupController", "ControlAddr", "ControlMachine", "SlurmctldHost")


def _hosts(name: str, old: Sequence[str], new: str) -> Iterator[Change]:
    """The controller and its backups. Older files name both, and their addresses, in keys of their own."""
    after, (own_host, own_address) = shown("SlurmctldHost", new), _host(new)
    first, *backups = ["", *old] if name.startswith("Backup") else [*old]
    host, address = (own_host, first) if name == "ControlAddr" else _host(first)
    if first and host != own_host:
        yield Change(DROPPED, shown(name, first), after, _HOST)
    elif first and name != "ControlMachine" and address != own_address:
        place = ("controller_address",) if address else ()
        yield Change(DROPPED, shown(name, first), after, "" if address else _HOST, place, address)
    elif first:
        yield Change(KEPT, shown(name, first), after)
    for other in backups:
        yield Change(DROPPED, shown(name, other), "", _ONE)


def _host(text: str) -> tuple[str, str]:
    """Name and address of a host such as `head(10.0.0.1)`."""
    name, _paren, address = text.partition("(")
    return name, address.rstrip(")")
