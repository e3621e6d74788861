# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.leave_io import Member
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.leave_plan import (
    GATE,
    MUNGE,
    MemberState,
    plan,
)

from tests.unit.module_utils.answers import Answers, show

SHOW = "systemctl show --property LoadState,ActiveState,SubState,UnitFileState,InactiveExitTimestampMonotonic"


def test_enabled_or_running_units_and_present_files_are_left(tmp_path: Path) -> None:
    key = tmp_path / "munge.key"
    key.write_text("secret")
    run = Answers(
        {
            f"{SHOW} {GATE}": show(active="inactive", sub="dead"),
            f"{SHOW} slurmd.service": show(load="not-found", active="inactive", enabled="", sub="dead"),
            f"{SHOW} {MUNGE}": show(enabled="disabled"),
            "systemctl disable --now": "",
        }
    )
    member = Member(run, [str(key), str(tmp_path / "token")])
    found = member.read()
    assert found == MemberState((GATE, MUNGE), (str(key),))
    member.apply(plan(found, MemberState()))
    assert not key.exists()
    assert run.asked[3:] == [f"systemctl disable --now {GATE}", f"systemctl disable --now {MUNGE}"]
