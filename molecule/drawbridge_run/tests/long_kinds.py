# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A PyTorchJob under the real training-operator, on demand: `pytest molecule/drawbridge_run/tests/long_kinds.py`.

It needs a lab that the scenario built and builds the operator once, two minutes; docs/support.md has the result. The
operator runs on the controller as its own account. Its webhook is left out, since the lab's API server reaches no
Services; what it would refuse (another container's name, no workers) the operator itself can't run either.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from lab.hosts.paths import REPOSITORY
from lab.tools import build, definitions

from .conftest import NODES, PATHS, closed, code, ended, output, pods, ssh, submit, until
from .test_drawbridge_run import ADA

ACCOUNT = "system:serviceaccount:kubeflow:training-operator"
UNIT = "lab-training-operator"
WEBHOOK = "validator.training-operator.kubeflow.org"
RULES = [
    {"apiGroups": [""], "resources": ["pods", "services", "configmaps", "events", "secrets"], "verbs": ["*"]},
    {"apiGroups": ["kubeflow.org"], "resources": ["*"], "verbs": ["*"]},
    {"apiGroups": ["admissionregistration.k8s.io"], "resources": ["validatingwebhookconfigurations"], "verbs": ["*"]},
]


def named(kind: str, version: str, name: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **more.pop("where", {})}, **more}


def apply(*items: dict[str, Any]) -> None:
    command = "umask 077; kubectl --kubeconfig=/run/admin.kubeconfig apply --server-side --force-conflicts -f -"
    ssh("ctl", command, yaml.safe_dump_all(items))


@pytest.fixture(scope="module")
def operator() -> Iterator[None]:
    """The training-operator at work."""
    program = build.ensure(PATHS.cache, print, [build.TRAINING_OPERATOR])["training-operator"]
    config = yaml.safe_load(PATHS.kubeconfig.read_text())
    config["users"][0]["user"] |= {"as": ACCOUNT, "as-groups": ["system:authenticated"]}
    ssh("ctl", "umask 077; cat > /run/admin.kubeconfig", PATHS.kubeconfig.read_text())
    ssh("ctl", "umask 077; cat > /run/operator.kubeconfig", yaml.safe_dump(config))
    with program.open("rb") as binary:
        put = ["ssh", "-F", str(PATHS.ssh_config), "ctl", "cat > /usr/local/bin/training-operator"]
        subprocess.run([*put, "&& chmod 755 /usr/local/bin/training-operator"], stdin=binary, check=True)
    rbac = "rbac.authorization.k8s.io/v1"
    for file in definitions.ensure(PATHS.cache):
        if "pytorchjobs" in file.name:
            apply(*yaml.safe_load_all(file.read_text()))
    apply(named("Namespace", "v1", "kubeflow"))
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "training-operator"}
    apply(
        named("Secret", "v1", "training-operator-webhook-cert", where={"namespace": "kubeflow"}),
        named("ValidatingWebhookConfiguration", "admissionregistration.k8s.io/v1", WEBHOOK),
        named("ClusterRole", rbac, "training-operator", rules=RULES),
        named(
            "ClusterRoleBinding", rbac, "training-operator", roleRef=role, subjects=[{"kind": "User", "name": ACCOUNT}]
        ),
    )
    flags = (
        "--enable-scheme=pytorchjob --metrics-bind-address=127.0.0.1:8080 --health-probe-bind-address=127.0.0.1:8081"
    )
    run = f"systemd-run --unit={UNIT} --setenv=KUBECONFIG=/run/operator.kubeconfig training-operator {flags}"
    ssh("ctl", run)
    # what a kubelet would mount of the Secret that the operator fills
    certificates = "/tmp/k8s-webhook-server/serving-certs"
    look = "kubectl --kubeconfig=/run/admin.kubeconfig -n kubeflow get secret training-operator-webhook-cert"
    until(lambda: "tls.crt" in ssh("ctl", f"{look} -o json"), 60, "the operator's certificate")
    for key in ("ca.crt", "tls.crt", "tls.key"):
        field = "{.data." + key.replace(".", "\\.") + "}"
        ssh("ctl", f"mkdir -p {certificates}; {look} -o jsonpath='{field}' | base64 -d > {certificates}/{key}")
    until(lambda: "Starting workers" in ssh("ctl", f"journalctl -u {UNIT} -o cat"), 120, "the operator works")
    yield
    ssh("ctl", f"systemctl stop {UNIT}")


def test_a_pytorchjob_adds_up_the_numbers_of_two_nodes(operator: None) -> None:
    until(closed, 120, "both nodes closed and in service")
    ssh("gpu01", f"cat > {ADA}/all_reduce.py", (REPOSITORY / "examples/all_reduce.py").read_text())
    script = (
        (REPOSITORY / "examples/two-nodes.sbatch").read_text().replace("--all-logs", "--all-logs --backend pytorchjob")
    )
    job = submit("", script)
    until(lambda: ended(job), 120, "the job ends")
    said = output(job)
    for rank, node in enumerate(NODES):
        assert f"[rank {rank}] rank {rank} on {node} as uid 2001 with 8 GPUs: sum 3.0, expected 3.0" in said, said
    assert code(job) == "COMPLETED|0:0"
    until(closed, 60, "both nodes closed")
    assert pods(job) == []
    left = ssh("ctl", "kubectl --kubeconfig=/run/admin.kubeconfig -n vision get pytorchjobs,services -o name")
    assert left == ""
