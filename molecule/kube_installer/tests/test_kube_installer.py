# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The rights of a run, with kubeconfigs that have all of them, some of them, or only the wrong ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.api.kubeconfig import Ask

from lab.hosts.paths import REPOSITORY, Paths
from lab.kubernetes import installer
from lab.kubernetes.pki import Authority
from tests.administrator import administrator

PLAYBOOK = str(Path(sys.executable).with_name("ansible-playbook"))
PLAIN = {**os.environ, "ANSIBLE_FORCE_COLOR": "0", "ANSIBLE_NOCOLOR": "1", "ANSIBLE_CONFIG": "ansible.cfg"}
PLAIN["ANSIBLE_STDOUT_CALLBACK"] = "ansible.posix.json"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles/drawbridge-installer"
GATES = "/apis/rbac.authorization.k8s.io/v1/clusterroles/drawbridge-opener"
BINDING = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/drawbridge-installer"
OPEN_NODES = "/api/v1/namespaces/drawbridge-gate/configmaps/open-nodes"
TOKENS = "/api/v1/namespaces/drawbridge-installer/serviceaccounts/installer/token"
ACTING = "--as drawbridge --as-group drawbridge:platform --as-group system:masters"
REPAIR = f"kubectl apply --server-side --force-conflicts {ACTING} -f plan/kubernetes/kube_installer.yml"
Json = dict[str, Any]


@pytest.fixture(scope="module")
def ask() -> Ask:
    return administrator()


@pytest.fixture
def restored(ask: Ask) -> Iterator[None]:
    """The administrator applies the manifest again after a test."""
    yield
    made = {it["metadata"]["name"]: it for it in installer.objects() if it["kind"] == "ClusterRole"}
    role, gates = made["drawbridge-installer"], made["drawbridge-opener"]
    (binding,) = (it for it in installer.objects() if it["kind"] == "ValidatingAdmissionPolicyBinding")
    # a list that is a set: the applied items would join those of a test, and Deny with Warn is refused
    actions = {"validationActions": binding["spec"]["validationActions"]}
    status, answer = ask("PATCH", BINDING, {"spec": actions})
    assert status == 200, answer
    for path, item in ((ROLES, role), (GATES, gates), (BINDING, binding)):
        status, answer = ask("APPLY", f"{path}?fieldManager=kubectl&force=true", item)
        assert status in (200, 201), answer


def run(kubeconfig: Path | None = None, playbook: str = "converge") -> Json:
    """The result of the role's task with this kubeconfig, or with the lab's."""
    given = ["-e", f"kube_installer_kubeconfig={kubeconfig}"] if kubeconfig else []
    argv = [PLAYBOOK, "-i", "inventories/lab", f"molecule/kube_installer/{playbook}.yml", *given]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=REPOSITORY, env=PLAIN)
    results = [task["hosts"]["ctl"] for play in json.loads(done.stdout)["plays"] for task in play["tasks"]]
    return next(it for it in results if "missing" in it or it.get("failed"))


def kubeconfig(folder: Path, user: Json) -> Path:
    """The installer's kubeconfig with another user's credentials."""
    content = yaml.safe_load(Paths.of().installer_kubeconfig.read_text())
    content["users"] = [{"name": "lab", "user": user}]
    path = folder / "kubeconfig"
    path.write_text(json.dumps(content))
    return path


def test_the_manifest_gives_all_rights() -> None:
    assert run()["missing"] == []


def test_the_accounts_token_will_do_too(ask: Ask, tmp_path: Path) -> None:
    """As `kubectl create token` makes it."""
    status, answer = ask("POST", TOKENS, {"spec": {"expirationSeconds": 3600}})
    assert status == 201, answer
    assert run(kubeconfig(tmp_path, {"token": answer["status"]["token"]}))["missing"] == []


def test_a_user_who_may_not_act_as_the_installer_reads_so(tmp_path: Path) -> None:
    pair = Authority.ensure(Paths.of().kubeconfig.parent).client("mallory")
    user = yaml.safe_load(Authority.ensure(Paths.of().kubeconfig.parent).kubeconfig("", pair))["users"][0]["user"]
    found = run(kubeconfig(tmp_path, user))
    assert found["msg"].startswith("the kubeconfig's user may not act as the installer: ") and REPAIR in found["msg"]


def test_an_old_token_is_reported_as_such(tmp_path: Path) -> None:
    found = run(kubeconfig(tmp_path, {"token": "old"}))
    assert "certificate or token, which may be too old" in found["msg"] and REPAIR in found["msg"]


@pytest.mark.usefixtures("restored")
def test_missing_rights_are_named_with_the_command_that_gives_them(ask: Ask) -> None:
    rules = ask("GET", ROLES, None)[1]["rules"]
    fewer = [rule for rule in rules if rule["resources"] != ["pods/eviction"]]
    assert len(fewer) == len(rules) - 1
    status, answer = ask("PATCH", ROLES, {"rules": fewer})
    assert status == 200, answer
    found = run()
    assert (found["failed"], found["missing"]) == (True, ["create pods/eviction"])
    assert REPAIR in found["msg"]


@pytest.mark.usefixtures("restored")
def test_what_a_run_cannot_write_itself_is_compared(ask: Ask) -> None:
    """The fence around the run itself, and what its own group or the gate may do."""
    status, answer = ask("PATCH", BINDING, {"spec": {"validationActions": ["Warn"]}})
    assert status == 200, answer
    more = [*ask("GET", GATES, None)[1]["rules"], {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]
    status, answer = ask("PATCH", GATES, {"rules": more})
    assert status == 200, answer
    missing = ["ClusterRole drawbridge-opener", "ValidatingAdmissionPolicyBinding drawbridge-installer"]
    assert run()["missing"] == missing


@pytest.mark.usefixtures("restored")
def test_rights_that_the_intent_does_not_need_are_a_warning(ask: Ask) -> None:
    more = [*ask("GET", ROLES, None)[1]["rules"], {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]
    status, answer = ask("PATCH", ROLES, {"rules": more})
    assert status == 200, answer
    found = run()
    assert found["missing"] == []
    (warning,) = found["warnings"]
    assert "does not need, in ClusterRole drawbridge-installer: " in warning and REPAIR in warning


def test_policies_come_from_the_administrator_and_every_line_of_them_is_compared(ask: Ask) -> None:
    """The last test: policies stay."""
    missing = run(playbook="policies")
    assert "ConfigMap drawbridge-gate/open-nodes" in missing["missing"] and "kube_policies.yml" in missing["msg"]
    assert len(missing["missing"]) == len(installer.objects(installer.POLICIES))
    subprocess.run([sys.executable, "lab/lab", "administrator"], cwd=REPOSITORY, check=True, capture_output=True)
    assert run(playbook="policies")["missing"] == []
    status, answer = ask("PATCH", OPEN_NODES, {"data": {"gpu01": ""}})
    assert status == 200, answer
    assert run(playbook="policies")["missing"] == ["ConfigMap drawbridge-gate/open-nodes"]
