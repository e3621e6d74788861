# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from roles.drawbridge_run.files.gate.command import Result
from roles.drawbridge_run.files.run.limits import Limit
from tests.unit.roles.drawbridge_run.doubles import Tools


def test_slurm_is_asked_again_before_it_is_believed() -> None:
    """A limit may be extended while the job runs."""
    answers = {"squeue": "7 10:00"}
    tools = Tools(answers)
    limit = Limit(7, 45, tools, 0.0)
    assert not limit.reached(0.0)
    assert not limit.reached(539.0)
    assert len(tools.asked) == 1
    answers["squeue"] = "7 1-00:00:30"
    assert not limit.reached(540.0)
    answers["squeue"] = "7 0:59"
    assert not limit.reached(4139.0)
    assert limit.reached(4141.0)


@pytest.mark.parametrize("said", [Result(1, "", "no answer"), "", "7 UNLIMITED", "7 INVALID"])
def test_without_a_limit_nothing_ends(said: Result | str) -> None:
    limit = Limit(7, 45, Tools({"squeue": said}), 0.0)
    assert not any(limit.reached(float(now)) for now in range(0, 10000, 10))


def test_other_elements_of_an_array_have_limits_of_their_own() -> None:
    assert not Limit(7, 45, Tools({"squeue": "9 0:30\n7 10:00\n8 0:10\n"}), 0.0).reached(0.0)
    assert Limit(7, 45, Tools({"squeue": "9 10:00\n7 0:40\n"}), 0.0).reached(0.0)
