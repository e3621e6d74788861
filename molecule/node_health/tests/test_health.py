# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Findings of real nodes and what Slurm's controller does about them. Each test leaves all nodes in service."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab.hosts.paths import Paths

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
    tend,
)


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    found = Lab(Paths.of(), ("inventories/lab", str(OWN)))
    # the tests say when the controller looks: between reports of two nodes it would decide about the first alone
    found.ssh("ctl", "systemctl stop drawbridge-health.timer")
    yield found
    plant("--clear")


@pytest.fixture(autouse=True)
def in_service(lab: Lab) -> Iterator[None]:
    """Each test begins and ends with four nodes that take jobs, and no breaker open."""
    yield
    plant("--clear")
    for node in NODES:
        lab.ssh(node, "ip link set rail3 up; rm -f /dev/shm/left")
    look(lab)
    lab.ssh("ctl", "drawbridge-health close || true")
    for node, why in reasons(lab).items():
        lab.ssh("ctl", f"scontrol update nodename={node} state=resume", check=why.startswith("drawbridge"))
    tend(lab)
    lab.wait("four nodes in service", lambda: not reasons(lab), LONG_S)


def test_a_sound_site_has_no_finding(lab: Lab) -> None:
    look(lab)
    tend(lab)
    assert reasons(lab) == {}
    assert {node: comment(lab, node) for node in NODES} == dict.fromkeys(NODES, "")
    assert lab.ssh("ctl", "drawbridge-health show; echo code $?").splitlines()[-1] == "code 0"


