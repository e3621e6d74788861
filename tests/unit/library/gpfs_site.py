# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Hosts that share one emulated GPFS cluster, for tests of the modules that manage it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.emulators.common import Device
from lab.emulators.storage.gpfs.model import default_state
from tests.unit.library.emulated import Host, writes

ADDRESSES = {"nsd1": 13, "gpu01": 21, "gpu02": 22, "gpu03": 23}
ADAPTERS = "ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs"
VERBS = ("mmlscluster", "mmlslicense", "mmgetstate", "mmlsmount", "mmlsfs")
CHANGES = ("mmaddnode", "mmchlicense", "mmstartup", "mmmount", "mmsdrrestore")


class Site:
    """nsd1 founded the cluster; the others may join."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
        lines = [f"10.77.1.{octet} {name}" for name, octet in ADDRESSES.items()]
        (root / "hosts").write_text("\n".join(["127.0.0.1 localhost", *lines, ""]))
        self.hosts = {name: Host(root, name, monkeypatch, capfd) for name in ADDRESSES}
        for host in self.hosts.values():
            host.install(*VERBS, *CHANGES)
        self.folder = root / "node-files"
        monkeypatch.setattr(f"{ADAPTERS}.members.io.FOLDER", self.folder)
        self.shared = Device(root / "shared/gpfs", root / "shared/clock")
        self.mount = str(root / "gpfs/fs1")
        self.change(lambda state: state["filesystems"]["fs1"].update(mount_point=self.mount))

    def change(self, edit: Callable[[dict[str, Any]], object]) -> None:
        """Edit the cluster's state."""
        initial = default_state()
        initial["nodes"]["nsd1"]["ip"] = "10.77.1.13"
        with self.shared.state(initial) as state:
            edit(state)

    def state(self) -> dict[str, Any]:
        """The cluster's state."""
        with self.shared.state() as state:
            return state

    def device(self, name: str) -> Device:
        """Journal and faults of a host's mm commands."""
        return self.hosts[name].device("gpfs")

    def run(self, name: str, module: str, check: bool = False, **arguments: Any) -> dict[str, Any]:
        """Run a module on a host."""
        mm_path = str(self.hosts[name].bin)
        return self.hosts[name].run(module, check, mm_path=mm_path, **arguments)

    def written(self, name: str) -> list[str]:
        """Verbs that a host ran to change something."""
        return [call[0] for call in writes(self.device(name))]
