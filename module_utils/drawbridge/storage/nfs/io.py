# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""NFS mounts of this host: the kernel's table, systemd's mount units, and a probe that no server can hold up."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from ...core import files
from ...core.command import Child, Run
from ...core.converge import Device, DeviceError, Step
from ...core.file_entry import Entry
from ...core.packages.plan import PackageState
from ...core.packages.plan import plan as packages_plan
from ..processes_io import named_users
from .plan import INSTALL, MOUNT, REMOUNT, RESUME, STALE, UNIT, UNMOUNT, Mount, NfsState, unfinished
from .text import advised, cause, mount_points, owned, place_of, table, unit_name

REAP_S = 1.0
"""A probe that was killed ends in this time, unless the kernel holds it."""


class Use(Protocol):
    """The drain of this node."""

    @property
    def drained(self) -> bool:
        """Whether Drawbridge's drain keeps jobs off."""
        raise NotImplementedError

    def drain(self, what: str) -> None:
        """Drain it, with a reason that ends with `what`. Raises DeviceError if a job came first."""

    def resume(self) -> None:
        """Lift the drain."""


class NfsMounts:
    """NFS here. `places` are systemd's directory and what reads the kernel's table; `probe_s` limits one probe."""

    name = "NFS mounts"

    def __init__(
        self,
        run: Run,
        want: NfsState,
        packages: Device[PackageState],
        package: str,
        use: Use,
        places: tuple[Path, Callable[[], str]],
        probe_s: float,
    ) -> None:
        self._run, self._want, self._packages, self._package, self._use = run, want, packages, package, use
        self._units, self._mountinfo = places
        self._probe_s = probe_s

    def read(self) -> NfsState:
        """Mounts that are wanted or Drawbridge's. Only wanted ones are probed."""
        package = self._packages.read()
        client = bool(package.installed) and not package.cut_off
        units = self._own_units()
        found = table(self._run(["nfsstat", "-m"]).out) if client else {}
        there = mount_points(self._mountinfo())
        mounts = {
            path: Mount(found[path][0], owned(found[path][1]), self._finding(path))
            for path in (*self._want.mounts, *(path for path in units if path not in self._want.mounts))
            if path in there and path in found
        }
        foreign = frozenset(path for path in self._want.mounts if path in there and path not in found)
        return NfsState(mounts, units, client, self._use.drained, foreign)

    def apply(self, steps: Sequence[Step[NfsState]]) -> None:
        """In order. A drain that a change needs is lifted at its end, unless a job would then miss a mount.

        So it stays if a mount could not be made again, and is lifted if a process kept the old one in place.
        """
        verbs: Mapping[str, Callable[[str], None]] = {
            INSTALL: lambda _: self._install(),
            MOUNT: self._mount,
            REMOUNT: self._remount,
            UNIT: self._write,
            UNMOUNT: self._leave,
            RESUME: lambda _: None,
        }
        before: Mapping[str, Mount] = {}
        if disturbed := [path for _unused, path in (step.payload for step in steps if step.disturbs) if path]:
            if not self._use.drained:  # a drain that an earlier run left tells that mounts are not as they were
                before = self.read().mounts
            self._use.drain(", ".join(disturbed))
        try:
            for step in steps:
                verb, path = step.payload
                verbs[verb](path)
        except DeviceError:
            with contextlib.suppress(DeviceError):  # unknown mounts keep the node drained
                self._release(before)
            raise
        self._release(before)

    def _release(self, before: Mapping[str, Mount]) -> None:
        if self._use.drained and not unfinished(before, self.read(), self._want):
            self._use.resume()

    def _install(self) -> None:
        self._packages.apply(packages_plan(self._packages.read(), PackageState(frozenset([self._package]))))

    def _own_units(self) -> dict[str, str]:
        found = {}
        for file in sorted(self._units.glob("*.mount")):
            with contextlib.suppress(OSError):  # a link that leads nowhere, such as one of a masked unit
                text, _unused = files.read_own(file)
                if path := place_of(text):
                    found[path] = text
        return found

    def _finding(self, path: str) -> str:
        if path not in self._want.mounts:
            return ""
        words = ["stat", "--file-system", "--format=%T", path]
        child = Child(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            _unused, complaint = child.communicate(timeout=self._probe_s)
        except subprocess.TimeoutExpired:
            child.end()
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.communicate(timeout=REAP_S)
            return f"gave no answer within {self._probe_s:g} s"
        if not child.returncode:
            return ""
        last = (complaint.strip() or f"exit code {child.returncode}").rpartition(": ")[2]
        return STALE if "stale" in last.lower() else f"can't be read ({last})"

    def _write(self, path: str) -> None:
        files.write(str(self._units / unit_name(path)), Entry(self._want.units[path]))
        self._run(["systemctl", "daemon-reload"])

    def _mount(self, path: str) -> None:
        self._write(path)
        self._systemctl("start", path, f"{self._want.mounts[path].source} can't be mounted at {path}")
        if path not in mount_points(self._mountinfo()):
            raise DeviceError(f"systemctl start reported success, but nothing is mounted at {path}")

    def _remount(self, path: str) -> None:
        self._unmount(path)
        self._mount(path)

    def _leave(self, path: str) -> None:
        if path in mount_points(self._mountinfo()):
            self._unmount(path)
        files.remove(str(self._units / unit_name(path)))
        self._run(["systemctl", "daemon-reload"])

    def _unmount(self, path: str) -> None:
        """Never by force. Raises DeviceError with the processes that use it."""
        self._systemctl("stop", path, f"{path} can't be unmounted")
        if path in mount_points(self._mountinfo()):
            raise DeviceError(f"{path} can't be unmounted: {named_users(path) or 'systemctl stop reported success'}")

    def _systemctl(self, verb: str, path: str, sentence: str) -> None:
        begun_s, unit = time.time(), unit_name(path)
        try:
            self._run(["systemctl", verb, unit])
        except DeviceError as err:
            users = named_users(path) if verb == "stop" else ""
            why = users or advised(cause(self._journal(unit, begun_s)) or str(err))
            raise DeviceError(f"{sentence}: {why}", **err.details) from err

    def _journal(self, unit: str, since_s: float) -> str:
        """What a unit wrote; empty if journalctl fails, because systemctl's error is still one."""
        try:
            return self._run(["journalctl", "--unit", unit, "--since", f"@{since_s:.3f}", "--output", "cat"]).out
        except DeviceError:
            return ""
