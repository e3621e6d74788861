# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Who runs next and where: shares, QOS, limits, leaves, and jobs that outlive a change of the controller."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .conftest import Lab

NODES = 4


class Queue:
    """Jobs of the partition without a gate; whatever is left of them is cancelled at the end."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab

    def submit(self, user: str, options: str, command: str = "sleep 3000") -> str:
        sbatch = f"sbatch --parsable -p hpc --exclusive --output=/dev/null {options} --wrap='{command}'"
        return self.lab.ssh("login1", f"cd / && runuser -u {user} -- {sbatch}").strip()

    def told(self, job: str, form: str) -> str:
        """What squeue says of a job."""
        return self.lab.ssh("ctl", f"squeue -h -j {job} -o '{form}'").strip()

    def used(self, job: str) -> str:
        """How long a job runs already; empty if it doesn't."""
        state, _, since = self.told(job, "%T %M").partition(" ")
        return since if state == "RUNNING" else ""

    def until(self, job: str, state: str, seconds: float = 180) -> None:
        self.lab.wait(f"job {job} is {state}", lambda: self.told(job, "%T") == state, seconds)

    def empty(self) -> None:
        self.lab.tell("scancel --state=PENDING --partition=hpc; scancel --partition=hpc")
        self.lab.wait("the partition is empty", lambda: not self.lab.ssh("ctl", "squeue -h -p hpc").strip())


@pytest.fixture
def queue(lab: Lab) -> Iterator[Queue]:
    queue = Queue(lab)
    queue.empty()
    yield queue
    queue.empty()


def shares(lab: Lab) -> dict[str, float]:
    """The fair-share factor of each account's users."""
    rows = [row.split("|") for row in lab.ssh("ctl", "sshare -ahP -o account,user,fairshare").splitlines()]
    return {account.strip(): float(factor) for account, user, factor in rows if user}


def priorities(lab: Lab) -> dict[str, int]:
    """Jobs that wait; new ones are missing until Slurm has ranked them."""
    rows = [row.split() for row in lab.ssh("ctl", "sprio -h -p hpc -o '%i %Y'").splitlines()]
    return {job: int(priority) for job, priority in rows}


def test_who_has_used_its_share_waits_for_who_has_not(lab: Lab, queue: Queue) -> None:
    used = queue.submit("ada", f"-N{NODES}")
    # use is counted every minute, and when slurmctld reads its configuration
    lab.wait("some time is used", lambda: queue.used(used) not in ("", "0:00"))
    lab.tell("scontrol reconfigure")
    lab.wait("use is counted", lambda: shares(lab)["vision"] < shares(lab)["speech"], 180)
    rich = queue.submit("ada", f"-N{NODES}")
    poor = queue.submit("cleo", f"-N{NODES}")
    ranks = lab.wait("both are ranked", lambda: {rich, poor} <= (found := priorities(lab)).keys() and found)
    assert ranks[poor] > ranks[rich]
    lab.tell(f"scancel {used}")
    queue.until(poor, "RUNNING")
    assert queue.told(rich, "%T") == "PENDING"


def test_an_urgent_job_pushes_a_normal_one_aside(lab: Lab, queue: Queue) -> None:
    normal = queue.submit("ada", f"-N{NODES}")
    queue.until(normal, "RUNNING")
    urgent = queue.submit("cleo", "-N1 --qos=urgent")
    queue.until(urgent, "RUNNING")
    queue.until(normal, "PENDING")  # not on all of its nodes at once
    assert queue.told(normal, "%q") == "normal"
    assert " Restarts=1 " in lab.ssh("ctl", f"scontrol show job {normal} -o")


def test_qos_are_for_those_who_have_them(lab: Lab) -> None:
    refused = lab.ssh("login1", "cd / && runuser -u dan -- sbatch -p hpc --qos=urgent --wrap=true 2>&1", check=False)
    assert "Invalid qos specification" in refused


def test_an_account_waits_at_its_limit(lab: Lab, queue: Queue) -> None:
    """A second pair of nodes would make 32 GPUs of the 16 that the account may take."""
    first = queue.submit("dan", "-N2 --gres=gpu:8")
    queue.until(first, "RUNNING")
    second = queue.submit("dan", "-N2 --gres=gpu:8")
    lab.wait("the limit is told", lambda: queue.told(second, "%r") == "AssocGrpGRES")


def test_a_job_stays_in_one_leaf(lab: Lab, queue: Queue) -> None:
    """Of the three nodes that are left gpu02 comes first, but only the other two hang on one leaf."""
    queue.until(queue.submit("ada", "-w gpu01"), "RUNNING")
    pair = queue.submit("ada", "-N2")
    queue.until(pair, "RUNNING")
    assert queue.told(pair, "%N") == "gpu[03-04]"


def reread(lab: Lab) -> None:
    lab.tell("scontrol reconfigure")


def restart(lab: Lab) -> None:
    lab.ssh("ctl", "systemctl restart slurmctld")


def test_a_job_outlives_a_change_and_a_restart_of_the_controller(lab: Lab, queue: Queue) -> None:
    here = "touch /tmp/here.$SLURM_JOB_ID; until test -e /tmp/go.$SLURM_JOB_ID; do sleep 0.2; done"
    job = queue.submit("ada", "-N1", here)
    queue.until(job, "RUNNING")
    node = lab.wait("its node is told", lambda: queue.told(job, "%N"))
    # Slurm calls it running before its script is there, and a controller that ends then may forget to start that
    lab.wait("its script runs", lambda: lab.ssh(node, f"ls /tmp/here.{job}"))
    for change in (reread, restart):
        change(lab)
        lab.wait("slurmctld answers", lambda: "UP" in lab.ssh("ctl", "scontrol ping", check=False))
        found = lab.wait("the job is told", lambda: queue.told(job, "%T %N"))
        assert found == f"RUNNING {node}"
    lab.ssh(node, f"touch /tmp/go.{job}")
    ended = f"sacct -n -X -P -j {job} -o State,ExitCode,Restarts"
    lab.wait("the job ends well", lambda: lab.ssh("ctl", ended).strip() == "COMPLETED|0:0|0")
    lab.ssh(node, f"rm /tmp/go.{job} /tmp/here.{job}")
