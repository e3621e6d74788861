# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Storage pools: mmlspool and mmdf, with sizes that the state has and use that the files have.

Forms as in gpfs_exporter's test data and public logs; mmlspool has no -Y. All files count as those of the pool `data`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .filesystems import find, used
from .model import Failed
from .text import header, row

if TYPE_CHECKING:
    from .model import Cluster

POOL = (
    "Name                    Id   BlkSize Data Meta Total Data in (KB)   Free Data in (KB)   Total Meta in (KB)"
    "    Free Meta in (KB)"
)
RECORDS = {
    "nsd": "nsdName storagePool diskSize failureGroup metadata data freeBlocks freeBlocksPct freeFragments"
    " freeFragmentsPct diskAvailableForAlloc",
    "poolTotal": "poolName poolSize freeBlocks freeBlocksPct freeFragments freeFragmentsPct maxDiskSize",
    "data": "totalData freeBlocks freeBlocksPct freeFragments freeFragmentsPct",
    "metadata": "totalMetadata freeBlocks freeBlocksPct freeFragments freeFragmentsPct",
    "fsTotal": "fsSize freeBlocks freeBlocksPct freeFragments freeFragmentsPct",
    "inode": "usedInodes freeInodes allocatedInodes maxInodes",
}


def mmlspool(cluster: Cluster, _given: dict[str, str], rest: list[str]) -> None:
    """Print a file system's pools, or those named with commas."""
    device, record = find(cluster, rest[0] if rest else "")
    print(f"Storage pools in file system at '{record['mount_point']}':", POOL, sep="\n")
    for name, pool in record["pools"].items():
        if len(rest) > 1 and rest[1] != "all" and name not in rest[1].split(","):
            continue
        free = _free(cluster, device, record, name)
        meta = (pool["kib"], free) if pool["metadata"] else (0, 0)
        numbers = (*_share(pool["kib"], free), *_share(*meta))
        size = f"{record['block_size'] >> 20} MB"
        kinds = f"{'yes':>5}{'yes' if pool['metadata'] else 'no':>5}"
        print(f"{name:<20}{pool['id']:>6}{size:>10}{kinds}{''.join(numbers)}")


def _share(total: int, free: int) -> tuple[str, str]:
    percent = 100 * free // total if total else 0
    return f"{total:>15}", f"{free:>15} ({percent:>3}%)"


def _free(cluster: Cluster, device: str, record: dict[str, Any], pool: str) -> int:
    if pool != "data":
        return record["pools"][pool]["kib"] * 9 // 10
    taken = sum(used(cluster, device, record, name)[0] for name in record["filesets"])
    return max(0, record["pools"][pool]["kib"] - taken)


def mmdf(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Print sizes and free space of disks, pools and inodes, in the -Y form alone."""
    device, record = find(cluster, rest[0] if rest else "")
    if "-Y" not in given:
        raise Failed("The lab knows this command with -Y only.")
    print(*(header("mmdf", kind, names) for kind, names in RECORDS.items()), sep="\n")
    total = [0, 0]
    for name, pool in record["pools"].items():
        if given.get("-P", name) != name:
            continue
        free = _free(cluster, device, record, name)
        kinds = ("Yes" if pool["metadata"] else "No", "Yes")
        percent = 100 * free // pool["kib"]
        print(row("mmdf", "nsd", (f"{device}_{name}1", name, pool["kib"], 1, *kinds, free, percent, 0, 0, "")))
        print(row("mmdf", "poolTotal", (name, pool["kib"], free, percent, 0, 0, 4 * pool["kib"])))
        total = [total[0] + pool["kib"], total[1] + free]
    sizes = (*total, 100 * total[1] // (total[0] or 1), 0, 0)
    print(row("mmdf", "data", sizes), row("mmdf", "fsTotal", sizes), sep="\n")
    filesets = record["filesets"].values()
    files = sum(used(cluster, device, record, name)[1] for name in record["filesets"])
    alloc, most = (sum(it[key] for it in filesets) for key in ("alloc", "max"))
    print(row("mmdf", "inode", (files, max(0, alloc - files), alloc, most)))
