# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""On demand, on the hosts of this scenario: a node gets other cables, one of them wrong; a job runs elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.running import Lab, Run

from .test_rails import OWN, STORES, UNIT, lab, ports

__all__ = ["lab"]

NODE = "gpu02"
OLD, NEW = "Ethernet2", "Ethernet5"
CABLES = "/etc/lab/cables.json"
WRONG = {"rail3": ["leaf4", "Ethernet6"]}
JOB = "#!/bin/sh\nsleep 1200\n"


@pytest.fixture
def moved(tmp_path: Path) -> Path:
    """The inventory with other ports for the node."""
    intent = yaml.safe_load((OWN / "group_vars/all/rails.yml").read_text())
    intent["drawbridge_fabric"]["switches"][0]["ports"] = "Ethernet1,Ethernet5,Ethernet9-10"
    cables = intent["drawbridge_fabric"]["cabling"]["nodes"]
    cables[0] = {"switches": "leaf[1-8]", "ports": "Ethernet1", "nodes": "gpu01"}
    cables.append({"switches": "leaf[1-8]", "ports": NEW, "nodes": NODE})
    (tmp_path / "group_vars").mkdir()
    (tmp_path / "hosts.yml").write_text(json.dumps({"all": {}}))
    (tmp_path / "group_vars/all.yml").write_text(json.dumps(intent))
    return tmp_path


def plug(lab: Lab, wrong: Mapping[str, list[str]]) -> None:
    """Move the node's rails to their new ports, some to a wrong one."""
    cables = json.loads(lab.ssh(NODE, f"cat {CABLES}"))
    ends = {name: [switch, NEW if port == OLD else port] for name, (switch, port) in cables.items()}
    right = {name: [switch, NEW] for name, (switch, _) in ends.items() if name.startswith("rail")}
    lab.ssh(NODE, f"cat > {CABLES}", stdin=json.dumps({**ends, **right, **wrong}))


def contacted(lab: Lab, run: Run, known: Mapping[str, int]) -> set[str]:
    """Nodes that a run has visited, and switches that have noted a connection since."""
    noted = {Path(file): calls for file, calls in lab.journals(known).items() if "/switches/" in file}
    switches = {file.parent.name for file, calls in noted.items() if any(it.get("event") == "connect" for it in calls)}
    return switches | {host for _, host, _ in run.results() if host.startswith("gpu")}


def test_a_wrong_cable_is_named_and_the_job_goes_on(lab: Lab, moved: Path, tmp_path: Path) -> None:
    words = "sbatch --parsable -p hpc -w gpu03 --chdir=/tmp --output=/dev/null"
    job = lab.ssh("login1", f"runuser -u ada -- {words}", stdin=JOB).strip()
    lab.wait("the job runs", lambda: lab.ssh("login1", f"squeue -h -j {job} -o %T").strip() == "RUNNING")
    lab.ssh("ctl", f"scontrol update nodename={NODE} state=drain reason='other cables'")
    before = {switch: ports(lab, switch) for switch in UNIT | STORES}
    report = tmp_path / "report.json"
    looks = ("-i", str(moved), "--limit", NODE, "-e", f"preflight_report={report}")

    plug(lab, WRONG)
    known = {file: len(calls) for file, calls in lab.journals().items()}
    wrong = lab.playbook("preflight", *looks)
    assert wrong.code == 2, wrong.output
    assert "rail3" in str(wrong.results())
    assert "leaf4 Ethernet6" in str(wrong.results())
    assert contacted(lab, wrong, known) == {NODE}
    plug(lab, {})
    right = lab.playbook("preflight", *looks)
    assert right.code == 0, report.read_text()

    known = {file: len(calls) for file, calls in lab.journals().items()}
    made = lab.playbook("onboard", "-i", str(moved), "-e", f"onboard_nodes={NODE}")
    assert made.code == 0, made.output
    assert {NODE} <= contacted(lab, made, known) <= UNIT | STORES | {NODE}
    differ = {
        switch: {name for name, section in ports(lab, switch).items() if section != before[switch].get(name)}
        for switch in UNIT | STORES
    }
    assert differ == {**{leaf: {f"interface {NEW}"} for leaf in UNIT}, **{store: set() for store in STORES}}
    assert lab.ssh("login1", f"squeue -h -j {job} -o %T").strip() == "RUNNING"
    lab.ssh("login1", f"runuser -u ada -- scancel {job}")
    lab.ssh("ctl", f"scontrol update nodename={NODE} state=resume")
