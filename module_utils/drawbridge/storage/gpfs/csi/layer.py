# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The storage cluster as the driver for Kubernetes needs it, on an admin host. It is only read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ....core.command import Command
from ....core.converge import DeviceError, Step
from ....core.layer import Layer, Params, Work
from ..filesystem_io import attributes
from ..io import MM_PATH, Mm
from .look import id_fault, mounted

SPEC: dict[str, Any] = {
    "cluster_id": {"type": "str", "required": True},
    "filesystems": {"type": "list", "elements": "str", "required": True},
    "nodes": {"type": "list", "elements": "str", "required": True},
    "daemon_suffix": {"type": "str", "default": ""},
    "admin_suffix": {"type": "str", "default": ""},
    "mm_path": {"type": "path", "default": MM_PATH},
    "timeout_s": {"type": "int", "default": 120},
}


@dataclass(frozen=True)
class Mounts:
    """Nodes that mount all file systems."""

    nodes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """A line for each."""
        return [*self.nodes]


class _Looking:
    """The cluster, read once. A file system that the driver would refuse is refused here, with the command to type."""

    name = "GPFS cluster"

    def __init__(self, mm: Mm, params: Params) -> None:
        self._mm, self._params, self.seen = mm, params, Mounts()

    def read(self) -> Mounts:
        summary = self._mm.read("mmlscluster").get("clusterSummary", [])
        own = summary[0] if summary else {}
        faults = [id_fault(own.get("clusterid", ""), self._params["cluster_id"])]
        for device in self._params["filesystems"]:
            found = attributes(self._mm, device)
            faults += [*found.quota_faults(), *found.df_faults()]
        if wrong := [it for it in faults if it]:
            raise DeviceError("; ".join(wrong))
        self.seen = Mounts(tuple(self._mounted(own.get("clustername", ""))))
        return self.seen

    def _mounted(self, cluster: str) -> Sequence[str]:
        devices = self._params["filesystems"]
        rows = {device: self._mm.read("mmlsmount", device, "-L").get("", []) for device in devices}
        suffixes = ("", self._params["daemon_suffix"], self._params["admin_suffix"])
        return mounted(rows, self._params["nodes"], suffixes, cluster)

    def apply(self, steps: Sequence[Step[Mounts]]) -> None:
        """Nothing is planned."""


def look(params: Params, check: bool) -> Work[Mounts]:
    """Read the cluster. Raises DeviceError for what the driver would refuse."""
    device = _Looking(Mm(Command(params["timeout_s"]), params["mm_path"]), params)
    nothing: list[Step[Mounts]] = []
    return Work(device, lambda have, want: nothing, Mounts(), results_of=lambda _: {"mounted": [*device.seen.nodes]})


MM_CSI_INFO = Layer(SPEC, look)
