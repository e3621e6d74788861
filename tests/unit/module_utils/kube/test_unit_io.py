# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import converge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.daemon.plan import DaemonState
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.file_entry import Entry
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.unit_io import KubeUnit, with_header
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.unit_plan import plan


class Systemd:
    """One running unit."""

    def __init__(self) -> None:
        self.started, self.ran = time.monotonic() + 60, []  # type: ignore[var-annotated]

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        if argv[1] == "show" and "NeedDaemonReload" in argv[2]:
            return Completed(0, "NeedDaemonReload=no\n", "")
        if argv[1] == "show":
            begun = f"InactiveExitTimestampMonotonic={self.started * 1e6:.0f}"
            return Completed(0, f"LoadState=loaded\nActiveState=active\nUnitFileState=enabled\n{begun}\n", "")
        self.ran.append(argv[1])
        if argv[1] == "restart":
            self.started = time.monotonic() + 120
        return Completed(0, "", "")


def made(tmp_path: Path, run: Any) -> tuple[KubeUnit, DaemonState]:
    import getpass
    import grp

    program = tmp_path / "program"
    program.touch()
    owner, group = getpass.getuser(), grp.getgrgid(os.getgid()).gr_name
    want = DaemonState("x.service", {str(tmp_path / "file"): Entry("text\n", owner=owner, group=group)})
    left = with_header(tmp_path, "certs/*", "# ours")
    return KubeUnit(want, run, str(program), left), want


def test_written_restarted_and_then_left_alone(tmp_path: Path) -> None:
    run = Systemd()
    run.started -= 3600
    (tmp_path / "certs").mkdir()
    (tmp_path / "certs/old").write_text("# ours, from before\n")
    (tmp_path / "certs/other").write_text("theirs\n")
    device, want = made(tmp_path, run)
    outcome = converge(device, plan, want)
    assert outcome.error == "" and device.read() == want
    assert "from before" not in outcome.diff["before"], "it may have been a secret"
    assert (outcome.steps[0], outcome.steps[-1]) == (
        f"remove {tmp_path}/certs/old",
        "restart x.service, which runs with older files",
    )
    assert [path.name for path in (tmp_path / "certs").iterdir()] == ["other"]
    assert run.ran == ["daemon-reload", "restart"]
    assert converge(device, plan, want).steps == []


def test_a_replaced_program_needs_a_restart(tmp_path: Path) -> None:
    run = Systemd()
    device, want = made(tmp_path, run)
    converge(device, plan, want)
    run.started = time.monotonic()
    time.sleep(0.05)  # the clock of file systems ticks every few milliseconds
    os.utime(tmp_path / "program")
    assert converge(device, plan, want, check=True).steps == ["restart x.service, which runs with older files"]
