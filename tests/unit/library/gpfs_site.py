# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Hosts that share one emulated GPFS cluster, for tests of the modules that manage it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.emulators.common import Device
from lab.emulators.storage.gpfs import VERBS
from lab.emulators.storage.gpfs.remote import own_digest
from lab.emulators.storage.gpfs.states import CLUSTER, default_state, local_copy
from tests.unit.library.emulated import Host, converged, writes

ADDRESSES = {"nsd1": 13, "ess1": 14, "gpu01": 21, "gpu02": 22, "gpu03": 23}
HERE, OWNER = f"{CLUSTER}nsd1", f"{CLUSTER}ess1"
"""Names of the clusters that nsd1 and ess1 founded."""
SQUASH = "65534:65534"
ADAPTERS = "ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs"


class Site:
    """nsd1 founded the cluster; gpu01 to gpu03 may join. ess1 founded another one."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
        lines = [f"10.77.1.{octet} {name}" for name, octet in ADDRESSES.items()]
        (root / "hosts").write_text("\n".join(["127.0.0.1 localhost", *lines, ""]))
        self.hosts = {name: Host(root, name, monkeypatch, capfd) for name in ADDRESSES}
        for host in self.hosts.values():
            host.install(*VERBS)
        self.folder = root / "node-files"
        self._patch = monkeypatch
        monkeypatch.setattr(f"{ADAPTERS}.members.io.FOLDER", self.folder)
        monkeypatch.setattr(f"{ADAPTERS}.config.io.FOLDER", self.folder)
        monkeypatch.setattr(f"{ADAPTERS}.remote.io.FOLDER", self.folder)
        monkeypatch.setattr(f"{ADAPTERS}.members.layer.resolve", self.address)
        monkeypatch.setattr(f"{ADAPTERS}.daemon_io.LOOK_S", 0.01)
        monkeypatch.setattr(f"{ADAPTERS}.mounts.layer.MARKER", root / "gpfs-change")
        self.shared = Device(root / "shared/gpfs", root / "shared/clock")
        self.owner = Device(root / "shared/gpfs-ess1", root / "shared/clock")
        self.mount = str(root / "gpfs/fs1")
        self.change(lambda state: state["filesystems"]["fs1"].update(mount_point=self.mount))
        local = self.hosts["ess1"].root / "mmfs/gen/mmsdrfs"
        local.parent.mkdir(parents=True)
        local.write_text(local_copy(default_state("ess1")))

    def address(self, name: str) -> str:
        """What the hosts' names resolve to."""
        return f"10.77.1.{ADDRESSES[name]}" if name in ADDRESSES else ""

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
        """Run a module on a host, as which this process counts meanwhile."""
        host = self.hosts[name]
        with self._patch.context() as patch:
            layer = f"{ADAPTERS}.software.layer"
            patch.setattr(f"{layer}.CONFIGURATION", host.root / "mmfs/gen/mmsdrfs")
            patch.setattr(f"{layer}.OSRELEASE", host.root / "proc/sys/kernel/osrelease")
            patch.setattr(f"{layer}.MODULES", host.root / "modules")
            patch.setattr(f"{ADAPTERS}.remote.io.KEYS", host.root / "mmfs/ssl")
            patch.setattr(f"{ADAPTERS}.daemon_io.LOG", host.root / "ras/mmfs.log.latest")
            return host.run(module, check, mm_path=str(host.bin), **arguments)

    def written(self, name: str) -> list[str]:
        """Verbs that a host ran to change something."""
        return [call[0] for call in writes(self.device(name))]

    def converge(self, name: str, run: Callable[..., dict[str, Any]], **arguments: Any) -> dict[str, Any]:
        """Run a module on a host as its check predicts."""
        return converged(lambda check=False: run(self, check=check, **arguments), lambda: self.written(name))


class Clusters(Site):
    """nsd1's cluster mounts fs1 of ess1's as data."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
        super().__init__(root, monkeypatch, capfd)
        self.change(lambda state: state["filesystems"].clear())
        for name in ("nsd1", "ess1"):
            # a host's first command writes its copy of the configuration, and its cluster's key
            assert self.run(name, "mm_cluster_info", nodes=[name]).get("cluster_id")
        with self.owner.state() as state:
            self.there = own_digest(state)
        self.here = own_digest(self.state())
        self.keys = {name: self.key(name)["public_key"] for name in ("nsd1", "ess1")}

    def key(self, name: str, **more: Any) -> dict[str, Any]:
        """Read a cluster's key."""
        cluster, fingerprint = {"nsd1": (HERE, self.here), "ess1": (OWNER, self.there)}[name]
        return self.run(name, "mm_key_info", **{"cluster": cluster, "fingerprint": fingerprint, **more})

    def auth(self, check: bool = False, **more: Any) -> dict[str, Any]:
        """The owner's side."""
        wanted = {
            **{"cluster": OWNER, "fingerprint": self.there, "client": HERE, "client_fingerprint": self.here},
            **{"key": self.keys["nsd1"], "grants": [{"device": "fs1"}], "root_becomes": SQUASH, "lock_wait_s": 0},
        }
        return self.run("ess1", "mm_auth", check, **{**wanted, **more})

    def remote(self, check: bool = False, **more: Any) -> dict[str, Any]:
        """The accessing side."""
        filesystem = {"device": "data", "mount": self.mount, "owner_device": "fs1", **more.pop("change", {})}
        wanted = {
            **{"cluster": HERE, "fingerprint": self.here, "owner": OWNER, "owner_fingerprint": self.there},
            **{"key": self.keys["ess1"], "contacts": ["ess1"], "filesystems": [filesystem], "lock_wait_s": 0},
        }
        return self.run("nsd1", "mm_remote", check, **{**wanted, **more})

    def owned(self) -> dict[str, Any]:
        """The owner's state."""
        with self.owner.state() as state:
            return state
