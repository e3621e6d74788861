# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Metrics of GPFS on this node for node_exporter's textfile collector: drawbridge-gpfs-metrics.

It needs root, as mmpmon does. Without an answer of a command its series are absent; no old value stays.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Optional

sys.dont_write_bytecode = True  # host_files would see bytecode as a change
sys.path.insert(0, str(Path(__file__).parents[1] / "lib/drawbridge-gpfs-metrics"))

# these imports need the line above
from drawbridge.core.command import Command  # noqa: E402
from drawbridge.core.converge import DeviceError  # noqa: E402
from drawbridge.storage.gpfs.io import Mm  # noqa: E402
from drawbridge.storage.gpfs.members.text import mountinfo  # noqa: E402
from drawbridge.telemetry import gpfs_text as gpfs  # noqa: E402

LIMIT_S = 10.0
"""For each command; three are less than the interval."""
Samples = list[gpfs.Sample]


def read(mm_path: str, wanted: dict[str, str], table: str, limit_s: float) -> Samples:
    """All samples that can be known.

    mmpmon answers only for an active daemon, so that mmgetstate, which costs most, is left out then.
    """
    mm, mmpmon = Mm(Command(limit_s), mm_path), Mm(Command(limit_s, gpfs.REQUEST), mm_path)
    counters = tried(lambda: gpfs.perf(mmpmon.show("mmpmon", "-s", "-p")))
    if counters is None:
        state = tried(lambda: [it for row in mm.read("mmgetstate").get("", []) for it in gpfs.state(row["state"])])
    else:
        state = gpfs.state(gpfs.ACTIVE)
    waiters = tried(lambda: gpfs.waiters(mm.read("mmdiag", "--waiters").get("waiters", [])))
    mounts = gpfs.mounts(wanted, mountinfo(table), counters)
    return [*mounts, *(state or []), *(counters or []), *(waiters or [])]


def tried(work: Callable[[], Samples]) -> Optional[Samples]:
    """The samples; None, and a line in the journal, without an answer."""
    try:
        return work()
    except (DeviceError, ValueError) as err:
        print(err, file=sys.stderr)
        return None


def main() -> int:
    """Read all, and replace the file."""
    parser = argparse.ArgumentParser(prog="drawbridge-gpfs-metrics")
    parser.add_argument("--place", type=Path, default="/etc/drawbridge/gpfs.json", help="what gpfs_client wrote")
    parser.add_argument("--mounts", type=Path, default="/proc/self/mountinfo", help="the kernel's table")
    parser.add_argument("--metrics", type=Path, default="/run/drawbridge/metrics", help="folder of the file")
    parser.add_argument("--limit", type=float, default=LIMIT_S, metavar="SECONDS", help="for each command")
    options = parser.parse_args()
    site = json.loads(options.place.read_text(encoding="utf-8"))
    wanted = {it["device"]: it["mount"] for it in site["filesystems"]}
    samples = read(site["mm_path"], wanted, options.mounts.read_text(encoding="utf-8"), options.limit)
    options.metrics.mkdir(parents=True, exist_ok=True)
    partial = options.metrics / ".gpfs"
    partial.write_text(gpfs.text(samples), encoding="utf-8")
    partial.replace(options.metrics / "gpfs.prom")
    return 0


if __name__ == "__main__":
    sys.exit(main())
