# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Two nodes join while a gated job runs on two others. The files before it by name know a site of four."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.counted import Counting, Report
from lab.hosts.paths import REPOSITORY
from tests.growth import grow

from .conftest import Lab, Run
from .test_gate import HOME, taints

OLD, NEW = ["gpu01", "gpu02"], ["gpu05", "gpu06"]
CONTACTED = {"ctl", "nsd1", "leaf1", *NEW}
OTHERS = {"login1", "infra1", "gpu01", "gpu02", "gpu03", "gpu04", "leaf2", "spine1"}
STOP = f"{HOME}/stop"
COUNTING = f"""#!/bin/sh
srun sh -c 'i=0; until [ -e {STOP} ] || [ $i -ge 30000 ]; do i=$((i+1)); echo $SLURMD_NODENAME $i; sleep 0.2; done;
            echo $SLURMD_NODENAME end'
"""


@dataclass(frozen=True)
class Onboarding:
    """Observations of a run that brought two nodes in, and of the job beside it."""

    run: Run
    report: Report
    sessions: dict[str, int]
    """By host: logins that sshd noted, connections that a switch noted."""
    taints: dict[str, str]
    job: str
    output: list[str]
    state: list[str]


def submit(lab: Lab) -> str:
    """A job that counts on two nodes until the file STOP exists."""
    lab.ssh("gpu01", f"rm -f {STOP}")
    words = f"sbatch --parsable -p ai-train -N2 -w {','.join(OLD)} --chdir={HOME} --output={HOME}/%j.out"
    job = lab.ssh("login1", f"runuser -u ada -- {words}", stdin=COUNTING).strip()
    lab.wait(f"job {job} counts on both", lambda: both_count(printed(lab, job)))
    return job


def printed(lab: Lab, job: str) -> list[str]:
    return lab.ssh("gpu01", f"cat {HOME}/{job}.out 2>/dev/null || true").splitlines()


def both_count(lines: list[str]) -> bool:
    return {line.split()[0] for line in lines} == set(OLD)


def logins(lab: Lab, begun_s: float, over_s: float) -> dict[str, int]:
    """Logins between two moments, as each host's own sshd noted them."""
    words = f"journalctl -q -t sshd -t sshd-session --since=@{begun_s:.3f} --until=@{over_s:.3f} -g ^Accepted -o cat"
    hosts = (CONTACTED | OTHERS) - {"leaf1", "leaf2", "spine1"}
    return {host: len(lab.ssh(host, f"{words} || true").splitlines()) for host in hosts}


@pytest.fixture(scope="module")
def onboarding(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Onboarding:
    """Boot two spares, start a job elsewhere, onboard the spares, end the job."""
    folder = tmp_path_factory.mktemp("onboard")
    inventory = grow(folder / "more", *NEW)
    subprocess.run([sys.executable, "lab/lab", "up", *NEW], cwd=REPOSITORY, check=True, capture_output=True)
    job = submit(lab)
    counting = Counting(folder)
    counting.prepare()
    known = {file: len(calls) for file, calls in lab.journals().items()}
    begun_s = time.time()
    run = lab.playbook(
        "onboard", *inventory, "-e", "onboard_nodes=gpu[05-06]", "-e", "onboard_wave=1", counting=counting
    )
    over_s = time.time()
    counting.close()
    assert run.code == 0, run.output
    held = taints(lab, [*OLD, *NEW])
    lab.ssh("gpu01", f"touch {STOP}")
    lab.wait(f"job {job} ends", lambda: lab.gone(job))
    noted = {Path(file).parent.name: calls for file, calls in lab.journals(known).items() if "/switches/" in file}
    connected = {name: sum(call.get("event") == "connect" for call in calls) for name, calls in noted.items()}
    return Onboarding(
        run=run,
        report=counting.report("onboard"),
        sessions={**logins(lab, begun_s, over_s), **connected},
        taints=held,
        job=job,
        output=printed(lab, job),
        state=lab.booked(job),
    )


def test_exactly_these_hosts_were_contacted(onboarding: Onboarding) -> None:
    """By the relay that all our connections go through, and by what the hosts and switches noted themselves."""
    counted = {host for host, cost in onboarding.report["hosts"].items() if cost["sessions"]}
    assert counted == CONTACTED
    assert {host for host, times in onboarding.sessions.items() if times} == CONTACTED
    assert set(onboarding.report["hosts"]) - CONTACTED <= {"localhost"}


def test_the_job_noticed_nothing(onboarding: Onboarding) -> None:
    for node in OLD:
        counted = [line.split()[1] for line in onboarding.output if line.split()[0] == node]
        assert counted == [*map(str, range(1, len(counted))), "end"]
    assert {line.split()[0] for line in onboarding.output} == set(OLD)
    assert onboarding.state == ["COMPLETED", "0:0"]


def test_the_nodes_were_born_closed_and_the_job_kept_its_own(onboarding: Onboarding) -> None:
    held = f"vision.{onboarding.job}"
    assert onboarding.taints == {"gpu01": held, "gpu02": held, "gpu05": "closed", "gpu06": "closed"}


def test_no_job_was_let_in_before_the_proof(onboarding: Onboarding) -> None:
    steps = [step for found in onboarding.run.steps().values() for step in found]
    order = ("keep jobs off gpu05 until it is proved ready", "start slurmd.service", "resume gpu05, which joins and")
    found = [next(index for index, step in enumerate(steps) if step.startswith(words)) for words in order]
    assert found == sorted(found)


def test_the_nodes_take_jobs(lab: Lab, onboarding: Onboarding) -> None:
    show = "sh -c 'echo $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES'"
    words = f"srun -p ai-train -N2 --gres=gpu:8 -w {','.join(NEW)} -D {HOME} {show}"
    told = lab.ssh("login1", f"runuser -u ada -- {words}").splitlines()
    assert sorted(told) == ["gpu05 0,1,2,3,4,5,6,7", "gpu06 0,1,2,3,4,5,6,7"]


def test_one_node_is_built_after_the_other(onboarding: Onboarding) -> None:
    plays = onboarding.run.report["plays"]
    waves = [play for play in plays if play["play"]["name"] == "Build the nodes, wave by wave"]
    assert [{host for task in wave["tasks"] for host in task["hosts"]} for wave in waves] == [{"gpu05"}, {"gpu06"}]