FAULTS = {
    "rail": ("ip link set rail3 down", (), "[fabric] rail3: rail link: "),
    "links": ("", ("nvlinks-down", "2", "6"), "GPU 2: GPU link state: "),
    "pcie": ("", ("slow-gpu-pcie", "5", "4"), "GPU 5: GPU PCIe: "),
    "space": ("fallocate -l $(df --output=avail -B1 /dev/shm | tail -1) /dev/shm/left", (), "[user] /dev/shm: "),
    "power": ("", ("xid", "1", "54"), "[node repair] GPU 1: GPU faults in the log: Xid 54"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_and_drains_its_node_alone(lab: Lab, fault: str) -> None:
    command, words, text = FAULTS[fault]
    lab.ssh("gpu02", command or "true")
    if words:
        plant("gpu02", *words)
    look(lab)
    assert text in comment(lab, "gpu02"), comment(lab, "gpu02")
    tend(lab)
    why = reasons(lab)
    assert sorted(why) == ["gpu02"]
    assert why["gpu02"].startswith(f"{HEALTH}{text}"), why


def test_a_drain_ends_with_its_finding_alone(lab: Lab) -> None:
    lab.ssh("gpu01", "ip link set rail3 down")
    plant("gpu04", "xid", "1", "54")
    lab.ssh("ctl", "scontrol update nodename=gpu03 state=drain reason='fan broken'")
    look(lab)
    tend(lab)
    # a person's drain keeps its reason
    assert sorted(reasons(lab)) == ["gpu01", "gpu03", "gpu04"]
    lab.ssh("gpu01", "ip link set rail3 up")
    plant("--clear")
    look(lab)
    # the link changed often, which only the look after it finds
    look(lab)
    tend(lab)
    assert sorted(reasons(lab)) == ["gpu03", "gpu04"]
    assert reasons(lab)["gpu03"] == "fan broken"
    assert "gpu04" in lab.ssh("ctl", "drawbridge-health lift gpu04")
    assert sorted(reasons(lab)) == ["gpu03"]


def test_the_breaker_keeps_nodes_in_service_until_a_person_closes_it(lab: Lab) -> None:
    for node in NODES[:2]:
        lab.ssh(node, "ip link set rail3 down")
    look(lab)
    tend(lab)
    assert reasons(lab) == {}
    assert [node for node in NODES if "{kept: breaker leaf1 is open}" in comment(lab, node)] == ["gpu01", "gpu02"]
    assert lab.ssh("ctl", "drawbridge-health show; echo code $?").splitlines()[-1] == "code 2"
    # a kept node takes jobs: its prolog has the answer
    assert lab.ssh("login1", "sudo -u ada srun -p hpc -w gpu01 --chdir=/tmp true; echo code $?").split()[-2:] == [
        "code",
        "0",
    ]
    assert reasons(lab) == {}
    lab.ssh("gpu02", "ip link set rail3 up")
    look(lab)
    # the link has changed often, which only the look after it finds no more
    look(lab)
    tend(lab)
    assert reasons(lab) == {}
    lab.ssh("ctl", "drawbridge-health close")
    tend(lab)
    assert sorted(reasons(lab)) == ["gpu01"]
    assert [comment(lab, node) for node in NODES[1:]] == [""] * 3


def test_a_job_does_not_begin_on_a_node_whose_rail_has_just_died(lab: Lab) -> None:
    lab.ssh("gpu01", "ip link set rail3 down")
    words = "sudo -u ada sbatch --parsable -p hpc -N1 -w gpu01 --chdir=/tmp --wrap true"
    job = lab.ssh("login1", words).strip()
    lab.wait("its node is drained", lambda: reasons(lab).get("gpu01", "").startswith(HEALTH), LONG_S)
    assert "rail3: rail link" in reasons(lab)["gpu01"]
    lab.wait("the job waits", lambda: "PENDING" in lab.ssh("ctl", f"squeue -h -j {job} -o %T"), LONG_S)
    lab.ssh("gpu01", "ip link set rail3 up")

    def ended() -> bool:
        # the first look finds that the link has changed often
        look(lab, "gpu01")
        tend(lab)
        return "COMPLETED" in lab.ssh("ctl", f"sacct -nXPj {job} -o state")

    lab.wait("the job ends", ended, LONG_S)


def test_a_node_is_rebooted_once_under_a_queue_of_jobs(lab: Lab) -> None:
    says_when_it_boots(lab, "gpu02")
    plant("gpu02", "xid", "3", "79")
    before = boot_id(lab, "gpu02")
    array = "sudo -u ada sbatch --parsable -p hpc -N1 --exclusive --chdir=/tmp --array=1-12 --wrap 'sleep 2'"
    job = lab.ssh("login1", array).strip()
    look(lab, "gpu02")
    tend(lab)

    def rebooted() -> bool:
        tend(lab)
        return boot_id(lab, "gpu02") not in ("", before)

    lab.wait("gpu02 has booted", rebooted, LONG_S)

    def returned() -> bool:
        tend(lab)
        return not reasons(lab)

    lab.wait("gpu02 is back", returned, LONG_S)
    ended = lab.wait("all jobs end", lambda: not lab.ssh("ctl", f"squeue -h -j {job}", check=False).strip(), LONG_S)
    assert ended
    states = lab.ssh("ctl", f"sacct -nXPj {job} -o state").split()
    assert states == ["COMPLETED"] * 12
    assert "rebooted" in lab.ssh("ctl", "drawbridge-health show gpu02", check=False)
    # the same fault again needs a person
    plant("--clear")
    plant("gpu02", "xid", "3", "79")
    look(lab, "gpu02")
    tend(lab)
    tend(lab)
    assert reasons(lab)["gpu02"].startswith(f"{HEALTH}[node repair] GPU 3: GPU faults in the log: Xid 79")


def test_a_second_run_changes_nothing(lab: Lab) -> None:
    lab.ssh("ctl", "systemctl start drawbridge-health.timer")
    run = lab.playbook("slurm", "--limit", LIMIT)
    assert (run.code, run.changed()) == (0, []), run.output


def test_a_site_that_leaves_health_keeps_nothing_of_it(lab: Lab) -> None:
    lab.ssh("gpu01", "ip link set rail3 down")
    look(lab, "gpu01")
    tend(lab)
    lab.ssh("gpu01", "ip link set rail3 up")
    left = Lab(lab.paths).playbook("slurm", "--limit", LIMIT)
    assert left.code == 0, left.output
    assert {node: comment(lab, node) for node in NODES} == dict.fromkeys(NODES, "")
    files = "ls /usr/local/sbin/drawbridge-health /etc/systemd/system/drawbridge-health.* 2>/dev/null | wc -l"
    assert lab.ssh("ctl", files).strip() == "0"
    parts = "ls /etc/drawbridge/slurm/*.d/30-health /etc/drawbridge/slurm/health.d/50-state /etc/drawbridge/health.json"
    assert lab.ssh("gpu01", f"{parts} 2>/dev/null | wc -l").strip() == "0"
    look(lab, "gpu01")
    assert reasons(lab) == {}
    again = lab.playbook("slurm", "--limit", LIMIT)
    assert again.code == 0, again.output
