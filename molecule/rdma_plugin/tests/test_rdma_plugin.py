# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The plugin's objects as the API server has them, and what becomes of edits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.filter.view import view
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.api.kubeconfig import Ask

from lab.hosts.paths import REPOSITORY
from tests import installer
from tests.administrator import administrator
from tests.unit.module_utils.site.test_installer_grants import of

PLAYBOOK = str(Path(sys.executable).with_name("ansible-playbook"))
# Molecule asks for colours, and has a configuration of its own.
PLAIN = {**os.environ, "ANSIBLE_FORCE_COLOR": "0", "ANSIBLE_NOCOLOR": "1", "ANSIBLE_CONFIG": "ansible.cfg"}
PLAIN["ANSIBLE_STDOUT_CALLBACK"] = "ansible.posix.json"
SITE = REPOSITORY / "inventories/example-rails/group_vars/all"
Json = dict[str, Any]
NAME = "drawbridge-rdma-plugin"
SETTINGS = f"/api/v1/namespaces/kube-system/configmaps/{NAME}"
DAEMON_SET = f"/apis/apps/v1/namespaces/kube-system/daemonsets/{NAME}"


@pytest.fixture(scope="module")
def ask() -> Ask:
    return administrator()


def run(*options: str) -> list[Json]:
    """Differences of one run of the role."""
    argv = [PLAYBOOK, "-i", "inventories/lab", "molecule/rdma_plugin/converge.yml", *options]
    done = subprocess.run([*argv, "--diff"], capture_output=True, text=True, check=False, cwd=REPOSITORY, env=PLAIN)
    found = json.loads(done.stdout)
    assert not found["stats"]["ctl"]["failures"], done.stdout
    results = [task["hosts"]["ctl"] for play in found["plays"] for task in play["tasks"] if "ctl" in task["hosts"]]
    return [item["diff"] for result in results for item in result.get("results", []) if item["changed"]]


def test_the_plugins_configuration_is_what_it_reads(ask: Ask) -> None:
    config = json.loads(ask("GET", SETTINGS, None)[1]["data"]["config.json"])
    assert [entry["resourceName"] for entry in config["configList"]] == [f"rail{rail}" for rail in range(8)]
    assert config["configList"][0]["selectors"]["deviceIDs"] == ["1021"]


def test_the_api_server_knows_every_field(ask: Ask) -> None:
    nodes, kube = (yaml.safe_load((SITE / f"{it}.yml").read_text())[f"drawbridge_{it}"] for it in ("nodes", "kube"))
    items = view({"drawbridge_nodes": nodes, "drawbridge_kube": {**kube, "rdma": {}}}, "rdma_plugin")
    for item, path in zip(items, (SETTINGS, DAEMON_SET), strict=True):
        status, answer = ask("APPLY", f"{path}?fieldManager=test&force=true&fieldValidation=Strict&dryRun=All", item)
        assert status == 200, answer


EDITS = {
    SETTINGS: {"data": {"config.json": "{}"}},
    DAEMON_SET: {"spec": {"template": {"spec": {"tolerations": []}}}},
}


def test_hand_edits_are_drift_and_what_others_add_stays(ask: Ask) -> None:
    def owned() -> list[Any]:
        settings, daemon_set = (ask("GET", path, None)[1] for path in EDITS)
        assert {found["metadata"]["labels"]["team"] for found in (settings, daemon_set)} == {"a"}
        return [settings["data"], daemon_set["spec"]["template"]["spec"].get("tolerations")]

    for path in EDITS:
        assert ask("PATCH", path, {"metadata": {"labels": {"team": "a"}}})[0] == 200
    before = owned()
    assert run() == []
    for path, edit in EDITS.items():
        assert ask("PATCH", path, edit)[0] == 200
    edited = owned()
    assert all(was != now for was, now in zip(before, edited, strict=True))
    predicted = run("--check")
    assert len(predicted) == 2 and owned() == edited
    assert run() == predicted and owned() == before


def test_a_run_has_the_rights_that_it_uses_and_no_others() -> None:
    found = installer.events()
    assert installer.refused(found) == []
    assert installer.unused(of({"rdma": {}})["rdma_plugin"], found) == []
