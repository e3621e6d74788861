# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Quotas: set limits, switch quotas of a file system on and off, count again.

`mmsetquota` prints nothing. Block limits are rounded up to whole blocks of the file system (seen: 200000000000 bytes
became 200001191936 with blocks of 4 MiB). A hard limit that is left out means no limit (IBM's page). An entry without
any limit is gone. Fileset limits are enforced; those of users and groups are only listed.

Texts of refusals are our own but `No quota enabled file system found.` and what follows it.
"""

from __future__ import annotations

import grp
import pwd
import re
from typing import TYPE_CHECKING, Any

from ...common import DIE, DRIFT
from .filesystems import DAY, UNITS, enforce, find, known, number, rounded
from .model import Bare, Failed

if TYPE_CHECKING:
    from .model import Cluster

SET = ("user=", "group=", "block=", "files=", "default=", "grace=")
CHANGE_FS = ("filesetdf", "nofilesetdf", "perfileset-quota", "noperfileset-quota")
TYPES = {"user": "USR", "group": "GRP", "fileset": "FILESET"}
NO_LIMITS = {"block": [0, 0], "files": [0, 0]}
PERIOD = re.compile(r"(\d+)(days?|hours?|minutes?|seconds?)?")
SECONDS = {"": DAY, "day": DAY, "hour": 3600, "minute": 60, "second": 1}


def require_quotas(cluster: Cluster, record: dict[str, Any], program: str) -> None:
    """Fail when the file system's quotas are off; with the knob `quota_rc0` with exit code 0."""
    if record["quotas_enforced"] == "none":
        raise Bare(
            "No quota enabled file system found.",
            f"{cluster.command}: {program} failed. Error code 22.",
            rc=0 if cluster.state.get("quota_rc0") else 22,
        )


def mmsetquota(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Set limits of a fileset (Dev:Fileset), of users or groups, defaults or grace periods; dying leaves out files."""
    device, _, name = (rest[0] if len(rest) == 1 else "").partition(":")
    device, record = find(cluster, device)
    require_quotas(cluster, record, "tssetquota")
    if not given.keys() & {"--block", "--files"}:
        raise Failed("Missing arguments.")
    if name:
        known(record, name)
    if "--grace" in given:
        kind = _type(given["--grace"])
        periods = {f"{kind} {what}": given[f"--{what}"] for what in ("block", "files") if f"--{what}" in given}
        record["grace_s"].update({key: _seconds(text) for key, text in periods.items()})
        return
    limits = _limits(record, given)
    if "--default" in given:
        record["default_quotas"][_type(given["--default"])] = {**NO_LIMITS, **limits}
        return
    for table, key in _entries(record, given, name):
        _set(cluster, table, key, limits)
    if name and not given.keys() & {"--user", "--group"}:
        enforce(cluster, device, record, name)


def _set(cluster: Cluster, table: dict[str, Any], key: str, limits: dict[str, list[int]]) -> None:
    wanted = {what: limits[what] for what in list(limits)[:1]} if cluster.effect == DIE else limits
    entry = {**NO_LIMITS, **table.get(key, {}), **wanted}
    if cluster.effect == DRIFT:
        entry["block"] = [2 * limit for limit in entry["block"]] if any(entry["block"]) else [1 << 20, 1 << 20]
    table[key] = entry
    if entry == NO_LIMITS:
        del table[key]


def _type(word: str) -> str:
    if word not in TYPES:
        raise Failed(f"Incorrect quota type: {word}")
    return TYPES[word]


def _entries(record: dict[str, Any], given: dict[str, str], name: str) -> list[tuple[dict[str, Any], str]]:
    """Return the tables and keys of what limits are for; a user's or group's key has its fileset, "" for all."""
    quotas = record["quotas"]
    found: list[tuple[dict[str, Any], str]] = []
    for option, kind, look_up in (
        ("--user", "USR", lambda text: pwd.getpwnam(text).pw_uid),
        ("--group", "GRP", lambda text: grp.getgrnam(text).gr_gid),
    ):
        for text in given[option].split(",") if option in given else []:
            try:
                found.append((quotas[kind], f"{name}:{text if text.isdigit() else look_up(text)}"))
            except KeyError:
                raise Failed(f"{text}: no such {option[2:]}") from None
    if not found and not name:
        raise Failed("Missing arguments.")
    return found or [(quotas["FILESET"], name)]


def _limits(record: dict[str, Any], given: dict[str, str]) -> dict[str, list[int]]:
    """Return soft and hard limits: KiB of whole blocks, and files."""
    limits = {}
    for what, step in (("block", record["block_size"]), ("files", 1)):
        if f"--{what}" in given:
            soft, _, hard = given[f"--{what}"].partition(":")
            pair = [rounded(number(text, f"--{what}"), step) for text in (soft, hard or "0")]
            if pair[1] and pair[0] > pair[1]:
                raise Failed(f"The soft limit {soft} is greater than the hard limit {hard}.")
            limits[what] = [limit // UNITS["K"] for limit in pair] if what == "block" else pair
    return limits


def _seconds(text: str) -> int:
    match = PERIOD.fullmatch(text)
    if not match:
        raise Failed(f"Incorrect grace period: {text}")
    return int(match[1]) * SECONDS[(match[2] or "").rstrip("s")]


def mmchfs(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Switch quotas of a file system (-Q yes or no), quotas by fileset for users, and df of filesets."""
    device, record = find(cluster, rest[0] if len(rest) == 1 else "")
    if "-Q" in given:
        if given["-Q"] not in ("yes", "no"):
            raise Failed(f"Incorrect option: -Q {given['-Q']}")
        record["quotas_enforced"] = "user;group;fileset" if given["-Q"] == "yes" else "none"
    for option, key in (("filesetdf", "filesetdf"), ("perfileset-quota", "perfileset_quota")):
        for word, value in ((f"--{option}", "Yes"), (f"--no{option}", "No")):
            if word in given:
                record[key] = value
    for name in record["filesets"]:
        enforce(cluster, device, record, name)
    if cluster.effect == DRIFT:
        record["quotas_enforced"] = "none"


def mmcheckquota(cluster: Cluster, _given: dict[str, str], rest: list[str]) -> None:
    """Count all files; then no number is in doubt."""
    device, record = find(cluster, rest[-1] if rest else "")
    require_quotas(cluster, record, "tscheckquota")
    record["in_doubt"] = {}
    print(f"{device}: Start quota check", f"{device}: 100 % complete", "Finished scanning the inodes.", sep="\n")
