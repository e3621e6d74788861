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


def device(queue: str) -> tuple[Wave, Answers]:
    run = Answers({"scontrol show node -o": SHOWN, "squeue": queue})
    return Wave(run, ["gpu01", "gpu02"], "drawbridge: maintenance kernel until 18:00"), run


def test_a_running_job_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    wave, run = device("7 gpu[01-02]\n")
    wave.read()

    def ends(seconds: float) -> None:
        run.table["squeue"] = ""

    monkeypatch.setattr("time.sleep", ends)
    assert wave.left("kernel", 600) == {"gpu01": ""}
