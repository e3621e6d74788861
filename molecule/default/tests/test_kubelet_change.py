# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A change of the kubelet's policy waits for a job, keeps others off while it is made, and leaves drains of others."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator

import pytest

from .conftest import Lab, Run
from .test_gate import taints

NODE = "gpu04"
DROP_IN = "/etc/kubernetes/kubelet.conf.d/50-drawbridge.conf"
STATE = "/var/lib/kubelet/cpu_manager_state"
MEMORY = "/var/lib/kubelet/memory_manager_state"
OURS = "drawbridge kubelet: its configuration changes"
THEIRS = "fan broken"
STRICT = {"cpuManagerPolicyOptions": {"strict-cpu-reservation": "true"}}


def kubernetes(lab: Lab, **settings: object) -> Run:
    given = json.dumps({"kubelet_numa_settings": settings})
    return lab.playbook("kubernetes", "--limit", NODE, "--extra-vars", given)


def steps(run: Run) -> list[str]:
    return [step for found in run.steps().values() for step in found]


def reason(lab: Lab) -> str:
    """Why Slurm keeps jobs off the node; empty if it doesn't."""
    told = lab.ssh("ctl", f"sinfo -h -p hpc -n {NODE} -o '%T|%E'").strip()
    state, _, why = told.partition("|")
    return why if state.startswith("drain") else ""


def submit(lab: Lab, command: str) -> str:
    words = f"sbatch --parsable -p ai-train -N1 -w {NODE} --gres=gpu:8 --chdir=/tmp --output=/dev/null"
    return lab.ssh("login1", f"runuser -u ada -- {words} --wrap='{command}'").strip()


@pytest.fixture(scope="module", autouse=True)
def as_described(lab: Lab) -> Iterator[None]:
    """Whatever fails here, later files find the node as the site describes it."""
    yield
    if "strict-cpu-reservation" in lab.ssh(NODE, f"cat {DROP_IN}"):
        back = kubernetes(lab)
        assert back.code == 0, back.output


@pytest.fixture(autouse=True)
def alone(lab: Lab) -> Iterator[None]:
    """No job is left behind."""
    yield
    lab.ssh("ctl", "scancel --partition=ai-train")
    lab.wait("the node is closed again", lambda: taints(lab)[NODE] == "closed")


@pytest.fixture
def seen(lab: Lab) -> Iterator[set[str]]:
    """Reasons with which the node was drained meanwhile."""
    found: set[str] = set()
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.3):
            with contextlib.suppress(AssertionError):  # Slurm may be too busy to answer
                found.add(reason(lab))

    watch = threading.Thread(target=look)
    watch.start()
    yield found
    over.set()
    watch.join()


def test_it_waits_for_a_job_and_then_goes_through_on_a_drained_node(lab: Lab, seen: set[str]) -> None:
    lab.wait(
        "pods of earlier jobs are forgotten", lambda: not lab.ssh(NODE, "ls -d /var/log/pods/*_slurm-* || true"), 300
    )
    before, memory = lab.ssh(NODE, f"cat {DROP_IN}; pidof kubelet"), lab.ssh(NODE, f"stat -c %i {MEMORY}")
    job = submit(lab, "sleep 600")
    lab.wait(f"job {job} holds the node", lambda: taints(lab)[NODE] == f"vision.{job}")
    waits = kubernetes(lab, **STRICT)
    assert (waits.code, waits.changed()) == (0, []), waits.output
    assert f"Slurm job {job} is on this node; drain it and run this again" in json.dumps(waits.report)
    assert lab.ssh(NODE, f"cat {DROP_IN}; pidof kubelet") == before
    lab.ssh("ctl", f"scancel {job}")
    lab.wait("the node is closed again", lambda: taints(lab)[NODE] == "closed")
    done = kubernetes(lab, **STRICT)
    assert done.code == 0, done.output
    assert steps(done)[-1] == "drain the node, restart the kubelet with it, resume; forget cpu_manager_state"
    assert json.loads(lab.ssh(NODE, f"cat {STATE}"))["defaultCpuSet"] == "4-63,68-127"
    assert lab.ssh(NODE, f"stat -c %i {MEMORY}") == memory, "what did not change stays"
    assert OURS in seen
    assert reason(lab) == ""
    again = submit(lab, "true")
    lab.wait("jobs come back", lambda: "COMPLETED" in lab.ssh("ctl", f"sacct -n -X -j {again} -o State"))


def test_a_drain_of_somebody_else_stays(lab: Lab) -> None:
    """The way back, and the node is again as the site describes it."""
    lab.ssh("ctl", f"scontrol update nodename={NODE} state=drain reason='{THEIRS}'")
    try:
        back = kubernetes(lab)
        assert back.code == 0, back.output
        assert steps(back)[-1].endswith("forget cpu_manager_state")
        assert reason(lab) == THEIRS
    finally:
        lab.ssh("ctl", f"scontrol update nodename={NODE} state=undrain")
    assert json.loads(lab.ssh(NODE, f"cat {STATE}"))["defaultCpuSet"] == "0-127"
