# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rolling maintenance while jobs of both kinds keep arriving. The tests build on each other in their order."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.host_keys import replace
from tests.running import Lab, Run
from tests.stack import lab as switch

from .test_mixed import INVENTORY, Paths

NODES = ("gpu01", "gpu02", "cpu01", "cpu02")
ALL = "gpu[01-02],cpu[01-02]"
CHANGE = "/etc/site-change"
BROKEN = "/run/broken"
FIRST, SECOND, THIRD, FOURTH = (f"{word}-{time.time():.0f}" for word in ("first", "second", "third", "fourth"))
"""Nodes and Slurm's accounting keep the names of all maintenances."""
WORK = f"""---
- name: Refuse a broken node
  ansible.builtin.command: test ! -e {BROKEN}
  changed_when: false
- name: Make the site's change
  ansible.builtin.copy: {{dest: {CHANGE}, content: "{{{{ rolling_maintenance }}}}", mode: "0644"}}
"""
SHARE = ("--chdir=/tmp", "--output=/dev/null", "-N1")


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab(Paths.of(), (INVENTORY,))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    path = tmp_path / "work.yml"
    path.write_text(WORK)
    return path


def rolling(lab: Lab, name: str, *more: str, nodes: str = ALL) -> Run:
    return lab.playbook("rolling", "-e", f"rolling_nodes={nodes}", "-e", f"rolling_maintenance={name}", *more)


def submit(lab: Lab, partition: str, seconds: float) -> str:
    words = " ".join(("sbatch", "--parsable", "-p", partition, *SHARE))
    return lab.ssh("login1", f"runuser -u ada -- {words}", stdin=f"#!/bin/sh\nsleep {seconds}\n").strip()


@contextmanager
def arriving(lab: Lab) -> Iterator[list[str]]:
    """Submit jobs of both kinds until the block ends; at most three of a kind wait."""
    jobs: list[str] = []
    over = threading.Event()

    def keep() -> None:
        while not over.is_set():
            queued = lab.ssh("login1", "squeue -h -o %P").split()
            jobs.extend(submit(lab, it, 2) for it in ("ai-train", "prepare") if queued.count(it) < 3)
            over.wait(1)

    worker = threading.Thread(target=keep)
    worker.start()
    try:
        yield jobs
    finally:
        over.set()
        worker.join()


def unavailable(lab: Lab) -> dict[str, str]:
    """Reasons of nodes that take no jobs."""
    lines = lab.ssh("ctl", "sinfo -h -N -o '%N|%E|%T' | sort -u").splitlines()
    found = [line.split("|") for line in lines]
    return {name: reason for name, reason, state in found if state.startswith(("drain", "down"))}


def outages(lab: Lab, name: str) -> list[tuple[str, str, str]]:
    """Begin, end and node of each drain of this maintenance, in their order."""
    lines = lab.ssh("ctl", "sacctmgr -P -n show event format=TimeStart,TimeEnd,NodeName,Reason").splitlines()
    found = [line.split("|", 3) for line in lines]
    return sorted((begin, end, node) for begin, end, node, reason in found if f"maintenance {name} " in reason)


def ended(lab: Lab, jobs: list[str]) -> list[tuple[str, str]]:
    """State and number of restarts of jobs that have all ended."""
    lab.wait("all jobs end", lambda: lab.ssh("login1", "squeue -h -o %i").split() == [])
    told = lab.ssh("ctl", f"sacct -n -P -X -j {','.join(jobs)} -o State,Restarts").splitlines()
    return [(line.split("|")[0], line.split("|")[1]) for line in told]


def test_a_prediction_drains_nothing(lab: Lab, work: Path) -> None:
    run = rolling(lab, FIRST, "-e", f"rolling_maintenance_tasks={work}", "-e", "rolling_wave=1", "--check")
    assert run.code == 0, run.output
    told = [
        step
        for (task, _), steps in run.steps().items()
        if task == "Drain the wave, and wait for its jobs"
        for step in steps
    ]
    assert [words.split()[1] for words in told] == list(NODES)
    assert unavailable(lab) == {}


def test_nodes_are_changed_one_by_one_and_no_job_is_lost(lab: Lab, work: Path) -> None:
    with arriving(lab) as jobs:
        run = rolling(
            lab, FIRST, "-e", f"rolling_maintenance_tasks={work}", "-e", "rolling_wave=1", "-e", "rolling_reserve=true"
        )
    assert run.code == 0, run.output
    told = [str(found.get("msg")) for task, _, found in run.results() if task == "Name the nodes of the wave"]
    assert [line for line in told if line.startswith("nodes")] == [
        f"nodes {number} to {number} of 4: {node}" for number, node in enumerate(NODES, 1)
    ]
    assert [lab.ssh(node, f"cat {CHANGE}") for node in NODES] == [FIRST] * 4
    assert unavailable(lab) == {}
    assert set(ended(lab, jobs)) == {("COMPLETED", "0")}
    drains = outages(lab, FIRST)
    # Slurm records a drain anew when a reservation for maintenance begins and ends
    assert [node for node, _events in itertools.groupby(node for _, _, node in drains)] == list(NODES)
    assert all(end <= begin for (_, end, _), (begin, _, _) in itertools.pairwise(drains))


