# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Probes, and drains whose tools fail. What systemd and a server do is in test_nfs_mounts.py."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError, Step
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.packages.apt import Packages
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.nfs import text as nfs_text
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.nfs.io import NfsMounts
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.nfs.model import Export
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.nfs.plan import (
    REMOUNT,
    STALE,
    Mount,
    NfsState,
)

EXPORT = Export("filer", "/x", "/data")
WANT = NfsState(
    {"/data": Mount("filer:/x", nfs_text.owned(nfs_text.options(EXPORT)))}, {"/data": nfs_text.mount_unit(EXPORT, 60)}
)
TABLE = "/data from filer:/x\n Flags:\trw,vers=4.2,hard,proto=tcp\n\n"
MOUNTINFO = "90 22 0:52 / /data rw - nfs4 filer:/x rw\n"
AGAIN: list[Step[NfsState]] = [Step("mount it again", lambda state: state, (REMOUNT, "/data"), disturbs=True)]


class Drain:
    """A node that can be drained; `of_other` is the drain of a person."""

    def __init__(self, of_other: bool = False) -> None:
        self.drained, self.reasons, self._of_other = False, [""], of_other

    def drain(self, what: str) -> None:
        self.drained = not self._of_other
        self.reasons.append(what)

    def resume(self) -> None:
        self.drained = False


class Host:
    """systemctl stop unmounts, start fails. `broken` is a tool that fails once something was unmounted."""

    def __init__(self, broken: str = "") -> None:
        self.mountinfo, self._broken = MOUNTINFO, broken

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        if argv[0] == self._broken and not self.mountinfo:
            raise DeviceError(f"{argv[0]} failed")
        if argv[:2] == ["systemctl", "stop"]:
            self.mountinfo = ""
        if argv[:2] == ["systemctl", "start"]:
            raise DeviceError("systemctl failed", cmd=list(argv))
        printed = {"nfsstat": TABLE, "dpkg-query": "nfs-common install ok installed\n"}
        return Completed(0, printed.get(argv[0], ""), "")


@pytest.fixture
def stat(tmp_path: Path, monkeypatch: Any) -> Any:
    """Let a small program be stat."""

    def made(text: str) -> None:
        (tmp_path / "stat").write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "stat").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    return made


def nfs(tmp_path: Path, host: Host, use: Drain, probe_s: float = 60) -> NfsMounts:
    units = tmp_path / "units"
    units.mkdir()
    packages = Packages(host, ["nfs-common"], tmp_path / "policy-rc.d")
    return NfsMounts(host, WANT, packages, "nfs-common", use, (units, lambda: host.mountinfo), probe_s)


@pytest.mark.parametrize(
    ("program", "finding"),
    [
        ("exit 0", ""),
        ("echo \"stat: cannot read file system information for '/data': Stale file handle\" >&2; exit 1", STALE),
        ("echo \"stat: cannot statx '/data': Permission denied\" >&2; exit 1", "can't be read (Permission denied)"),
        ("exit 3", "can't be read (exit code 3)"),
    ],
)
def test_a_probe_tells_why_a_mount_gives_no_answer(tmp_path: Path, stat: Any, program: str, finding: str) -> None:
    stat(program)
    assert nfs(tmp_path, Host(), Drain()).read().mounts["/data"].finding == finding


@pytest.mark.parametrize("broken", ["", "nfsstat", "journalctl"])
def test_a_lost_or_unknown_mount_keeps_the_drain_and_the_first_error_is_reported(
    tmp_path: Path, stat: Any, broken: str
) -> None:
    stat("exit 0")
    use = Drain()
    with pytest.raises(DeviceError, match="filer:/x can't be mounted at /data: systemctl failed"):
        nfs(tmp_path, Host(broken), use).apply(AGAIN)
    assert use.drained and use.reasons[-1] == "/data"


def test_nothing_is_drained_if_the_mounts_cant_be_read(tmp_path: Path) -> None:
    host, use = Host("nfsstat"), Drain()
    host.mountinfo = ""
    with pytest.raises(DeviceError, match="nfsstat failed"):
        nfs(tmp_path, host, use).apply(AGAIN)
    assert use.reasons == [""]


def test_the_drain_of_a_person_stays_though_nothing_is_read_for_it(tmp_path: Path, stat: Any) -> None:
    stat("exit 0")
    use = Drain(of_other=True)
    with pytest.raises(DeviceError, match="can't be mounted at"):
        nfs(tmp_path, Host(), use).apply(AGAIN)
    assert not use.drained
