# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files with secrets. Units that are enabled or run are in slurm_node_left.yml."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes import leave_plan
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.leave_io import Member

from tests.unit.module_utils.answers import Answers, show


def test_existing_secrets_are_removed(tmp_path: Path) -> None:
    key = tmp_path / "munge.key"
    key.write_text("secret")
    run = Answers({"systemctl show": show("not-found", "inactive", "")})
    member = Member(run, [str(key), str(tmp_path / "token")])
    found = member.read()
    assert found == leave_plan.MemberState((), (str(key),))
    member.apply(leave_plan.plan(found, leave_plan.MemberState()))
    assert not key.exists()