def test_a_reservation_was_made_for_each_wave_and_deleted(lab: Lab) -> None:
    booked = lab.ssh("ctl", "sacctmgr -P -n show reservation format=Name,Flags,NodeNames")
    rows = [line.split("|") for line in booked.splitlines()]
    found = {nodes for name, flags, nodes in rows if name == f"drawbridge-{FIRST}" and "MAINT" in flags}
    assert found == set(NODES)
    assert f"drawbridge-{FIRST}" not in lab.ssh("ctl", "scontrol show reservation -o")


def test_who_has_had_it_is_left_alone(lab: Lab, work: Path) -> None:
    run = rolling(lab, FIRST, "-e", f"rolling_maintenance_tasks={work}")
    assert (run.code, run.changed()) == (0, []), run.output


def test_a_node_that_fails_is_kept_with_its_cause_and_the_others_go_on(lab: Lab, work: Path) -> None:
    lab.ssh("gpu02", f"touch {BROKEN}")
    options = ("-e", f"rolling_maintenance_tasks={work}", "-e", "rolling_max_fail=2")
    failed = rolling(lab, SECOND, *options)
    assert failed.code == 2, failed.output
    [(node, reason)] = unavailable(lab).items()
    assert node == "gpu02"
    assert reason.startswith(f"drawbridge: maintenance {SECOND} failed: Refuse a broken node: ")
    lab.ssh("gpu02", f"rm {BROKEN}")
    again = rolling(lab, SECOND, *options)
    assert again.code == 0, again.output
    assert {line.partition(":")[0] for line in again.changed()} == {"gpu02"}
    assert unavailable(lab) == {}
    assert [lab.ssh(node, f"cat {CHANGE}") for node in NODES] == [SECOND] * 4


def test_a_job_is_not_ended_and_a_later_run_goes_on(lab: Lab) -> None:
    job = submit(lab, "ai-train", 900)
    lab.wait("the job runs", lambda: lab.ssh("login1", f"squeue -h -j {job} -o %T").strip() == "RUNNING")
    node = lab.ssh("login1", f"squeue -h -j {job} -o %N").strip()
    waits = rolling(lab, THIRD, "-e", "rolling_what=reboot", "-e", "rolling_job_wait_s=1", nodes=node)
    assert waits.code == 0, waits.output
    assert f"Slurm job {job} is on {node}; run this again when it has ended" in str(waits.results())
    lab.ssh("login1", f"runuser -u ada -- scancel {job}")
    boot = lab.ssh(node, "cat /proc/sys/kernel/random/boot_id")
    done = rolling(lab, THIRD, "-e", "rolling_what=reboot", nodes=node)
    assert done.code == 0, done.output
    assert lab.ssh(node, "cat /proc/sys/kernel/random/boot_id") != boot
    assert unavailable(lab) == {}
    assert lab.kubectl("get", "node", node, "-o", "jsonpath={.spec.taints[*].value}").split() == ["closed"]


def test_a_node_without_an_answer_is_named_and_the_others_go_on(lab: Lab, work: Path) -> None:
    switch("power-cut", "cpu01")
    try:
        run = rolling(
            lab,
            FOURTH,
            "-e",
            f"rolling_maintenance_tasks={work}",
            "-e",
            "rolling_answer_timeout_s=2",
            "-e",
            "rolling_wave=1",
            nodes="cpu[01-02]",
        )
    finally:
        switch("up", "cpu01")
    assert run.code == 2, run.output
    assert "without an answer, and left as they are: cpu01." in str(run.results())
    assert lab.ssh("cpu02", f"cat {CHANGE}") == FOURTH
    lab.wait("it is back", lambda: lab.ssh("cpu01", "true") == "")


def test_a_reinstalled_node_comes_back_by_its_fingerprint(lab: Lab) -> None:
    """Its disk and its host key are new, its Node and its record in Slurm are old."""
    lab.ssh("ctl", 'scontrol update nodename=gpu02 state=drain reason="drawbridge: is installed again"')
    lab.wait("gpu02 has no job", lambda: lab.ssh("login1", "squeue -h -w gpu02 -o %i") == "")
    fingerprint = replace(lab, "gpu02")
    known = lab.paths.known_hosts.read_text()

    wrong = lab.playbook(
        "rejoin", "-e", "rejoin_nodes=gpu02", "-e", '{"rejoin_fingerprints": {"gpu02": "SHA256:else"}}'
    )
    assert wrong.code == 2, wrong.output
    assert "but the fingerprint to trust is SHA256:else" in str(wrong.results())
    assert lab.paths.known_hosts.read_text() == known
    right = lab.playbook(
        "rejoin", "-e", "rejoin_nodes=gpu02", "-e", f'{{"rejoin_fingerprints": {{"gpu02": "{fingerprint}"}}}}'
    )
    assert right.code == 0, right.output
    assert unavailable(lab) == {}
    assert lab.kubectl("get", "node", "gpu02", "-o", "jsonpath={.spec.taints[*].value}").split() == ["closed"]
