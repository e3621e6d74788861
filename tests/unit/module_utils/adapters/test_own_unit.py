# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.adapters import own_unit
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.adapters.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.adapters.own_unit import OwnUnit
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.dialects.entry import Entry
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.plans.daemon import DaemonState, plan


@pytest.mark.parametrize(("folder", "reloads"), [("units", 1), ("other", 0)])
def test_systemd_reads_new_unit_files_before_it_starts_them(
    folder: str, reloads: int, tmp_path: Path, monkeypatch: Any
) -> None:
    ran: list[str] = []

    def run(argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        ran.append(argv[1])
        return Completed(0, "LoadState=not-found\nActiveState=inactive\nUnitFileState=\n", "")

    monkeypatch.setattr(own_unit, "UNIT_FILES", str(tmp_path / "units"))
    file = Entry("[Timer]\n", owner="root", group="root")
    monkeypatch.setattr("os.fchown", lambda *ids: None)
    want = DaemonState("gate.timer", {str(tmp_path / folder / "gate.timer"): file})
    device = OwnUnit("gate.timer", want, run)
    device.apply(plan(device.read(), want))
    assert ran == ["show", *["daemon-reload"] * reloads, "enable", "start"]
    assert (tmp_path / folder / "gate.timer").read_text() == "[Timer]\n"
