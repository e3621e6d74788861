# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`drawbridge status` at every state of the gate, on real Slurm and a real API server; its next steps work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import V1Taint

from lab import demo
from lab.hosts.paths import REPOSITORY
from roles.slurm_gate.files.gate.gate_names import TAINT
from tests import stack
from tests.stack import PATHS, PATIENT, all_usable, api_down, finish, ghost, job_state, kube, patient, quiet, ssh, until

NODES = ("gpu01", "gpu02")
ADMIN = "/run/status.kubeconfig"
REPORT = {
    "version": 1,
    "check": False,
    "playbook": "site.yml",
    "started": "2026-11-25T02:00:00+00:00",
    "names": "gpu[01-02]",
    "findings": [{"kind": "pending", "hosts": "gpu02", "text": "restart mmfsd: a job runs"}],
}


@pytest.fixture(scope="module", autouse=True)
def administrator() -> Iterator[None]:
    """A kubeconfig on the controller, and a gate that does not wait long."""
    ssh("ctl", f"umask 077; cat > {ADMIN}", PATHS.kubeconfig.read_text())
    with stack.impatient(NODES):
        yield
    ssh("ctl", f"rm {ADMIN}")


@pytest.fixture(autouse=True)
def usable_before() -> None:
    until(lambda: all_usable(NODES), 180, "both nodes closed and in service")


def call(words: str, user: str = "root") -> tuple[int, str]:
    """Exit code and output of a call on the controller."""
    argv = demo.ssh(PATHS, "ctl", f"cd /; runuser -u {user} -- drawbridge status {words}")
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=300)
    return done.returncode, done.stdout + done.stderr


def status(node: str) -> dict[str, Any]:
    """One node in the JSON that an administrator gets."""
    code, said = call(f"--json --kubeconfig {ADMIN} {node}")
    document = json.loads(said)
    assert code == document["level"]
    (found,) = document["nodes"]
    return found


def shown(node: str) -> tuple[str, str, str, int]:
    """State, gate, owner and level."""
    found = status(node)
    return found["state"], found["gate"], found["owner"], found["level"]


def test_closed() -> None:
    assert shown("gpu01") == ("ready", "closed", "", 0)
    assert status("gpu01")["actors"] == []


def test_held_and_dirty() -> None:
    job = quiet("-N1 -w gpu01", PATIENT)
    until(lambda: patient(job, "gpu01"), 180, "the job's script runs")
    assert shown("gpu01") == ("held", "held", f"vision.{job}", 0)
    assert f"only pods of job {job} of ada may run here" in status("gpu01")["findings"][0]["cause"]
    with ghost("gpu01") as pid:
        finish(job)
        until(lambda: shown("gpu01") == ("gate", "dirty", f"dirty_vision.{job}", 2), 180, "dirty and drained")
        assert f"process {pid} (python3) uses a GPU: end it" in status("gpu01")["findings"][0]["cause"]
    until(lambda: shown("gpu01") == ("ready", "closed", "", 0), 180, "the gate lifted its drain, as the step says")


def test_drained_by_a_person_and_resumed_by_the_step_that_status_prints() -> None:
    ssh("ctl", "scontrol update nodename=gpu02 state=drain reason='new fan'")
    found = status("gpu02")
    assert (found["state"], found["gate"], found["level"]) == ("drained", "closed", 1)
    assert [(actor["what"], actor["who"]) for actor in found["actors"]] == [("drain in Slurm (new fan)", "root")]
    assert found["findings"][0]["cause"] == "root drained it (new fan), and no job runs on it"
    ssh("ctl", found["findings"][0]["step"].partition("then: ")[2])
    until(lambda: shown("gpu02") == ("ready", "closed", "", 0), 120, "slurmd answered after the resume")


def test_cordoned_and_uncordoned_by_the_step() -> None:
    ssh("ctl", f"KUBECONFIG={ADMIN} kubectl cordon gpu02")
    found = status("gpu02")
    assert (found["state"], found["level"]) == ("cordoned", 1)
    # a drain that has ended stays in the history
    assert ("cordon", "kubectl") in [(actor["what"], actor["who"]) for actor in found["actors"]]
    ssh("ctl", f"KUBECONFIG={ADMIN} {found['findings'][0]['step'].partition('then: ')[2]}")
    assert shown("gpu02") == ("ready", "closed", "", 0)


