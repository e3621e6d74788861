# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""mmlsquota and mmrepquota.

Call `mmlsquota -Y -j F Dev`: records of type `fileset`, without the columns quota and defQuota.
Without a quota there is a header alone.

Call `mmlsquota -j F Dev`: a table that begins with `Block Limits`.

Call `mmrepquota -Y -j Dev`: `*** Report for FILESET quotas on Dev`, a header, and all filesets.

Call mmlsquota without such a fileset: `F: no such fileset in quota enabled file systems`.

Quotas are off: `No quota enabled file system found.`, `mmlsquota: tslsquota failed. Error code 22.`.

Both errors end with exit code 22, with the knob `quota_rc0` with 0 (seen). Numbers of blocks are KiB in -Y. Sources:
gpfs_exporter's, mmoxi's, puppet-module-gpfs' and waldur's test data, comments in StoRM's GPFS driver, issue 1016 of
IBM's CSI driver. tests/transcripts/storage/gpfs has them.
"""

from __future__ import annotations

import grp
import os
import pwd
from typing import TYPE_CHECKING, Any, NamedTuple

from .filesystems import DAY, completed, enforce, find, owners, require_active, used
from .model import Bare, Failed
from .quotas import NO_LIMITS, require_quotas
from .text import header, row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .model import Cluster

USAGE = (
    "blockUsage blockQuota blockLimit blockInDoubt blockGrace filesUsage filesQuota filesLimit filesInDoubt filesGrace"
)
LIST = f"filesystemName quotaType id name {USAGE} remarks fid filesetname"
REPORT = f"filesystemName quotaType id name {USAGE} remarks quota defQuota fid filesetname"
LIMITS = "                         Block Limits                                    |     File Limits"
COLUMNS = " type             KB      quota      limit   in_doubt    grace |    files   quota    limit in_doubt    grace"
RECORDS = {"USR": "user", "GRP": "group", "FILESET": "fileset"}


class Line(NamedTuple):
    """One row: whose it is, limits, usage, numbers in doubt, and grace periods of KiB and files."""

    kind: str
    id: int
    name: str
    limits: dict[str, list[int]]
    usage: tuple[int, int]
    doubt: list[int]
    graces: list[str]
    fileset: str = ""
    """Of a user's or group's row."""
    explicit: bool = True

    @property
    def fields(self) -> list[object]:
        """The ten columns of blocks and files."""
        found: list[object] = []
        for at, what in enumerate(("block", "files")):
            found += [self.usage[at], *self.limits[what], self.doubt[at], self.graces[at]]
        return found


def mmlsquota(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Print the quota of a fileset (-j), a user (-u), a group (-g) or the caller, in some or all file systems."""
    require_active(cluster)
    kind = "FILESET" if "-j" in given else "GRP" if "-g" in given else "USR"
    wanted = [find(cluster, word.partition(":")[0]) for word in rest] or _all(cluster)
    wanted = [(device, record) for device, record in wanted if record["quotas_enforced"] != "none" or rest]
    if not wanted:
        require_quotas(cluster, {"quotas_enforced": "none"}, "tslsquota")
    lines: list[tuple[str, Line]] = []
    for device, record in wanted:
        require_quotas(cluster, record, "tslsquota")
        if kind == "FILESET" and given["-j"] not in record["filesets"]:
            text = f"{given['-j']}: no such fileset in quota enabled file systems"
            raise Bare(text, rc=0 if cluster.state.get("quota_rc0") else 22)
        lines += [(device, line) for line in _mine(cluster, device, record, kind, given)]
    if "-Y" in given:
        print(header("mmlsquota", RECORDS[kind], LIST))
        for device, line in lines:
            fields = (device, kind, line.id, line.name, *line.fields, "", "", line.fileset or line.name)
            print(row("mmlsquota", RECORDS[kind], fields))
        return
    print(LIMITS, f"Filesystem{COLUMNS}  Remarks", sep="\n")
    for device, line in lines:
        print(f"{_human(device, line)} ")


def _mine(cluster: Cluster, device: str, record: dict[str, Any], kind: str, given: dict[str, str]) -> Iterable[Line]:
    if kind == "FILESET":
        return [line for line in _filesets(cluster, device, record, given["-j"]) if line.explicit]
    number = _number(kind, given.get("-u", given.get("-g", str(os.geteuid()))))
    return [line for line in _people(cluster, device, record, kind) if line.id == number]


def _number(kind: str, text: str) -> int:
    if text.isdigit():
        return int(text)
    try:
        return pwd.getpwnam(text).pw_uid if kind == "USR" else grp.getgrnam(text).gr_gid
    except KeyError:
        raise Failed(f"{text}: no such {RECORDS[kind]}") from None


def _all(cluster: Cluster) -> list[tuple[str, dict[str, Any]]]:
    return [(device, completed(record)) for device, record in cluster.state["filesystems"].items()]


