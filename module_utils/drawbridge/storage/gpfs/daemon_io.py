# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""GPFS's daemon on this host: its state, start and stop, and what uses its file systems."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from pathlib import Path

from ...core.converge import DeviceError
from ..processes_io import named_users
from .io import Mm, NotAMember
from .members.text import mountinfo, short
from .mmfsd import ACTIVE
from .text import Row

NO_CLUSTER = "no cluster"
LOG = Path("/var/adm/ras/mmfs.log.latest")
STEADY_READS = 3
"""Looks in a row at which a daemon must be active: one that flaps is so for a moment."""
LOOK_S = 0.5
DOWN_S = 60.0
"""Longest time that a daemon which starts may be seen down."""
OWN = frozenset({"mmfsd", "systemd"})
"""Processes that may have files of GPFS open without using a file system."""


class Daemon:
    """GPFS here. `table` reads /proc/self/mountinfo."""

    def __init__(self, mm: Mm, table: Callable[[], str]) -> None:
        self.mm, self._table = mm, table

    def row(self) -> Row | None:
        """This host's row of mmgetstate, None for a host without a cluster."""
        try:
            rows = self.mm.read("mmgetstate").get("", [])
        except NotAMember:
            return None
        return rows[0] if rows else None

    def state(self) -> str:
        """Its state in mmgetstate's words, or NO_CLUSTER."""
        row = self.row()
        return row["state"] if row else NO_CLUSTER

    def start(self, settle_s: float) -> None:
        """Start it and wait until it stays active. Raises DeviceError with the cause."""
        if self.state() == "down":
            self.mm.change("mmstartup")
        begun_s, steady, seen, begun = time.monotonic(), 0, "", False
        while steady < STEADY_READS:
            before, seen = seen, self.state()
            steady = steady + 1 if seen == ACTIVE else 0
            begun = begun or seen not in ("down", NO_CLUSTER)
            if begun and seen == "down":
                raise DeviceError(f"GPFS on {_host()} was {before} and went down again; {self._cause()}")
            limit_s = settle_s if begun else min(settle_s, DOWN_S)
            if not steady and time.monotonic() - begun_s >= limit_s:
                raise DeviceError(self._not_active(seen))
            time.sleep(LOOK_S)

    def stop(self) -> None:
        """Unmount GPFS's file systems here and stop it. Raises DeviceError while a process uses one."""
        if self.state() in (NO_CLUSTER, "down"):
            return
        self.unmount(self.mounted())
        self.mm.change("mmshutdown")
        if (seen := self.state()) != "down":
            raise DeviceError(f"mmshutdown reported success, but GPFS is {seen} on {_host()}")

    def mounted(self) -> dict[str, str]:
        """Mount points of GPFS's file systems here, by device."""
        rows = [row for kind in self.mm.read("mmlsmount", "all", "-L").values() for row in kind]
        own = self.row()
        names = (
            {short(own[key]) for key in ("nodeName", "daemonNodeName", "daemonShortName") if own[key]} if own else set()
        )
        devices = {row["localDevName"] for row in rows if short(row["nodeName"]) in names}
        table = mountinfo(self._table())
        found = {source.rpartition("/")[2]: path for path, (kind, source) in table.items() if kind == "gpfs"}
        return {**{device: self._default(device) for device in devices}, **found}

    def unmount(self, paths: dict[str, str]) -> None:
        """Unmount file systems by device. Raises DeviceError with the processes that use one."""
        for device, path in paths.items():
            try:
                self.mm.change("mmumount", device)
            except DeviceError as err:
                raise DeviceError(f"{path} can't be unmounted: {self.users(path) or err}", **err.details) from err
            if path in mountinfo(self._table()):
                raise DeviceError(f"mmumount reported success, but {path} is still mounted")

    def users(self, path: str) -> str:
        """The processes that use a mount point, as a few words; empty for none that can be seen."""
        return named_users(path, OWN)

    def _default(self, device: str) -> str:
        rows = self.mm.read("mmlsfs", device, "-T").get("", [])
        return rows[0]["data"] if rows else device

    def _not_active(self, seen: str) -> str:
        if seen == "arbitrating":
            return (
                f"GPFS on {_host()} stays arbitrating: it does not reach a quorum of the cluster; check the quorum"
                " nodes, and their TCP port 1191"
            )
        return f"mmstartup reported success, but GPFS is {seen} on {_host()}; {self._cause()}"

    def _cause(self) -> str:
        """The log's last words."""
        try:
            lines = [line for line in LOG.read_text(errors="replace").splitlines() if line.strip()]
        except OSError:
            lines = []
        return f"its log ends with: {lines[-1]}" if lines else f"{LOG} has the reason"


def _host() -> str:
    return short(platform.node())
