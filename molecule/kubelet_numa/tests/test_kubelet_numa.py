# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The node as the API server sees it, and what the real kubelet says to wrong numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client, config

from lab.hosts.paths import REPOSITORY, Paths

PATHS = Paths.of()
ANSIBLE = str(Path(sys.executable).with_name("ansible"))
# Molecule asks for colours, and has a configuration of its own.
PLAIN = {**os.environ, "ANSIBLE_FORCE_COLOR": "0", "ANSIBLE_NOCOLOR": "1", "ANSIBLE_CONFIG": "ansible.cfg"}
CA_FILE = "/etc/kubernetes/pki/ca.crt"
MODULE = "drawbridge.drawbridge.kubelet_drop_in"
"""The host's half: the controller would not let the wrong numbers pass."""
DROP_IN = "/etc/kubernetes/kubelet.conf.d/50-drawbridge.conf"


def run(*command: str) -> str:
    argv = ["ssh", "-F", str(PATHS.ssh_config), "gpu01", *command]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def converge(configuration: dict[str, Any], *options: str) -> dict[str, Any]:
    """Run the module with another configuration, as the role would."""
    server = {"api_server": yaml.safe_load(PATHS.kubeconfig.read_text())["clusters"][0]["cluster"]["server"]}
    given = {"slurm_node": "gpu01", "config": configuration, "start_timeout_s": 10, **server, "ca_file": CA_FILE}
    argv = [ANSIBLE, "gpu01", "-i", "inventories/lab", "-m", MODULE, "-a", json.dumps(given)]
    done = subprocess.run([*argv, *options], capture_output=True, text=True, check=False, cwd=REPOSITORY, env=PLAIN)
    return yaml.safe_load(done.stdout[done.stdout.index("=>") + 2 :])


@pytest.fixture(scope="module")
def node() -> Any:
    api = client.CoreV1Api(config.new_client_from_config(str(PATHS.kubeconfig)))
    return api.read_node("gpu01")


def test_the_node_is_ready_and_was_born_closed(node: Any) -> None:
    assert {entry.type: entry.status for entry in node.status.conditions}["Ready"] == "True"
    assert [(taint.key, taint.value, taint.effect) for taint in node.spec.taints] == [
        ("drawbridge.io/slurm", "closed", "NoSchedule")
    ]


def test_pods_get_what_slurms_jobs_would_get(node: Any) -> None:
    assert node.status.allocatable["cpu"] == "120"
    assert node.status.allocatable["memory"] == f"{(2064384 - 12288) // 1024}Gi"
    assert node.status.allocatable["nvidia.com/gpu"] == "8"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"reservedMemory": [{"numaNode": 0, "limits": {"memory": "4Gi"}}]}, "Node Allocatable"),
        ({"reservedSystemCPUs": "0-3,200"}, "not a subset of online-cpus"),
    ],
)
def test_numbers_that_the_kubelet_dies_of_are_taken_back(change: dict[str, Any], said: str) -> None:
    before = run("cat", DROP_IN)
    right = {key: value for key, value in yaml.safe_load(before).items() if key not in ("apiVersion", "kind")}
    result = converge({**right, **change})
    assert said in result["msg"]
    assert "it runs with its old configuration again" in result["msg"]
    assert run("cat", DROP_IN) == before
    assert run("systemctl", "is-active", "kubelet.service") == "active\n"
