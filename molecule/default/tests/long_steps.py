# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""On demand: situations planted on a node of the whole site. `drawbridge status` names each, and its next step works.

What a person does who follows the step must leave the node ready and closed. Scenario drawbridge_status has more.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import stack
from tests.stack import PATHS, finish, ghost, ssh, until

from .conftest import Lab
from .situation import ADMIN, NODE, PATIENCE_S, follow, held, named, words

DRAIN = f"scontrol update nodename={NODE} state=drain reason="
NOTES, KUBELET_REASON = "/var/lib/drawbridge", "drawbridge kubelet: its configuration changes"
GPFS, GPFS_REASON = "/usr/lpp/mmfs/bin", "drawbridge gpfs: GPFS restarts"
GPU = "/dev/nvidia7"
PROLOG = "/etc/drawbridge/slurm/prolog.d/99-broken"


@dataclass(frozen=True)
class Case:
    """A situation by the word that status has for it: a command on a host, and what repairs it on the node."""

    word: str
    plant: str
    host: str = "ctl"
    repair: str = ""
    runs: bool = True
    """Whether the step has a command that runs after the repair."""


CASES = {
    "a person sets it down": Case("down", f"scontrol update nodename={NODE} state=down reason=broken"),
    "an onboarding stopped": Case("joining", f"{DRAIN}'drawbridge: joins, not proven yet'"),
    "its hardware was wrong": Case("hardware", f"{DRAIN}'drawbridge: hardware: 7 GPUs instead of 8'"),
    "a change of GPFS stopped": Case("changing", f"touch {NOTES}/gpfs-change; {DRAIN}'{GPFS_REASON}'", NODE),
    "a change of the kubelet stopped": Case(
        "changing", f"touch {NOTES}/kubelet-change; {DRAIN}'{KUBELET_REASON}'", NODE
    ),
    "a retirement is called off": Case("retiring", f"{DRAIN}'drawbridge: retires'"),
    "its file system is gone": Case("unhealthy", f"{GPFS}/mmumount fs1", NODE, f"{GPFS}/mmmount fs1", runs=False),
    "a GPU is gone": Case("unhealthy", f"mv {GPU} {GPU}.gone", NODE, f"mv {GPU}.gone {GPU}", runs=False),
    "its kubelet stops": Case("not ready", "systemctl stop kubelet", NODE, "systemctl start kubelet"),
    "its slurmd stops": Case("silent", "systemctl stop slurmd", NODE, "systemctl start slurmd"),
    "Kubernetes forgets it": Case("absent", f"kubectl --kubeconfig={ADMIN} delete node {NODE}"),
}


@pytest.fixture(scope="module", autouse=True)
def administrator() -> Iterator[None]:
    ssh("ctl", f"umask 077; cat > {ADMIN}", PATHS.kubeconfig.read_text())
    with stack.impatient((NODE,)):
        yield
    ssh("ctl", f"rm {ADMIN}")


@pytest.fixture(autouse=True)
def ready_before_and_after() -> Iterator[None]:
    until(lambda: words() == {"ready"}, PATIENCE_S, "the node is ready")
    yield
    until(lambda: words() == {"ready"}, PATIENCE_S, "the node is ready again")


@pytest.mark.parametrize("name", CASES)
def test_one_command(lab: Lab, name: str) -> None:
    case = CASES[name]
    ssh(case.host, case.plant)
    step = named(case.word)
    if case.repair:
        ssh(NODE, case.repair)
    if case.runs:
        follow(lab, step)


def test_a_person_drains_it_under_a_job(lab: Lab) -> None:
    job = held()
    ssh("ctl", f"{DRAIN}'new fan'")
    step = named("draining")
    finish(job)
    named("drained")
    follow(lab, step)


def test_a_job_is_suspended() -> None:
    job = held()
    ssh("ctl", f"scontrol suspend {job}")
    step = named("suspended")
    ssh("ctl", re.findall(r"scontrol resume \d+", step)[0])
    until(lambda: "suspended" not in words(), PATIENCE_S, "the job goes on")
    # a step that its daemon has not resumed yet takes no signal
    until(lambda: not ssh(NODE, "pgrep --runstates T || [ $? = 1 ]"), PATIENCE_S, "its processes go on")
    finish(job)


def test_a_process_stays_on_a_gpu() -> None:
    job = held()
    with ghost(NODE):
        finish(job)
        assert "repair that cause" in named("gate")


def test_a_prolog_fails(lab: Lab) -> None:
    ssh(NODE, f"printf '#!/bin/sh\\nexit 1\\n' > {PROLOG}; chmod 755 {PROLOG}")
    job = stack.quiet(f"-N1 -w {NODE}")
    step = named("script")
    ssh(NODE, f"rm {PROLOG}")
    ssh("ctl", f"scancel {job}")
    follow(lab, step)


def test_it_is_held_for_a_job_that_is_nowhere() -> None:
    stack.move(stack.glass(), NODE, "vision.999999")
    until(lambda: words() & {"held", "dirty"}, PATIENCE_S, "status names it")


def test_it_loses_its_power() -> None:
    stack.lab("power-cut", NODE)
    named("not ready")
    stack.lab("up", NODE)


def test_a_maintenance_fails(lab: Lab, tmp_path: Path) -> None:
    tasks = tmp_path / "tasks.yml"
    tasks.write_text("- name: Fail\n  ansible.builtin.command: 'false'\n  changed_when: false\n")
    options = ("-e", f"rolling_nodes={NODE}", "-e", f"rolling_maintenance=steps-{time.time():.0f}")
    options += ("-e", f"rolling_maintenance_tasks={tasks}")
    assert lab.playbook("rolling", *options).code
    assert "run rolling.yml again with the same -e rolling_maintenance" in named("maintenance")
    tasks.write_text("- name: Pass\n  ansible.builtin.command: 'true'\n  changed_when: false\n")
    done = lab.playbook("rolling", *options)
    assert done.code == 0, done.output


def test_a_node_waits_for_its_installation(lab: Lab) -> None:
    """Its host key is the old one, as if the installation was put off."""
    ssh("ctl", f"{DRAIN}'drawbridge: is installed again'")
    assert "run rejoin.yml with its new fingerprint" in named("reinstalling")
    key = ssh(NODE, "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub").split()[1]
    done = lab.playbook("rejoin", "-e", f"rejoin_nodes={NODE}", "-e", json.dumps({"rejoin_fingerprints": {NODE: key}}))
    assert done.code == 0, done.output
