# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of a class that asks for passports: neither a reboot nor a repair brings one back, only a new proof of it.

The tests build on each other in their order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import pytest
import yaml

from lab.hosts.paths import REPOSITORY, Paths

from .conftest import (
    HEALTH,
    LIMIT,
    LONG_S,
    NODES,
    OWN,
    Lab,
    boot_id,
    comment,
    look,
    plant,
    reasons,
    says_when_it_boots,
    shown,
    tend,
)

PROOF = REPOSITORY / "inventories/lab/group_vars/all/proof.yml"
REBOOTED, REPAIRED, PARTNER = "gpu01", "gpu03", "gpu04"
"""A proof of two nodes needs a third one that is idle, so jobs leave it out."""
UNPROVED = f"{HEALTH}60-passport: it has no passport"
OWES_A_PROOF = f"{HEALTH}[node repair] 60-passport: it had GPU 3: GPU faults in the log: Xid 79"
WAITS_FOR_REPAIR = f"{HEALTH}[node repair] GPU 1: GPU faults in the log: Xid 54"
TASKS, LEAST = 12, 6
"""Jobs that come at once, and pending jobs below which they come."""


class Ran(NamedTuple):
    """One run of a job, by Slurm accounting. `start` is in seconds since the epoch."""

    node: str
    start: int
    state: str


@dataclass
class Queue:
    """A user whose jobs keep coming: there are pending jobs until end()."""

    lab: Lab
    jobs: list[str] = field(default_factory=list)

    def feed(self) -> None:
        pending = self.lab.ssh("ctl", "squeue --noheader --array --states=PENDING --format=%i").split()
        if len(pending) < LEAST:
            words = f"-N1 --exclusive --exclude={PARTNER} --chdir=/tmp --array=1-{TASKS} --wrap 'sleep 1'"
            self.jobs.append(self.lab.ssh("login1", f"sudo -u ada sbatch --parsable -p hpc {words}").strip())

    def until(self, what: str, condition: Callable[[], Any]) -> None:
        """Wait for a condition while jobs come and the controller looks."""

        def met() -> Any:
            self.feed()
            tend(self.lab)
            return condition()

        self.lab.wait(what, met, LONG_S)

    def end(self) -> list[Ran]:
        """All runs, after the last of them. A job that Slurm requeued has several."""
        names = ",".join(self.jobs)

        def booked() -> list[Ran]:
            lines = self.lab.ssh("ctl", f"SLURM_TIME_FORMAT=%s sacct -nXDPj {names} -o nodelist,start,state").split()
            found = [Ran(node, int(start), state) for node, start, state in (line.split("|") for line in lines)]
            return found if all(it.state not in ("PENDING", "RUNNING") for it in found) else []

        self.lab.wait("all jobs end", lambda: not self.lab.ssh("ctl", f"squeue -h -j {names}", check=False), LONG_S)
        return self.lab.wait("their ends are booked", booked, LONG_S)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The site, whose class asks for passports now."""
    proof = yaml.safe_load(PROOF.read_text())
    proof["drawbridge_proof"]["classes"]["h100"]["passport"] = True
    asks = tmp_path_factory.mktemp("passports") / "group_vars/all/proof.yml"
    asks.parent.mkdir(parents=True)
    asks.write_text(yaml.safe_dump(proof))
    found = Lab(Paths.of(), ("inventories/lab", str(OWN), str(asks.parents[2])))
    run = found.playbook("slurm", "--limit", LIMIT)
    assert run.code == 0, run.output
    # the tests say when the controller looks
    found.ssh("ctl", "systemctl stop drawbridge-health.timer")
    yield found
    plant("--clear")


def seconds(lab: Lab) -> int:
    return int(lab.ssh("ctl", "date +%s"))


def proved(lab: Lab, node: str) -> float:
    """When the node's last proof ended, by its passport."""
    passport = json.loads(lab.ssh(node, "head -1 /var/lib/drawbridge/passport"))
    return datetime.fromisoformat(passport["proved"]).timestamp()


def test_each_node_waits_for_its_first_proof_and_no_breaker_opens(lab: Lab) -> None:
    look(lab)
    tend(lab)
    assert reasons(lab) == dict.fromkeys(NODES, UNPROVED)
    assert shown(lab)["breakers"] == {}
    run = lab.playbook("prove", "--limit", LIMIT)
    assert run.code == 0, run.output
    look(lab)
    tend(lab)
    assert reasons(lab) == {}


def test_after_reboot_and_repair_nodes_return_by_a_proof_under_a_queue_of_jobs(lab: Lab) -> None:
    says_when_it_boots(lab, REBOOTED)
    plant(REBOOTED, "xid", "3", "79")
    plant(REPAIRED, "xid", "1", "54")
    before, queue = boot_id(lab, REBOOTED), Queue(lab)
    queue.feed()
    look(lab, REBOOTED, REPAIRED)
    tend(lab)
    drained = seconds(lab)
    why = reasons(lab)
    assert sorted(why) == [REBOOTED, REPAIRED]
    assert why[REBOOTED].startswith(f"{HEALTH}[node reboot] GPU 3: ") and why[REPAIRED].startswith(WAITS_FOR_REPAIR)

    queue.until(f"{REBOOTED} has booted", lambda: boot_id(lab, REBOOTED) not in ("", before))
    queue.until(f"{REBOOTED} owes a proof", lambda: reasons(lab)[REBOOTED].startswith(OWES_A_PROOF))
    # its look is clean, and its passport is still valid: neither is a proof that the GPU works again
    look(lab, REBOOTED)
    assert (comment(lab, REBOOTED), lab.ssh(REBOOTED, "drawbridge-passport look")) == ("", "")
    # the repair
    plant("--clear")
    for node in (REBOOTED, REPAIRED):
        refused = lab.ssh("ctl", f"drawbridge-health lift {node} 2>&1; echo code $?")
        assert "asks for a passport; a proof lifts the drain" in refused and refused.split()[-2:] == ["code", "1"]
    tend(lab)
    why = reasons(lab)
    assert why[REBOOTED].startswith(OWES_A_PROOF) and why[REPAIRED].startswith(WAITS_FOR_REPAIR)
    assert len(shown(lab, REBOOTED)["nodes"][0]["rebooted"]) == 1

    with ThreadPoolExecutor(1) as pool:
        names = f"prove_nodes={REBOOTED},{REPAIRED}"
        proof = pool.submit(lab.playbook, "prove", "--limit", LIMIT, "-e", names)
        queue.until("the proof ends", proof.done)
    assert proof.result().code == 0, proof.result().output
    tend(lab)
    assert reasons(lab) == {}
    back = f"sudo -u ada srun -p hpc -N2 -w {REBOOTED},{REPAIRED} --exclusive --chdir=/tmp hostname"
    assert sorted(lab.ssh("login1", back).split()) == [REBOOTED, REPAIRED]

    runs = queue.end()
    assert [it.state for it in runs] == ["COMPLETED"] * TASKS * len(queue.jobs)
    for node in (REBOOTED, REPAIRED):
        # one that started in the second of the drain may have been before it
        assert [it for it in runs if it.node == node and drained < it.start < proved(lab, node)] == []
    assert {it.node for it in runs if drained < it.start < proved(lab, REBOOTED)} == {"gpu02"}
