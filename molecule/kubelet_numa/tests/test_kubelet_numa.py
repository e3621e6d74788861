# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The node as the API server sees it, and changes of its policy that wait, are refused, or are taken back.

Those that go through are seen on the whole site, with Slurm (scenario default), and on a member of kubeadm (kube_node).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from lab.hosts.paths import REPOSITORY
from tests.running import Lab, Run
from tests.waiting import until

from .conftest import PATHS, PATIENCE_S, POLICY_FILE, send

ANSIBLE = str(Path(sys.executable).with_name("ansible"))
# Molecule asks for colours, and has a configuration of its own.
PLAIN = {**os.environ, "ANSIBLE_FORCE_COLOR": "0", "ANSIBLE_NOCOLOR": "1", "ANSIBLE_CONFIG": "ansible.cfg"}
MODULE = "drawbridge.drawbridge.kubelet_config_host"
"""The host's half: the controller would not let the wrong numbers pass."""
PLAYBOOK = "../molecule/kube_node/converge"
TAINT = "drawbridge.io/slurm"
UNTOUCHED = f"cat {POLICY_FILE}; systemctl show -P MainPID kubelet"
"""The file and the kubelet itself: a process that it has just forked has its name as well."""
TRIALS_S = (10, 120)
"""A kubelet that dies of its configuration does so in seconds, or later on a machine with much else to do."""


def kubernetes(lab: Lab, *options: str, **settings: Any) -> Run:
    """Run the playbook with settings of the site's own."""
    given = json.dumps({"kubelet_numa_settings": settings})
    return lab.playbook(PLAYBOOK, "--limit", "gpu01", "--extra-vars", given, *options)


def converge(configuration: dict[str, Any], start_s: int) -> dict[str, Any]:
    """Run the host's half with another configuration, which gets so long to run."""
    server = yaml.safe_load(PATHS.kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
    given = {"slurm_node": "gpu01", "config": configuration, "start_timeout_s": start_s, "api_server": server}
    given["ca_file"] = "/etc/kubernetes/pki/ca.crt"
    argv = [ANSIBLE, "gpu01", "-i", "inventories/lab", "-m", MODULE, "-a", json.dumps(given)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=REPOSITORY, env=PLAIN)
    return yaml.safe_load(done.stdout[done.stdout.index("=>") + 2 :])


def test_pods_get_what_slurms_jobs_would_get(api: Any) -> None:
    def with_gpus() -> Any:
        found = api.read_node("gpu01").status.allocatable
        return found if found.get("nvidia.com/gpu", "0") != "0" else None

    allocatable = until(with_gpus, PATIENCE_S, "the kubelet has taken its GPUs")
    assert allocatable["cpu"] == "120"
    assert allocatable["memory"] == f"{(2064384 - 12288) // 1024}Gi"
    assert allocatable["nvidia.com/gpu"] == "8"


def test_a_node_that_a_job_holds_waits(lab: Lab, api: Any) -> None:
    def hold(value: str) -> None:
        taints = api.read_node("gpu01").spec.taints
        place = next(number for number, taint in enumerate(taints) if taint.key == TAINT)
        same = {"op": "test", "path": f"/spec/taints/{place}/key", "value": TAINT}
        api.patch_node("gpu01", [same, {"op": "replace", "path": f"/spec/taints/{place}/value", "value": value}])

    before = send(UNTOUCHED)
    hold("vision.7")
    try:
        run = kubernetes(lab, topologyManagerPolicy="restricted")
    finally:
        hold("closed")
    assert (run.code, run.changed()) == (0, [])
    assert "the gate has not closed this node yet (drawbridge.io/slurm=vision.7)" in json.dumps(run.report)
    assert send(UNTOUCHED) == before


def test_what_no_kubelet_should_see_reaches_no_host(lab: Lab) -> None:
    run = kubernetes(lab, topologyManagerPolcy="restricted", reservedSystemCPUs="1-3")
    assert run.code != 0
    told = json.dumps(run.report)
    assert "kubelet_numa_settings.topologyManagerPolcy is" in told
    assert "CPU 0 is the other thread of a reserved core" in told


def test_numbers_that_the_kubelet_dies_of_are_taken_back() -> None:
    """All else that it dies of is in test_refused_by_the_kubelet.py."""
    change, said = {"reservedMemory": [{"numaNode": 0, "limits": {"memory": "4Gi"}}]}, "Node Allocatable"
    before = send(f"cat {POLICY_FILE}")
    right = {key: value for key, value in yaml.safe_load(before).items() if key not in ("apiVersion", "kind")}
    short_s, long_s = TRIALS_S
    result = converge({**right, **change}, short_s)
    if said not in result["msg"]:
        result = converge({**right, **change}, long_s)
    assert said in result["msg"]
    assert "it runs with its old configuration again" in result["msg"]
    assert send(f"cat {POLICY_FILE}") == before
    assert send("systemctl is-active kubelet.service") == "active\n"
