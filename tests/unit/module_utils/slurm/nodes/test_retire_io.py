# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.retire_io import Retiring

from tests.unit.module_utils.answers import Answers

SHOWN = "NodeName=gpu05 State=MIXED+DRAIN\nNode gpu06 not found\n"


def device(queue: str | DeviceError) -> tuple[Retiring, Answers]:
    run = Answers({"scontrol show node": SHOWN, "squeue": queue})
    return Retiring(run, ["gpu05", "gpu06"]), run


def test_a_running_job_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    retiring, run = device("7 gpu[04-05]\n")
    retiring.read()

    def ends(seconds: float) -> None:
        run.table["squeue"] = ""

    monkeypatch.setattr("time.sleep", ends)
    assert retiring.left(600) == {"gpu05": "", "gpu06": ""}


def test_no_list_of_jobs_is_an_error() -> None:
    retiring, _ = device(DeviceError("no answer"))
    retiring.read()
    with pytest.raises(DeviceError, match="no answer"):
        retiring.left(0)
