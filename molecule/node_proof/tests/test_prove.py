# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Proofs of a site whose nodes need passports. The tests build on each other in their order."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.hosts.paths import REPOSITORY, Paths
from tests.running import Lab, Run

OWN = REPOSITORY / "molecule/node_proof/inventory"
NODES = ["gpu01", "gpu02", "gpu03", "gpu04"]
PROVE = "/usr/local/sbin/drawbridge-prove"
STATE = "/var/lib/drawbridge/proof"
LONG_S = 900
"""A proof takes a minute on a quiet machine."""


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    found = Lab(Paths.of(), ("inventories/lab", str(OWN)), ssh_s=LONG_S)
    # the next patrol is an hour away; prepare.yml has kept it from starting before
    found.ssh("ctl", f"date -u -Iseconds > {STATE}/patrol")
    yield found
    plant("--clear")


def plant(*words: str) -> None:
    subprocess.run([sys.executable, "lab/lab", "plant", *words], cwd=REPOSITORY, check=True, capture_output=True)


def reasons(lab: Lab) -> dict[str, str]:
    """Drain reasons by node."""
    lines = lab.ssh("ctl", "sinfo --noheader --Node --format='%N|%t|%E'").splitlines()
    return {node: why for node, state, why in (line.split("|") for line in lines) if "drain" in state}


def result(lab: Lab) -> dict[str, Any]:
    """The newest result on the controller."""
    return json.loads(lab.ssh("ctl", f"cat $(ls {STATE}/results/*.json | tail -1)"))


def faults(lab: Lab) -> list[tuple[str, str, tuple[str, ...], tuple[int, ...]]]:
    found = [it for it in result(lab)["findings"] if not it["warning"]]
    return sorted((it["check"], it["kind"], tuple(it["nodes"]), tuple(it["rails"])) for it in found)


def prove(lab: Lab, *arguments: str) -> Run:
    return lab.playbook("prove", *arguments)


def look(lab: Lab, node: str) -> str:
    return lab.ssh(node, "drawbridge-passport look || true").strip()


def test_nodes_wait_for_their_first_proof(lab: Lab) -> None:
    assert all(why.startswith("drawbridge: health: 60-passport: it has no passport") for why in reasons(lab).values())
    assert sorted(reasons(lab)) == NODES
    assert {look(lab, node) for node in NODES} == {"it has no passport"}


def test_a_sound_site_is_proved_and_its_nodes_take_jobs(lab: Lab, tmp_path: Path) -> None:
    run = prove(lab, "-e", f"prove_report={tmp_path}")
    assert run.code == 0, run.output
    assert faults(lab) == []
    assert {it["name"]: it["verdict"] for it in result(lab)["nodes"]} == dict.fromkeys(NODES, "proved")
    assert reasons(lab) == {}
    assert {look(lab, node) for node in NODES} == {""}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["proof.html", "proof.json", "proof.txt", "proof.xml"]
    assert lab.ssh("ctl", "scontrol show reservation -o").strip() == "No reservations in the system"
    assert [lab.ssh(node, "ls /run/*.pyz /tmp/drawbridge-proof-* 2>/dev/null || true") for node in NODES] == [""] * 4


def test_two_faults_at_once_are_named_and_their_nodes_are_drained(lab: Lab) -> None:
    plant("gpu02", "slow-cable", "rail3", "60")
    plant("gpu03", "throttled-gpu", "2", "70")
    run = prove(lab)
    assert run.code == 2, run.output
    assert [it for it in faults(lab) if it[0] == "fabric"] == [("fabric", "cable", ("gpu02",), (3,))]
    assert {it[2] for it in faults(lab)} == {("gpu02",), ("gpu03",)}
    assert any("GPU 2" in it["text"] for it in result(lab)["findings"] if it["nodes"] == ["gpu03"])
    why = reasons(lab)
    assert sorted(why) == ["gpu02", "gpu03"]
    assert all(it.startswith("drawbridge: proof: gpu0") for it in why.values())
    assert "rail3" in why["gpu02"]


