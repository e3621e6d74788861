# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.maintenance.io import Wave

from tests.unit.module_utils.answers import Answers

SHOWN = """NodeName=gpu01 State=MIXED+DRAIN Reason=drawbridge: maintenance kernel until 18:00 [root@now]
NodeName=gpu02 State=IDLE
NodeName=gpu03 State=DOWN* Reason=Not responding [slurm@now]
"""


def test_a_running_job_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Answers({"scontrol show node -o": SHOWN, "squeue": "7 gpu[01-02]\n"})
    wave = Wave(run, ["gpu01", "gpu02"], "drawbridge: maintenance kernel until 18:00")
    wave.read()
    monkeypatch.setattr("time.sleep", lambda seconds: run.table.update(squeue=""))
    assert wave.left("kernel", 600) == {"gpu01": ""}