def test_foreign() -> None:
    stack.move(stack.glass(), "gpu02", "mine")
    try:
        assert shown("gpu02") == ("foreign", "foreign", "", 2)
        assert "taints" in [actor["what"] for actor in status("gpu02")["actors"]]
    finally:
        stack.move(stack.glass(), "gpu02", "closed")


def test_open() -> None:
    """A person in an emergency takes the taint away; the gate drains the node meanwhile."""
    taints = kube().read_node("gpu02").spec.taints
    stack.glass().patch_node("gpu02", {"spec": {"taints": [taint for taint in taints if taint.key != TAINT] or None}})
    try:
        until(lambda: shown("gpu02") == ("open", "open", "", 2), 60, "open")
    finally:
        closed = V1Taint(effect="NoSchedule", key=TAINT, value="closed")
        stack.glass().patch_node("gpu02", {"spec": {"taints": [closed]}})


def test_a_user_without_a_kubeconfig_sees_slurms_side_and_why() -> None:
    code, said = call("gpu[01-02]", user="ada")
    assert code == 0, said
    assert said.startswith("2 nodes: 2 ready.\nNote: you have no kubeconfig, so only Slurm's side is shown\n")


def test_no_answer_is_said_and_has_its_exit_code() -> None:
    with api_down():
        code, said = call(f"--kubeconfig {ADMIN} gpu01")
    assert code == 3 and "Note: Kubernetes did not answer (" in said, said


def copy_reports(folder: Path) -> subprocess.CompletedProcess[str]:
    """playbooks/reports.yml, after runs whose reports are in the folder."""
    argv = [str(Path(sys.executable).parent / "ansible-playbook"), "-i", "inventories/lab", "playbooks/reports.yml"]
    env = {**os.environ, "DRAWBRIDGE_REPORT_FOLDER": str(folder), "ANSIBLE_FORCE_COLOR": "0"}
    return subprocess.run(
        [*argv, "--limit", "ctl,login1,localhost"], cwd=REPOSITORY, env=env, capture_output=True, text=True, check=False
    )


def test_pending_changes_come_from_the_reports_of_runs_elsewhere(tmp_path: Path) -> None:
    refused = copy_reports(tmp_path)
    assert "drawbridge_status_kept is" in refused.stderr + refused.stdout
    (tmp_path / "2026-11-25T020000+0000-site.yml.json").write_text(json.dumps(REPORT))
    try:
        copied = copy_reports(tmp_path)
        assert copied.returncode == 0, copied.stdout + copied.stderr
        code, said = call(f"--kubeconfig {ADMIN} gpu02")
        assert code == 1
        assert "pending: a change waits since site.yml of 2026-11-25T02:00:00+00:00: restart mmfsd: a job runs." in said
        assert call(f"--kubeconfig {ADMIN} gpu01")[0] == 0
        on_login = ssh("login1", "runuser -u ada -- drawbridge status gpu02 || true")
        assert "restart mmfsd: a job runs" in on_login
    finally:
        ssh("ctl", "rm -f /var/lib/drawbridge/reports/runs.json")


def test_filters_and_a_wrong_unit() -> None:
    assert [node["name"] for node in json.loads(call("--json --unit leaf1")[1])["nodes"]] == list(NODES)
    assert json.loads(call("--json --partition none")[1])["nodes"] == []
    assert "no unit has this name (units: leaf1, leaf2)" in call("--unit leaf9")[1]


def test_a_job_that_waits_is_named() -> None:
    """The gate can't open without the API server; its user reads why without any right in Kubernetes."""
    with api_down():
        job = quiet("-N1 -w gpu01", PATIENT)
        until(lambda: f"job {job} waits for the gate: " in call("", user="ada")[1], 180, "ada reads why")
    ssh("ctl", f"scancel {job}")
    until(lambda: job_state(job) == "CANCELLED", 120, "cancelled")
