# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The role from nothing to a driver and back, with the rights of a run. tests/lab has the module's own cases."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.api.kubeconfig import Ask

from lab.hosts.paths import REPOSITORY, Paths
from tests.administrator import administrator
from tests.attacks.client import path_of
from tests.attacks.conftest import STILL
from tests.attacks.manifests import DRIVER, rendered
from tests.attacks.scene import RIGHTS
from tests.scale_operator import ScaleOperator
from tests.unit.module_utils.storage.gpfs.csi.server import CREDENTIALS, CSI, PASSWORD, view, written

PLAYBOOK = str(Path(sys.executable).with_name("ansible-playbook"))
# Molecule asks for colours, and has a configuration of its own.
PLAIN = {**os.environ, "ANSIBLE_FORCE_COLOR": "0", "ANSIBLE_NOCOLOR": "1", "ANSIBLE_CONFIG": "ansible.cfg"}
PLAIN["ANSIBLE_STDOUT_CALLBACK"] = "ansible.posix.json"
Json = dict[str, Any]
NODES = ("infra1", "infra2")


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """The administrator, who gave the run its rights. No controller disturbs the play."""
    subprocess.check_call(["ssh", "-F", str(Paths.of().ssh_config), "ctl", STILL], timeout=60)
    found = administrator()
    nodes = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}} for name in NODES]
    fence = [it for it in rendered() if it["metadata"]["name"] == "drawbridge-installer"]
    for body in (*RIGHTS, *fence, *nodes):
        status, answer = found("APPLY", f"{path_of(body)}?fieldManager=test&force=true", body)
        assert status < 300, answer
    with ScaleOperator(administrator(), PASSWORD):
        yield found


def run(driver: Json, *options: str) -> Json:
    """The result of one run of the role."""
    argv = [PLAYBOOK, "-i", "inventories/lab", "molecule/gpfs_csi/converge.yml", *options]
    extra = ["--extra-vars", json.dumps({"driver": driver})]
    done = subprocess.run([*argv, *extra], capture_output=True, text=True, check=False, cwd=REPOSITORY, env=PLAIN)
    assert PASSWORD not in done.stdout
    found = json.loads(done.stdout)
    [result] = [
        task["hosts"]["ctl"]
        for play in found["plays"]
        for task in play["tasks"]
        if "ctl" in task["hosts"] and task["task"]["name"].endswith("Run IBM's driver of Storage Scale")
    ]
    return result


def test_a_site_gets_the_driver_and_loses_it(ask: Ask, tmp_path: Path) -> None:
    wanted = view({**CSI, "classes": DRIVER["classes"]})
    file = written(tmp_path)
    given = {**wanted, "infra": [*NODES], "manifest": {"source": "", "digest": file["digest"]}}
    driver = {"view": given, "manifest": file["source"], "mounted": [*NODES], "credentials": CREDENTIALS}
    predicted = run(driver, "--check")
    done = run(driver)
    assert not done.get("failed"), done
    assert done["steps"] == predicted["steps"] != []
    assert run(driver)["changed"] is False
    gone = run({})
    assert not gone.get("failed") and gone["steps"], gone
    assert ask("GET", "/apis/storage.k8s.io/v1/storageclasses/fast", None)[0] == 404


def test_without_credentials_the_role_names_the_variable(ask: Ask, tmp_path: Path) -> None:
    file = written(tmp_path)
    given = {**view(), "infra": [*NODES], "manifest": {"source": "", "digest": file["digest"]}}
    failed = run({"view": given, "manifest": file["source"], "mounted": [*NODES]})
    assert failed["failed"] and "gpfs_csi_credentials.cluster has no username and no password" in failed["msg"]
