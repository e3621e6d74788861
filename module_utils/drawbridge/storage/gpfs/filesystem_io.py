# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One GPFS file system as an admin host sees it: its attributes, and whether it is mounted here."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...core.converge import DeviceError
from .daemon_io import Daemon
from .io import MM_PATH, Mm
from .members.text import mountinfo
from .text import Row

COMMON_SPEC: dict[str, Any] = {
    "device": {"type": "str", "required": True},
    "mm_path": {"type": "path", "default": MM_PATH},
    "lock_wait_s": {"type": "int", "default": 600},
    "timeout_s": {"type": "int", "default": 120},
}
"""Options that all modules of one file system have."""
_SEPARATORS = re.compile(r"[;,\s]+")


@dataclass(frozen=True)
class Attributes:
    """What mmlsfs prints of a file system. Releases differ in the case of names, and in their values for yes."""

    device: str
    rows: tuple[Row, ...]

    def values(self, name: str) -> list[str]:
        """All values of an attribute; block sizes differ between pools. Without a row the list is empty."""
        return [row["data"] for row in self.rows if row["fieldName"].lower() == name.lower()]

    def words(self, name: str) -> frozenset[str]:
        """The parts of a value such as user;group;fileset, in small letters."""
        text = " ".join(self.values(name))
        return frozenset(filter(None, _SEPARATORS.split(text.lower())))

    def block_kib(self) -> int:
        """The largest block size of its pools, in KiB. Raises DeviceError for a value that is no size."""
        sizes = self.values("blockSize")
        if not sizes or not all(size.isdigit() and int(size) >= 1024 for size in sizes):
            raise DeviceError(f"mmlsfs prints {', '.join(sizes) or 'no value'} as block size of {self.device}")
        return max(map(int, sizes)) >> 10

    def pools(self) -> frozenset[str]:
        """Names of its storage pools, empty if this release does not print them."""
        return frozenset(filter(None, _SEPARATORS.split(" ".join(self.values("storagePools")))))

    def quota_faults(self) -> list[str]:
        """Why limits of filesets would have no effect, with the repair; raises DeviceError if mmlsfs does not say."""
        enforced, accounted = self.words("quotasEnforced"), self.words("quotasAccountingEnabled")
        if not enforced:
            raise DeviceError(f"mmlsfs does not print whether {self.device} enforces quotas")
        if "fileset" in enforced:
            return []
        line = f"mmquotaon -j {self.device}" if "fileset" in accounted else f"mmchfs {self.device} -Q yes"
        return [f"{self.device} does not enforce quotas of filesets; on a cluster node, run `{line}`"]

    def df_faults(self) -> list[str]:
        """Why df shows the whole file system's size in a fileset, with the repair."""
        if self.words("filesetdfEnabled") & {"yes", "1", "true"}:
            return []
        line = f"mmchfs {self.device} --filesetdf"
        return [f"df in filesets of {self.device} shows the size of the whole file system; run `{line}`"]


def attributes(mm: Mm, device: str) -> Attributes:
    """Raises DeviceError, also for an answer without this file system."""
    rows = mm.read("mmlsfs", device).get("", [])
    own = tuple(row for row in rows if row["deviceName"].rpartition("/")[2] == device)
    if not own:
        raise DeviceError(f"mmlsfs prints nothing about {device}")
    return Attributes(device, own)


def require_mounted(mm: Mm, table: Callable[[], str], device: str, mount: str) -> None:
    """Raises DeviceError unless GPFS has the file system mounted there: an empty directory would take its files.

    `table` reads /proc/self/mountinfo. A mount that has no type gpfs there counts if GPFS lists it for this host.
    """
    kind, source = mountinfo(table()).get(mount, ("", ""))
    if kind == "gpfs" and source.rpartition("/")[2] == device:
        return
    if not kind or kind == "gpfs" or Daemon(mm, table).mounted().get(device) != mount:
        found = f"it has {source} there" if kind else "it has nothing there"
        raise DeviceError(f"{device} is not mounted at {mount} on this host, {found}; mount it: mmmount {device}")