def mmrepquota(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Print all quotas of one file system or of all (-a); -u, -g and -j choose types."""
    wanted = _all(cluster) if "-a" in given else [find(cluster, rest[-1].partition(":")[0] if rest else "")]
    require_active(cluster)
    chosen = [kind for flag, kind in (("-u", "USR"), ("-g", "GRP"), ("-j", "FILESET")) if flag in given]
    for device, record in wanted:
        require_quotas(cluster, record, "tsrepquota")
        lines = list(_report(cluster, device, record, chosen or list(RECORDS)))
        if given.keys() & {"-Y", "-a", "-v"} and cluster.state.get("quota_banner", True):
            print(f"*** Report for {' '.join(chosen or RECORDS)} quotas on {device}")
        if "-Y" not in given:
            print(LIMITS.replace("|     ", "|                     "), f"Name      {COLUMNS}", sep="\n")
            print(*(_human(line.name, line) for line in lines), sep="\n")
            continue
        print(header("mmrepquota", "", REPORT))
        for line in lines:
            remarks = "e" if line.explicit else "i" if line.id == 0 else "N/A"
            names = (line.id if "-n" in given else line.name, *line.fields, remarks, "on", "off")
            fid = record["filesets"][line.fileset]["id"] if line.fileset else ""
            print(row("mmrepquota", "", (device, line.kind, line.id, *names, fid, line.fileset)))


def _report(cluster: Cluster, device: str, record: dict[str, Any], kinds: list[str]) -> Iterator[Line]:
    for kind in kinds:
        if kind == "FILESET":
            yield from _filesets(cluster, device, record)
        else:
            yield from _people(cluster, device, record, kind)


def _filesets(cluster: Cluster, device: str, record: dict[str, Any], only: str = "") -> Iterator[Line]:
    for name in [only] if only else list(record["filesets"]):
        found = record["filesets"][name]
        explicit = name in record["quotas"]["FILESET"]
        limits = record["quotas"]["FILESET"].get(name, record["default_quotas"].get("FILESET", NO_LIMITS))
        usage = used(cluster, device, record, name)
        key = f"FILESET {name}"
        graces = _graces(cluster, record, key, limits, usage)
        if "expired" in graces and os.geteuid() == 0:
            enforce(cluster, device, record, name, now_full=True)
        doubt = record["in_doubt"].get(name, [0, 0])
        yield Line("FILESET", found["id"], name, limits, usage, doubt, graces, explicit=explicit)


def _people(cluster: Cluster, device: str, record: dict[str, Any], kind: str) -> Iterator[Line]:
    """Yield users or groups that have limits or files."""
    at = 0 if kind == "USR" else 1
    taken: dict[int, list[int]] = {}
    for found in owners(cluster, device, record, None):
        entry = taken.setdefault(found[at], [0, 0])
        entry[0] += found[2]
        entry[1] += 1
    keys = {**{f":{number}": NO_LIMITS for number in taken}, **record["quotas"][kind]}
    for key, limits in keys.items():
        fileset, _, number = key.rpartition(":")
        usage = taken.get(int(number), [0, 0])
        if fileset:
            files = [it for it in owners(cluster, device, record, fileset) if it[at] == int(number)]
            usage = [sum(it[2] for it in files), len(files)]
        graces = _graces(cluster, record, f"{kind} {key}", limits, (usage[0], usage[1]))
        name = _name(kind, int(number))
        explicit = key in record["quotas"][kind]
        yield Line(kind, int(number), name, limits, (usage[0], usage[1]), [0, 0], graces, fileset or "root", explicit)


def _name(kind: str, number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name if kind == "USR" else grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def _graces(
    cluster: Cluster, record: dict[str, Any], key: str, limits: dict[str, list[int]], usage: tuple[int, int]
) -> list[str]:
    """Return the rest of the grace periods: none, days, hours, minutes or `expired`. They begin when seen here."""
    told = []
    for at, what in enumerate(("block", "files")):
        soft = limits[what][0]
        if not soft or usage[at] <= soft:
            record["graces"].pop(f"{key} {what}", None)
            told.append("none")
            continue
        begun = record["graces"].setdefault(f"{key} {what}", cluster.now())
        left = begun + record["grace_s"].get(f"{key.split()[0]} {what}", 7 * DAY) - cluster.now()
        unit, size = ("days", DAY) if left >= DAY else ("hours", 3600) if left >= 3600 else ("minutes", 60)
        told.append("expired" if left <= 0 else f"{max(1, round(left / size))} {unit}")
    return told


def _human(first: str, line: Line) -> str:
    usage, soft, hard, doubt, grace, files, fsoft, fhard, fdoubt, fgrace = line.fields
    blocks = f"{first:<10} {line.kind:<7}{usage:>12} {soft:>10} {hard:>10} {doubt:>10} {grace:>8}"
    return f"{blocks} | {files:>8} {fsoft:>7} {fhard:>8} {fdoubt:>8} {fgrace:>8}"
