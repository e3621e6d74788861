# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Storage Scale file systems on this host: what the kernel has mounted, and what GPFS says about it."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from typing import Callable

from ....core.converge import DeviceError, Step
from ..io import Mm, NoMember
from ..members.plan import ACTIVE
from ..members.text import directory, find, mountinfo, names, short
from ..text import Row
from .plan import Mounts


class LocalMounts:
    """The wanted file systems here. `table` gives /proc/self/mountinfo; `patience_s` is for a join that arrives."""

    name = "GPFS mounts"

    def __init__(
        self, mm: Mm, wanted: Mounts, table: Callable[[], str], cluster: str = "", patience_s: float = 0
    ) -> None:
        self._mm, self._wanted, self._table = mm, wanted, table
        self._cluster, self._patience_s = cluster, patience_s

    def read(self) -> Mounts:
        """Mounts of the wanted devices; without an active daemon there are none, whatever the kernel still shows."""
        me = self._me()
        if me is None or me["state"] != ACTIVE:
            return Mounts({})
        table = mountinfo(self._table())
        paths = {}
        for device, wanted in self._wanted.paths.items():
            real = [path for path, (kind, source) in table.items() if kind == "gpfs" and _is(source, device)]
            if real:
                paths[device] = wanted if wanted in real else real[0]
            elif wanted in table and self._gpfs_agrees(device, me):
                paths[device] = wanted
        return Mounts(paths)

    def apply(self, steps: Sequence[Step[Mounts]]) -> None:
        """Mount at the default mount point, which must be the wanted one. Waits until the daemon here is active."""
        self._ready()
        for step in steps:
            device, path = step.payload
            self._refuse_another_place(device, path)
            self._mm.change("mmmount", device)

    def _me(self) -> Row | None:
        """This host's row of mmgetstate, None for a host that knows no cluster."""
        try:
            rows = self._mm.read("mmgetstate")[""]
        except NoMember:
            return None
        return rows[0] if rows else None

    def _gpfs_agrees(self, device: str, me: Row) -> bool:
        """Whether GPFS has it mounted here; asked only where the kernel's table does not say so itself."""
        mounted = directory(self._mm.read("mmlsmount", device, "-L").get("", []))
        return any(find(mounted, name) for name in names(me))

    def _ready(self) -> None:
        deadline = time.monotonic() + self._patience_s
        while True:
            me = self._me()
            state = me["state"] if me else None
            if state == ACTIVE:
                break
            if state == "down" or time.monotonic() >= deadline:
                raise DeviceError(_not_ready(state))
            time.sleep(0.5)
        (summary,) = self._mm.read("mmlscluster")["clusterSummary"]
        if self._cluster and summary["clusterName"] != self._cluster:
            raise DeviceError(
                f"drawbridge_gpfs.cluster is {self._cluster}, but this host belongs to {summary['clusterName']};"
                " take the host out of drawbridge_nodes, or have it deleted from that cluster first"
            )

    def _refuse_another_place(self, device: str, path: str) -> None:
        default = [row["data"] for row in self._mm.read("mmlsfs", device, "-T").get("", [])]
        if default != [path]:
            raise DeviceError(
                f"drawbridge_gpfs.filesystems: mount of {device} is {path}, but GPFS mounts it at"
                f" {', '.join(default) or 'no default'}; write the mount point that GPFS has"
            )
        if path in mountinfo(self._table()):
            raise DeviceError(
                f"{path} is where {device} belongs, but something else is mounted there; unmount it first"
            )


def _is(source: str, device: str) -> bool:
    return source.rpartition("/")[2] == device


def _not_ready(state: str | None) -> str:
    host = short(platform.node())
    if state is None:
        return (
            f"{host} is in no GPFS cluster; let role gpfs_client join it, or if it was reinstalled restore its"
            f" configuration on the cluster's admin host: mmsdrrestore -N {host}"
        )
    return f"GPFS is {state} on {host}; role gpfs_client starts it, and /var/adm/ras/mmfs.log.latest has the reason"
