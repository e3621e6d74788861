# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""On demand, on the hosts of this scenario: a change of the policy where there is no Slurm, and the way back."""

from __future__ import annotations

import json

from tests.running import Lab, Run

from .conftest import send
from .test_kubelet_numa import kubernetes

MEMORY = "/var/lib/kubelet/memory_manager_state"
CPU = "/var/lib/kubelet/cpu_manager_state"


def steps(run: Run) -> list[str]:
    return [step for found in run.steps().values() for step in found]


def test_a_policy_changes_with_the_state_that_it_contradicts(lab: Lab) -> None:
    before = send(f"stat -c %i {CPU} {MEMORY}").split()
    change = {"cpuManagerPolicyOptions": {"strict-cpu-reservation": "true"}}
    predicted = kubernetes(lab, "--check", **change)
    done = kubernetes(lab, **change)
    assert done.code == 0, done.output
    assert steps(done) == steps(predicted)
    assert steps(done)[-1].endswith("remove cpu_manager_state")
    assert json.loads(send(f"cat {CPU}"))["defaultCpuSet"] == "4-63,68-127"
    assert send(f"stat -c %i {MEMORY}").split() == before[1:], "what pods have of memory is not forgotten"
    back = kubernetes(lab)
    assert back.code == 0, back.output
    assert json.loads(send(f"cat {CPU}"))["defaultCpuSet"] == "0-127"
    assert kubernetes(lab).changed() == []
