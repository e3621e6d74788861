# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import files
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.daemon import (
    own_unit_io as own_unit,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.daemon.own_unit_io import OwnUnit
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.daemon.plan import DaemonState, plan
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.file_entry import Entry

from tests.unit.module_utils.answers import Answers, show


def test_systemd_reads_new_unit_files_before_it_starts_them(tmp_path: Path, monkeypatch: Any) -> None:
    run = Answers({"systemctl": show("not-found", "inactive", "")})
    monkeypatch.setattr(own_unit, "UNIT_FILES", f"{tmp_path}/")
    file = Entry("[Timer]\n", owner="root", group="root")
    monkeypatch.setattr("os.fchown", lambda *ids: None)
    want = DaemonState("gate.timer", {str(tmp_path / "gate.timer"): file})
    device = OwnUnit("gate.timer", want, run)
    device.apply(plan(device.read(), want))
    assert [line.split()[1] for line in run.asked] == ["show", "daemon-reload", "enable", "start"]
    assert (tmp_path / "gate.timer").read_text() == "[Timer]\n"


@pytest.mark.parametrize(("outdated", "ran"), [("yes", ["daemon-reload", "restart"]), ("no", [])])
def test_systemd_reloads_unit_files_that_a_killed_run_wrote(
    outdated: str, ran: list[str], tmp_path: Path, monkeypatch: Any
) -> None:
    """The timer started long after the files were written, so nothing but systemd itself knows that it is behind."""
    asks = "systemctl show --property=NeedDaemonReload gate.timer gate.service"
    answers = {asks: f"NeedDaemonReload=no\n\nNeedDaemonReload={outdated}\n"}
    run = Answers({**answers, "systemctl show": show(begun_us=int((time.monotonic() + 5) * 1e6)), "systemctl": ""})
    monkeypatch.setattr(own_unit, "UNIT_FILES", f"{tmp_path}/")
    service = tmp_path / "gate.service"
    service.write_text("[Service]\n")
    entry = files.read(str(service))
    assert entry
    want = DaemonState("gate.timer", {str(service): entry})
    device = OwnUnit("gate.timer", want, run)
    device.apply(plan(device.read(), want))
    assert [verb for verb in (line.split()[1] for line in run.asked) if verb != "show"] == ran
