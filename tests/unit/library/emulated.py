# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Modules against the emulators, without a lab: tools are links on PATH, their state lies in a temporary directory."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import command
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Command, Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic import backends_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic import io as nic_port
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.nfs import io as nfs_port

from lab.emulators.common import Device
from lab.emulators.storage.gpfs.software import MODULES, RELEASES
from tests import emulated_nic
from tests.unit.library.forked import LAUNCHER, Forked
from tests.unit.library.ways import ALONE, result_of, ways

KERNEL = "6.12.1"


class Host:
    """One pretended host. `device` holds the emulator's state, journal and faults."""

    def __init__(self, root: Path, name: str, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
        self.root, self.name, self._monkeypatch, self._capfd = root / name, name, monkeypatch, capfd
        self.way = ALONE
        """How modules run here, of tests.unit.library.ways."""
        self.bin = self.root / "bin"
        self.bin.mkdir(parents=True)
        boot = self.root / "proc/sys/kernel/random/boot_id"
        boot.parent.mkdir(parents=True)
        boot.write_text(name)
        self.run_kernel(KERNEL)
        extra = self.root / "modules" / KERNEL / "extra"
        extra.mkdir(parents=True)
        for module in MODULES:
            (extra / module).write_text(f"{RELEASES['5.2']}\n")
        (self.root / "proc/self").symlink_to("/proc/self")  # the mounts that a command sees are real
        self.environment = {
            "LAB_DEVICE_DIR": str(self.root / "lab"),
            "LAB_SHARED_DIR": str(root / "shared"),
            "LAB_SYSFS": str(self.root / "sys"),
            "LAB_PROCFS": str(self.root / "proc"),
            "LAB_HOSTNAME": name,
            "LAB_MMFS_DIR": str(self.root / "mmfs"),
            "LAB_LPP_DIR": str(self.root / "lpp"),
            "LAB_MODULES_DIR": str(self.root / "modules"),
            "LAB_RAS_DIR": str(self.root / "ras"),
            "LAB_HOSTS_FILE": str(root / "hosts"),
            "PATH": f"{self.bin}:/usr/sbin:/usr/bin:/sbin:/bin",
        }

    def run_kernel(self, release: str) -> None:
        """Pretend that the host runs this kernel."""
        (self.root / "proc/sys/kernel/osrelease").write_text(f"{release}\n")

    def install(self, *tools: str) -> None:
        """Link emulated tools into the host's PATH."""
        for tool in tools:
            (self.bin / tool).symlink_to(LAUNCHER)

    def program(self, name: str, body: str) -> None:
        """Place a small shell program on the host's PATH."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def device(self, family: str) -> Device:
        """The host's device of a tool family."""
        return Device(self.root / "lab" / family)

    def arm(self, family: str, tool: str, effect: str, match: str = "") -> None:
        """Arm a fault for one call. One that hangs has a short limit, all others what the module gives them.

        A limit that a loaded machine reaches before the tool has met its fault is made longer.
        """
        device, call = self.device(family), Command.__call__
        device.add_fault(tool, effect, match=match)

        def called(one: Command, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
            if not (_armed(device) and argv[0].endswith(tool) and re.search(match, " ".join(argv))):
                return call(one, argv, ok)
            for limit_s in (3, 12, 48):
                try:
                    return call(Command(limit_s), argv, ok)
                except DeviceError:
                    if not _armed(device):
                        raise
            raise AssertionError(f"{tool} never met its fault")

        if effect == "hang":
            self._monkeypatch.setattr(Command, "__call__", called)

    def run(self, module_name: str, check: bool = False, **arguments: Any) -> dict[str, Any]:
        """Run a module here and return its result; a layer in this host's way."""
        way = self.way if self.way in ways(module_name) else ALONE
        with self._monkeypatch.context() as patch:
            for name, value in self.environment.items():
                patch.setenv(name, value)
            for user in (command, nfs_port):
                patch.setattr(user, "Child", Forked)
            return result_of(way, module_name, arguments, check, self._capfd)

    def converge(self, module_name: str, family: str, **arguments: Any) -> dict[str, Any]:
        """Run a module as its check predicts."""
        return converged(lambda **more: self.run(module_name, **arguments, **more), lambda: writes(self.device(family)))

    def fail(self, module_name: str, message: str, **arguments: Any) -> dict[str, Any]:
        """Run a module that fails with words like these. The next run makes the remaining steps, and no more."""
        result = self.run(module_name, **arguments)
        assert result["failed"] and re.search(message, result["msg"]), result
        assert self.run(module_name, **arguments)["steps"] == result["left"]
        return result


def converged(run: Callable[..., dict[str, Any]], written: Callable[[], list[Any]]) -> dict[str, Any]:
    """The result of a run. Its check predicts it and writes nothing, and the next run only reads."""
    before = written()
    predicted = run(check=True)
    assert written() == before
    done = run()
    assert not done.get("failed"), done
    for key in ("changed", "steps", "diff", "pending", "link_flap"):
        assert predicted.get(key) == done.get(key)
    after = written()
    again = run()
    assert (again["changed"], again["steps"], written()) == (False, [], after)
    return done


def _armed(device: Device) -> bool:
    return bool(json.loads((device.directory / "faults.json").read_text()))


RAILS = [f"rail{number}" for number in range(8)]


def with_rails(root: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> Host:
    """A host with eight RDMA ports, whose links are up and back at once, and their tool."""
    monkeypatch.setattr(nic_port, "LINK_CHECK_S", 0)
    host = Host(root, "gpu01", monkeypatch, capfd)
    host.install("mlnx_qos")
    for rail in RAILS:
        (host.root / "sys/class/net" / rail).mkdir(parents=True)
    links = [{"ifname": rail, "operstate": "UP", "mtu": 9000, "max_mtu": 9978} for rail in RAILS]
    host.program("ip", f"cat <<'END'\n{json.dumps(links)}\nEND")
    return host


def drive(host: Host, monkeypatch: pytest.MonkeyPatch, name: str, *ports: str) -> None:
    """Let sysfs say that the driver of this name has the ports."""
    monkeypatch.setattr(backends_io, "ROOT", str(host.root))
    for port in ports:
        emulated_nic.drive(host.root / "sys", port, name)


def writes(device: Device) -> list[list[str]]:
    """Command lines of the journal that asked for a change."""
    return [[call["tool"], *call["argv"]] for call in device.calls() if call["writes"]]
