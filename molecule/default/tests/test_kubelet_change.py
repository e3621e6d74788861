# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A change of the kubelet's policy waits for a job, keeps others off while it is made, and leaves drains of others."""

from __future__ import annotations

import json
import time
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
UNTOUCHED = f"cat {DROP_IN}; systemctl show -P MainPID kubelet"
"""The file and the kubelet itself: a process that it has just forked has its name as well."""
STRICT = {"cpuManagerPolicyOptions": {"strict-cpu-reservation": "true"}}


def kubernetes(lab: Lab, **settings: object) -> Run:
    given = json.dumps({"kubelet_numa_settings": settings})
    return lab.playbook("kubernetes", "--limit", NODE, "--extra-vars", given)


def steps(run: Run) -> list[str]:
    return [step for found in run.steps().values() for step in found]


def reason(lab: Lab) -> str:
    """Why Slurm keeps jobs off the node; empty if it doesn't."""
    told = lab.wait("sinfo tells", lambda: lab.ssh("ctl", f"sinfo -h -p hpc -n {NODE} -o '%T|%E'").strip())
    state, _, why = told.partition("|")
    return why if state.startswith("drain") else ""


def drains(lab: Lab, since_s: int) -> list[str]:
    """Why Slurm kept jobs off the node since then, by its accounting, which learns of it a moment later."""
    start = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(since_s))
    asked = f"sacctmgr -nP show event nodes={NODE} start={start} format=TimeStart,Reason"
    rows = [line.split("|", 1) for line in lab.ssh("ctl", f"TZ=UTC SLURM_TIME_FORMAT=%s {asked}").splitlines()]
    return [why for begun, why in rows if int(begun) >= since_s]


def free(lab: Lab) -> bool:
    """No job has the node. The gate closes it in a job's epilog: Slurm has the job a moment longer."""
    return taints(lab)[NODE] == "closed" and not lab.ssh("ctl", f"squeue -h -w {NODE}").strip()


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
    lab.tell("scancel --partition=ai-train")
    lab.wait("the node is free again", lambda: free(lab))


def test_it_waits_for_a_job_and_then_goes_through_on_a_drained_node(lab: Lab) -> None:
    lab.wait(
        "pods of earlier jobs are forgotten", lambda: not lab.ssh(NODE, "ls -d /var/log/pods/*_slurm-* || true"), 300
    )
    before, memory = lab.ssh(NODE, UNTOUCHED), lab.ssh(NODE, f"stat -c %i {MEMORY}")
    job = submit(lab, "sleep 600")
    lab.wait(f"job {job} holds the node", lambda: taints(lab)[NODE] == f"vision.{job}")
    waits = kubernetes(lab, **STRICT)
    assert (waits.code, waits.changed()) == (0, []), waits.output
    assert f"Slurm job {job} is on this node; drain it and run this again" in json.dumps(waits.report)
    assert lab.ssh(NODE, UNTOUCHED) == before
    lab.tell(f"scancel {job}")
    lab.wait("the node is free again", lambda: free(lab))
    begun_s = int(lab.ssh("ctl", "date +%s"))
    done = kubernetes(lab, **STRICT)
    assert done.code == 0, done.output
    assert steps(done)[-1] == "drain the node, restart the kubelet with it, resume; remove cpu_manager_state"
    assert json.loads(lab.ssh(NODE, f"cat {STATE}"))["defaultCpuSet"] == "4-63,68-127"
    assert lab.ssh(NODE, f"stat -c %i {MEMORY}") == memory, "what did not change stays"
    lab.wait("Slurm accounting tell of our drain", lambda: OURS in drains(lab, begun_s))
    assert reason(lab) == ""
    again = submit(lab, "true")
    lab.wait("jobs come back", lambda: "COMPLETED" in lab.ssh("ctl", f"sacct -n -X -j {again} -o State"))


def test_a_drain_of_an_administrator_stays(lab: Lab) -> None:
    """The way back, and the node is again as the site describes it."""
    lab.tell(f"scontrol update nodename={NODE} state=drain reason='{THEIRS}'")
    try:
        back = kubernetes(lab)
        assert back.code == 0, back.output
        assert steps(back)[-1].endswith("remove cpu_manager_state")
        assert reason(lab) == THEIRS
    finally:
        lab.tell(f"scontrol update nodename={NODE} state=undrain")
    assert json.loads(lab.ssh(NODE, f"cat {STATE}"))["defaultCpuSet"] == "0-127"
