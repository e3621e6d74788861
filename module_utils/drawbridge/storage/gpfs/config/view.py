# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""GPFS's attributes of a node class, and the memory that they take."""

from __future__ import annotations

from typing import Protocol

from ....nodes.model import NodeClass
from ..model import Tuning

ECT0 = 2
"""ECN field of a packet whose sender supports marking (RFC 3168)."""
FILE_BYTES, STAT_BYTES = 10 << 10, 512
"""Upper bounds of the memory of one cached file, and of the stat data of one."""
PAGEPOOL, FILES, STATS = "pagepool", "maxFilesToCache", "maxStatCache"
VERBS = ("verbsRdma", "verbsRdmaCm", "verbsPorts", "verbsRdmaRoCEToS")
TYPED = {
    PAGEPOOL: "pagepool_mib",
    FILES: "max_files_to_cache",
    STATS: "max_stat_cache",
    "workerThreads": "worker_threads",
    "maxMBpS": "max_mbps",
    **dict.fromkeys(VERBS, "verbs"),
}
"""Keys of the intent by the attributes that they set."""


class TrafficClass(Protocol):
    """A traffic class of the fabric, with its DSCP, 0 to 63."""

    dscp: int


def class_name(node_class: str) -> str:
    """The cluster's node class of a class of the intent."""
    return f"drawbridge_{node_class.replace('-', '_')}"


def attributes(tuning: Tuning, build: NodeClass, traffic: TrafficClass | None) -> dict[str, str]:
    """Attributes by name. `traffic` is the class that GPFS's RDMA traffic gets; without one its ToS stays."""
    numbers = {
        FILES: tuning.max_files_to_cache,
        STATS: tuning.max_stat_cache,
        "workerThreads": tuning.worker_threads,
        "maxMBpS": tuning.max_mbps,
    }
    found = {PAGEPOOL: f"{tuning.pagepool_mib}M"} if tuning.pagepool_mib else {}
    found |= {name: str(number) for name, number in numbers.items() if number}
    nics = build.nics_for(tuning.verbs) if tuning.verbs else None
    if nics:
        # RoCE has no subnet manager, so connections need the RDMA connection manager
        ports = " ".join(f"{device}/1" for device in nics.rdma_devices)
        found |= {"verbsRdma": "enable", "verbsRdmaCm": "enable", "verbsPorts": ports}
        if traffic:
            found["verbsRdmaRoCEToS"] = str(traffic.dscp << 2 | ECT0)
    return {**found, **tuning.settings}


def memory_mib(tuning: Tuning) -> int:
    """Memory that the daemon may take with these settings, in MiB. Without a page pool it is not known: 0."""
    caches = tuning.max_files_to_cache * FILE_BYTES + tuning.max_stat_cache * STAT_BYTES
    return tuning.pagepool_mib + -(-caches // (1 << 20)) if tuning.pagepool_mib else 0
