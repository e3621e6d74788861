# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What Storage Scale's commands print on a node, as Prometheus' text with the names of treydock's gpfs_exporter.

It imports nothing, because each visit sends it to each node. A test compares it with the table of metrics.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

REQUEST = "fs_io_s\n"
"""mmpmon's request for the counters of each mounted file system."""
ACTIVE = "active"
STATES = (ACTIVE, "arbitrating", "down")
UNKNOWN = "unknown"
ABOUT = {
    "gpfs_state": "1 for the daemon's present state.",
    "gpfs_mount_status": "1 if the file system is mounted.",
    "gpfs_perf_read_bytes_total": "Bytes that this node has read.",
    "gpfs_perf_write_bytes_total": "Bytes that this node has written.",
    "gpfs_perf_operations_total": "Operations of this node: opens, closes, reads, writes, read_dir, inode_updates.",
    "gpfs_waiter_info_count": "Threads of the daemon that wait, by name.",
    "drawbridge_gpfs_longest_wait_seconds": "Longest wait of a thread of the daemon, 0 for none.",
}
"""Families in the order of the file."""
BYTES = {"_br_": "read", "_bw_": "write"}
OPERATIONS = {
    **{"_oc_": "opens", "_cc_": "closes", "_rdc_": "reads", "_wc_": "writes"},
    **{"_dir_": "read_dir", "_iu_": "inode_updates"},
}
"""Keywords of mmpmon -p."""
IDLE = re.compile(r"EventsExporterSenderThread|Fsck")
"""Threads that wait because they have no work."""
Sample = tuple[str, Mapping[str, str], float]
"""Family, labels and value."""


def text(samples: Sequence[Sample]) -> str:
    """The text of the file."""
    lines = []
    for family, about in ABOUT.items():
        own = [f"{name}{_labels(labels)} {value:.15g}" for name, labels, value in samples if name == family]
        kind = "counter" if family.endswith("_total") else "gauge"
        lines += [f"# HELP {family} {about}", f"# TYPE {family} {kind}", *own] if own else []
    return "".join(f"{line}\n" for line in lines)


def _labels(labels: Mapping[str, str]) -> str:
    pairs = [f'{key}="{_escaped(value)}"' for key, value in labels.items()]
    return f"{{{','.join(pairs)}}}" if pairs else ""


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"")


def perf(answer: str) -> list[Sample]:
    """Counters by file system, from mmpmon -p; none if no file system is mounted.

    Raises ValueError for a text without an answer, and for a failed or incomplete one.
    """
    lines = [line.split() for line in answer.splitlines() if line.startswith("_fs_io_s_ ")]
    answers = [dict(zip(words[1::2], words[2::2])) for words in lines]
    if [it.get("_rc_") for it in answers] == ["1"]:
        return []
    found: list[Sample] = []
    for it in answers:
        if it.get("_rc_") != "0" or not {"_fs_", *BYTES, *OPERATIONS} <= set(it):
            raise ValueError(f"mmpmon's answer has return code {it.get('_rc_')}, or lacks counters")
        fs = {"fs": it["_fs_"]}
        found += [(f"gpfs_perf_{name}_bytes_total", fs, int(it[key])) for key, name in BYTES.items()]
        done = [({**fs, "operation": name}, int(it[key])) for key, name in OPERATIONS.items()]
        found += [("gpfs_perf_operations_total", labels, value) for labels, value in done]
    if not found:
        raise ValueError("mmpmon printed no answer")
    return found


def state(seen: str) -> list[Sample]:
    """1 for the daemon's present state, 0 for the others. mmgetstate's further states are unknown."""
    known = seen if seen in STATES else UNKNOWN
    return [("gpfs_state", {"state": name}, name == known) for name in (*STATES, UNKNOWN)]


def waiters(rows: Iterable[Mapping[str, str]]) -> list[Sample]:
    """Waiting threads by name, and the longest wait, from rows of mmdiag --waiters -Y."""
    counts: dict[str, int] = {}
    longest = 0.0
    for row in rows:
        name, seconds = row["threadName"], row["waitTime"]
        if name and not IDLE.search(name) and re.fullmatch(r"\d+(\.\d+)?", seconds):
            counts[name] = counts.get(name, 0) + 1
            longest = max(longest, float(seconds))
    found: list[Sample] = [("gpfs_waiter_info_count", {"waiter": name}, count) for name, count in counts.items()]
    return [*found, ("drawbridge_gpfs_longest_wait_seconds", {}, longest)]


def mounts(
    wanted: Mapping[str, str], table: Mapping[str, tuple[str, str]], counted: Sequence[Sample] | None
) -> list[Sample]:
    """1 for each wanted file system (mount point by device) that is mounted, else 0.

    `table` has type and source of each mount point. A mount of another type counts if GPFS counts for its device;
    without counters it is not known.
    """
    known = {labels.get("fs") for _name, labels, _value in counted or ()}
    found = {path: table.get(path, ("", ""))[0] == "gpfs" or device in known for device, path in wanted.items()}
    sure = [path for path in found if found[path] or counted is not None or path not in table]
    return [("gpfs_mount_status", {"mount": path}, found[path] and path in table) for path in sure]
