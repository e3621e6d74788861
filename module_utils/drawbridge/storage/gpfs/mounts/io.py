# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""GPFS on this host: the daemon, what it uses of the settings, and mounts by the kernel's table and by GPFS."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ....core.converge import DeviceError, Step
from ..config.text import canonical
from ..daemon_io import NO_CLUSTER, Daemon
from ..members.text import directory, find, mountinfo, names, short
from ..mmfsd import ACTIVE
from ..text import Row
from .plan import MOUNT, RESTART, RESUME, START, STOP, UNMOUNT, ClientState


class Use(Protocol):
    """The drain of this node."""

    @property
    def drained(self) -> bool:
        """Whether Drawbridge's drain keeps jobs off."""
        raise NotImplementedError

    def drain(self) -> None:
        """Drain it. Raises DeviceError if a job came first."""

    def resume(self) -> None:
        """Lift the drain."""


@dataclass(frozen=True)
class Expected:
    """The cluster that this host must belong to (empty: any), its node class there, and how long things may take."""

    cluster: str = ""
    node_class: str = ""
    patience_s: float = 0
    """Until the configuration of a new join arrives."""
    settle_s: float = 300
    """Until a started daemon is active."""


class Client:
    """GPFS here."""

    name = "GPFS client"

    def __init__(
        self,
        daemon: Daemon,
        want: ClientState,
        table: Callable[[], str],
        use: Use,
        expected: Expected | None = None,
    ) -> None:
        self._daemon, self._mm, self._want, self._table, self._use = daemon, daemon.mm, want, table, use
        self._expected = expected or Expected()

    def read(self) -> ClientState:
        """Without an active daemon no mount counts, even if the kernel shows one."""
        own = self._daemon.row()
        state = own["state"] if own else NO_CLUSTER
        if own is None or state != ACTIVE:
            return ClientState({}, state, drained=self._use.drained)
        settings, configured = self._settings() if self._want.settings else ({}, {})
        return ClientState(self._paths(own), state, settings, configured, self._use.drained)

    def apply(self, steps: Sequence[Step[ClientState]]) -> None:
        """In order. The host must be a member before GPFS starts. The drain of a restart is lifted after its mounts."""
        for step in steps:
            verb, device, path = step.payload
            if verb == START:
                self._ready()
                self._daemon.start(self._expected.settle_s)
            elif verb == RESTART:
                self._restart()
            elif verb == MOUNT:
                self._mount(device, path)
            elif verb == RESUME:
                self._use.resume()
        if any(step.payload[0] == RESTART for step in steps):
            self._use.resume()

    def _restart(self) -> None:
        """Drain, stop, start. A busy file system keeps GPFS running, and the drain is lifted."""
        self._use.drain()
        try:
            self._daemon.stop()
        except DeviceError:
            if self._daemon.state() == ACTIVE:
                self._use.resume()
            raise
        self._daemon.start(self._expected.settle_s)

    def _mount(self, device: str, path: str) -> None:
        self._ready()
        own = self._daemon.row()
        if own and self._paths(own).get(device) == path:
            return  # GPFS mounts some file systems itself when it starts
        self._refuse_another_place(device, path)
        self._mm.change("mmmount", device)

    def _paths(self, own: Row) -> dict[str, str]:
        """Mounts of the wanted devices."""
        table = mountinfo(self._table())
        paths = {}
        for device, wanted in self._want.paths.items():
            real = [
                path for path, (kind, source) in table.items() if kind == "gpfs" and source.rpartition("/")[2] == device
            ]
            if real:
                paths[device] = wanted if wanted in real else real[0]
            elif wanted in table and self._mounted_by_gpfs(device, own):
                paths[device] = wanted
        return paths

    def _mounted_by_gpfs(self, device: str, own: Row) -> bool:
        """Whether GPFS lists it as mounted here, for a mount that the kernel shows with another type."""
        mounted = directory(self._mm.read("mmlsmount", device, "-L").get("", []))
        return any(find(mounted, name) for name in names(own))

    def _settings(self) -> tuple[dict[str, str], dict[str, str]]:
        """Values of the wanted attributes: those that the daemon uses, and those that the class has."""
        used = {row["name"]: row["value"] for row in self._mm.read("mmdiag", "--config").get("config", [])}
        rows = self._mm.read("mmlsconfig").get("", [])
        of_class = {
            row["configParameter"]: row["value"]
            for row in rows
            if self._expected.node_class in row["nodeList"].split(",")
        }
        wanted = self._want.settings
        return (
            {name: canonical(used[name]) for name in wanted if name in used},
            {name: canonical(of_class[name]) for name in wanted if name in of_class},
        )

    def _ready(self) -> None:
        """Wait for the configuration of a new join. Raises DeviceError for a host of no cluster or of another one."""
        deadline = time.monotonic() + self._expected.patience_s
        while (state := self._daemon.state()) == NO_CLUSTER:
            if time.monotonic() >= deadline:
                raise DeviceError(_not_ready(state))
            time.sleep(0.5)
        (summary,) = self._mm.read("mmlscluster")["clusterSummary"]
        wanted = self._expected.cluster
        if wanted and summary["clusterName"] != wanted:
            raise DeviceError(
                f"drawbridge_gpfs.cluster is {wanted}, but this host belongs to {summary['clusterName']};"
                " remove the host from drawbridge_nodes, or delete it from that cluster first"
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


class Leaver:
    """GPFS here, for a host that leaves: everything that is mounted counts."""

    name = "GPFS client"

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon

    def read(self) -> ClientState:
        state = self._daemon.state()
        return ClientState(self._daemon.mounted() if state == ACTIVE else {}, state)

    def apply(self, steps: Sequence[Step[ClientState]]) -> None:
        """Unmount, then stop."""
        for step in steps:
            verb, device, path = step.payload
            if verb == UNMOUNT:
                self._daemon.unmount({device: path})
            elif verb == STOP:
                self._daemon.stop()


def _not_ready(state: str) -> str:
    host = short(platform.node())
    return (
        f"{host} is in {state}: the admin host's result says why it did not join; if it was"
        f" reinstalled, this restores it there: mmsdrrestore -N {host}"
    )
