# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""mmlsfileset in its three forms.

The -Y header names 85 columns since 5.1, as in mmoxi's and nesi.gpfs' test data. Rows of some builds are longer: those
of 5.2 here have five fields more, before the last. A path is percent-encoded with its slashes, hyphens and
underscores, and is `--` for an unlinked fileset. Comments and dates encode colons and percent signs alone.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .filesets import parent_of
from .filesystems import date, find, known, used
from .model import Bare
from .text import encode, header

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .model import Cluster

FIELDS = (
    "filesystemName filesetName id rootInode status path parentId created inodes dataInKB comment filesetMode"
    " afmTarget afmState afmMode afmFileLookupRefreshInterval afmFileOpenRefreshInterval afmDirLookupRefreshInterval"
    " afmDirOpenRefreshInterval afmAsyncDelay afmNeedsRecovery afmExpirationTimeout afmRPO afmLastPSnapId inodeSpace"
    " isInodeSpaceOwner maxInodes allocInodes inodeSpaceMask afmShowHomeSnapshots afmNumReadThreads reserved"
    " afmReadBufferSize afmWriteBufferSize afmReadSparseThreshold afmParallelReadChunkSize afmParallelReadThreshold"
    " snapId afmNumFlushThreads afmPrefetchThreshold afmEnableAutoEviction permChangeFlag afmParallelWriteThreshold"
    " freeInodes afmNeedsResync afmParallelWriteChunkSize afmNumWriteThreads afmPrimaryID afmDRState"
    " afmAssociatedPrimaryId afmDIO afmGatewayNode afmIOFlags afmVerifyDmapi afmSkipHomeACL afmSkipHomeMtimeNsec"
    " afmForceCtimeChange afmSkipResyncRecovery afmSkipConflictQDrop afmRefreshAsync afmParallelMounts afmRefreshOnce"
    " afmSkipHomeCtimeNsec afmReaddirOnce afmResyncVer2 afmSnapUncachedRead afmFastCreate afmObjectXattr afmObjectVHB"
    " afmObjectNoDirectoryObj afmSkipHomeRefresh afmObjectGCS afmObjectUserKeys afmWriteOnClose afmObjectSSL"
    " afmObjectACL afmMUPromoted afmMUAutoRemove afmObjFastReaddir afmObjectBlkIO preventSnapshotRestore"
    " permInheritFlag afmIOFlags2 afmRemoteUpdate falStatus"
)
MASK = 66846720
LONG = (
    "Name                            Id      RootInode  ParentId Created                      InodeSpace      MaxInodes"
    "    AllocInodes Comment"
)
LONGER = {"5.2": 5}
"""Fields that rows have more than the header, by release."""


def mmlsfileset(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Print filesets: all of them, those named (with commas), or those of junctions; -i and -d count what they hold."""
    if os.geteuid() != 0:
        raise Bare("mmlsfileset: This command can only be run by the root user.", rc=2)
    device, record = find(cluster, rest[0] if rest else "")
    names = _selected(record, given.get("-J"), rest[1:])
    counted = bool(given.keys() & {"-i", "-d"})
    if "-Y" in given:
        print(header("mmlsfileset", "", FIELDS))
        for name in names:
            print(_record(cluster, device, name, counted))
        return
    if counted:
        print("Collecting fileset usage information ...")
    print(f"Filesets in file system '{device}':")
    print(LONG if "-L" in given else "Name                     Status    Path")
    for name in names:
        found = record["filesets"][name]
        if "-L" in given:
            print(_long(record, name, found))
        else:
            path = _path(record, found)
            print(_columns([(name, 0), (_status(found), 25), (path, 35)]))


def _selected(record: dict[str, Any], junctions: str | None, words: list[str]) -> list[str]:
    if junctions:
        wanted = junctions.split(",")
        return [name for name, it in record["filesets"].items() if _path(record, it) in wanted]
    if not words:
        return list(record["filesets"])
    names = words[0].split(",")
    for name in names:
        known(record, name)
    return names


def _status(found: dict[str, Any]) -> str:
    return "Unlinked" if found["junction"] is None else "Linked"


def _path(record: dict[str, Any], found: dict[str, Any]) -> str:
    if found["junction"] is None:
        return "--"
    return f"{record['mount_point']}/{found['junction']}".rstrip("/")


def _parent(record: dict[str, Any], found: dict[str, Any]) -> object:
    return record["filesets"][parent_of(record, found["junction"])]["id"] if found["junction"] else "--"


def _record(cluster: Cluster, device: str, name: str, counted: bool) -> str:
    _, record = find(cluster, device)
    found = record["filesets"][name]
    kib, files = used(cluster, device, record, name)
    values: dict[str, object] = {
        "filesystemName": device,
        "filesetName": name,
        "id": found["id"],
        "rootInode": found["root_inode"],
        "status": _status(found),
        "parentId": _parent(record, found),
        "created": date(found["created"]),
        "comment": found["comment"],
        "filesetMode": "off",
        "inodeSpace": found["space"],
        "isInodeSpaceOwner": int(found["owner"]),
        "maxInodes": found["max"],
        "allocInodes": found["alloc"],
        "inodeSpaceMask": MASK if found["owner"] else 0,
        "snapId": 0,
        "permChangeFlag": found["change"],
        "freeInodes": max(0, found["alloc"] - files) if found["owner"] else 0,
        "preventSnapshotRestore": "no",
        "permInheritFlag": found["inherit"],
        "falStatus": "default",
    }
    if counted:
        values.update(inodes=files, dataInKB=kib)
    fields = [encode(values.get(field, "-")) for field in FIELDS.split()]
    fields[FIELDS.split().index("path")] = encode(_path(record, found), also="/-_")
    fields[-1:-1] = ["-"] * LONGER.get(cluster.state["version"], 0)
    return f"mmlsfileset::0:1:::{':'.join(fields)}:"


def _long(record: dict[str, Any], name: str, found: dict[str, Any]) -> str:
    numbers = ((found["id"], 34), (found["root_inode"], 49), (_parent(record, found), 59))
    line = name
    for value, end in numbers:
        line += " " * max(1, end - len(line) - len(str(value))) + str(value)
    line = f"{line} {date(found['created'])}"
    for value, end in ((found["space"], 93), (found["max"], 114), (found["alloc"], 129)):
        line += " " * max(1, end - len(line) - len(str(value))) + str(value)
    return f"{line} {found['comment']}".rstrip()


def _columns(cells: Sequence[tuple[str, int]]) -> str:
    """Put words at columns; a word that comes too late for its column follows after one blank."""
    line = ""
    for word, column in cells:
        line += " " * max(column - len(line), 1 if line else 0) + word
    return line