def test_a_repaired_node_comes_back_with_its_proof_alone(lab: Lab) -> None:
    plant("--clear")
    lab.ssh("gpu01", "scontrol update nodename=gpu01 state=drain reason='fan broken'")
    run = prove(lab, "-e", "prove_nodes=gpu[01-03]")
    # gpu01 is a person's
    assert run.code == 2, run.output
    verdicts = {it["name"]: (it["verdict"], it["why"]) for it in result(lab)["nodes"]}
    assert verdicts["gpu01"] == ("skipped", ["it is drained with the reason: fan broken"])
    assert {verdicts["gpu02"][0], verdicts["gpu03"][0]} == {"proved"}
    assert reasons(lab) == {"gpu01": "fan broken"}
    lab.ssh("ctl", "scontrol update nodename=gpu01 state=resume")


def test_a_changed_passport_or_cable_drains_the_node(lab: Lab) -> None:
    lab.ssh("gpu04", 'sed -i \'s/"kernel":"/"kernel":"other-/\' /var/lib/drawbridge/passport')
    assert look(lab, "gpu04") == "its passport is not signed by the controller"
    lab.ssh("gpu04", "SLURMD_NODENAME=gpu04 /usr/local/libexec/drawbridge/slurm-health")
    assert reasons(lab)["gpu04"].startswith("drawbridge: health: 60-passport: its passport is not signed")
    assert lab.playbook("slurm").code == 0
    assert "gpu04" in reasons(lab), "a run lifted the drain"


def test_after_a_kill_nothing_is_left_and_the_next_run_goes_on(lab: Lab) -> None:
    lab.ssh("ctl", f"rm -f {STATE}/run.json")  # of the proof before
    lab.ssh("ctl", f"systemd-run --unit=prove-once --collect {PROVE} run --nodes gpu04,gpu03")

    def measures() -> bool:
        return json.loads(lab.ssh("ctl", f"cat {STATE}/run.json || echo '{{}}'")).get("stages", []) != []

    lab.wait("the first stage of the proof", measures, LONG_S)
    lab.ssh("ctl", "systemctl kill --signal=KILL prove-once")
    assert "gpu04" not in reasons(lab)
    lab.ssh("ctl", "systemctl start drawbridge-prove.service")
    assert "gpu04" in reasons(lab)
    assert lab.ssh("ctl", "scontrol show reservation -o").strip() == "No reservations in the system"
    assert lab.ssh("ctl", "squeue --all --noheader --name=drawbridge-proof").strip() == ""
    told = lab.ssh("ctl", f"{PROVE} run --nodes gpu04,gpu03 2>&1 >/dev/null")
    assert "going on with the proof of" in told
    assert "state of nodes" not in told
    assert reasons(lab) == {}


def test_a_patrol_yields_to_a_job(lab: Lab) -> None:
    lab.ssh("ctl", f"rm -f {STATE}/patrol")
    lab.ssh("ctl", "systemctl start --no-block drawbridge-prove.service")
    lab.wait(
        "a job of the patrol",
        lambda: lab.ssh("ctl", "squeue --all --noheader --name=drawbridge-proof --states=R").strip(),
        LONG_S,
    )
    job = lab.ssh(
        "login1", "sudo -u ada sbatch --parsable -p hpc -N4 --exclusive --chdir=/tmp --wrap 'sleep 1'"
    ).strip()
    lab.wait("the end of the job", lambda: "COMPLETED" in lab.ssh("ctl", f"sacct -nXPj {job} -o state"), LONG_S)
    lab.wait(
        "the end of the patrol",
        lambda: "active" not in lab.ssh("ctl", "systemctl is-active drawbridge-prove.service || true").split(),
        LONG_S,
    )
    assert reasons(lab) == {}
