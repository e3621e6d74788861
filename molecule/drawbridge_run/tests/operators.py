# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Controllers of workloads at work in the lab, installed as their projects say, but for one thing: their program.

It is a process of the controller's host instead of a Deployment, with that one's own account and rights. The API server
reaches its webhooks at the host instead of a Service's address, by the name that is in their certificate.
"""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lab.tools import build, definitions
from lab.tools.build import Binary
from lab.tools.definitions import Module
from tests.stack import PATHS, ssh, until

ADMIN = "/run/admin.kubeconfig"
HOME = "/run/operators"
CERTIFICATES = "/tmp/k8s-webhook-server/serving-certs"
"""Where all of them look for what their Deployments mount there."""
NOT_HERE = ("Deployment", "NetworkPolicy")


@dataclass(frozen=True)
class Operator:
    """One controller: its program, manifests, account, flags and configuration."""

    binary: Binary
    module: Module
    overlay: str
    """The folder that its project says to apply."""
    account: str
    """namespace/name."""
    secret: str
    """Where it puts its webhooks' certificate."""
    port: int
    """Of its webhooks."""
    flags: tuple[str, ...] = ()
    config: str = ""

    @property
    def home(self) -> str:
        """Its folder on the controller's host."""
        return f"{HOME}/{self.binary.name}"

    @property
    def unit(self) -> str:
        """Its unit of systemd."""
        return f"lab-{self.binary.name}"


TRAINING_OPERATOR = Operator(
    build.TRAINING_OPERATOR,
    definitions.TRAINING_OPERATOR,
    "overlays/standalone",
    "kubeflow/training-operator",
    "training-operator-webhook-cert",
    19443,
    (
        "--enable-scheme=pytorchjob",
        "--metrics-bind-address=0",
        "--health-probe-bind-address=0",
        "--webhook-server-port=19443",
    ),
)
JOBSET = Operator(
    build.JOBSET,
    definitions.JOBSET,
    "default",
    "jobset-system/jobset-controller-manager",
    "jobset-webhook-server-cert",
    19444,
    config="""
apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
internalCertManagement: {enable: true}
leaderElection: {leaderElect: false}
webhook: {port: 19444}
metrics: {bindAddress: "0"}
health: {healthProbeBindAddress: "0"}
""",
)
TRAINER = Operator(
    build.TRAINER,
    definitions.TRAINER,
    "overlays/manager",
    "kubeflow-system/kubeflow-trainer-controller-manager",
    "kubeflow-trainer-webhook-cert",
    19445,
    config="""
apiVersion: config.trainer.kubeflow.org/v1alpha1
kind: Configuration
certManagement:
  enable: true
  webhookServiceName: kubeflow-trainer-controller-manager
  webhookSecretName: kubeflow-trainer-webhook-cert
leaderElection: {leaderElect: false}
webhook: {port: 19445}
metrics: {bindAddress: "0"}
health: {healthProbeBindAddress: "0"}
""",
)


@contextmanager
def at_work(*operators: Operator) -> Iterator[None]:
    """All of them, in this order."""
    binaries = build.ensure(PATHS.cache, print, [operator.binary for operator in operators])
    definitions.ensure(PATHS.cache, print, [operator.module for operator in operators])
    ssh("ctl", f"umask 077; cat > {ADMIN}", PATHS.kubeconfig.read_text())
    try:
        for operator in operators:
            install(operator)
            start(operator, binaries[operator.binary.name])
        yield
    finally:
        for operator in operators:
            ssh("ctl", f"systemctl stop {operator.unit}", check=False)


def install(operator: Operator) -> None:
    """Apply what the project ships."""
    folder = definitions.place(PATHS.cache, operator.module)
    packed = subprocess.run(["tar", "-C", str(folder), "-c", "."], capture_output=True, check=True).stdout
    put(packed, f"mkdir -p {operator.home}/manifests; tar -C {operator.home}/manifests -x")
    overlay = f"{operator.home}/manifests/{operator.overlay}"
    # as it says itself, for clusters that have JobSet already
    ssh("ctl", f"sed -i '/third-party.jobset/d' {overlay}/kustomization.yaml")
    items = [item for item in yaml.safe_load_all(ssh("ctl", f"kubectl kustomize {overlay}")) if item]
    text = yaml.safe_dump_all([here(item, operator.port) for item in items if item["kind"] not in NOT_HERE])
    ssh("ctl", f"kubectl --kubeconfig={ADMIN} apply --server-side --force-conflicts -f -", text)


def here(item: dict[str, Any], port: int) -> dict[str, Any]:
    """An object as the lab needs it: names of Services lead to the host, webhooks have the program's own port."""
    if item["kind"] == "Service":
        item["spec"] = {"type": "ExternalName", "externalName": "localhost"}
    for webhook in item.get("webhooks", []):
        webhook["clientConfig"]["service"]["port"] = port
    return item


def start(operator: Operator, program: Path) -> None:
    """Run it, as its own account; the administrator's certificate may act as all users."""
    config = yaml.safe_load(PATHS.kubeconfig.read_text())
    user = f"system:serviceaccount:{operator.account.replace('/', ':')}"
    config["users"][0]["user"] |= {"as": user, "as-groups": ["system:authenticated"]}
    ssh("ctl", f"umask 077; cat > {operator.home}/kubeconfig", yaml.safe_dump(config))
    ssh("ctl", f"cat > {operator.home}/config.yaml; mkdir -p {operator.home}/certificates", operator.config)
    put(program.read_bytes(), f"cat > {operator.home}/program; chmod 755 {operator.home}/program")
    flags = [*operator.flags, *([f"--config={operator.home}/config.yaml"] if operator.config else [])]
    place = f"-p PrivateTmp=yes -p BindReadOnlyPaths={operator.home}/certificates:{CERTIFICATES}"
    # as a kubelet does; Trainer ends if the API server does not serve JobSet's kinds yet
    again = "-p Restart=on-failure -p RestartSec=2 -p StartLimitIntervalSec=0"
    run = f"systemd-run --collect --unit={operator.unit} {place} {again} --setenv=KUBECONFIG={operator.home}/kubeconfig"
    ssh("ctl", f"{run} {operator.home}/program {' '.join(flags)}")
    until(lambda: mounted(operator), 300, f"the certificate of {operator.binary.name}")
    until(lambda: ssh("ctl", f"ss -Hltn sport = :{operator.port}"), 300, f"{operator.binary.name} works")


def mounted(operator: Operator) -> bool:
    """Do what a kubelet does: have the Secret's keys as files. Whether there are any yet."""
    namespace = operator.account.partition("/")[0]
    look = f"kubectl --kubeconfig={ADMIN} -n {namespace} get secret {operator.secret} -o yaml"
    found = yaml.safe_load(ssh("ctl", look)).get("data") or {}
    for name, content in found.items():
        put(base64.b64decode(content), f"cat > {operator.home}/certificates/{name}")
    return "tls.crt" in found


def put(data: bytes, command: str) -> None:
    """Give a command on the controller's host something to read."""
    subprocess.run(["ssh", "-F", str(PATHS.ssh_config), "ctl", command], input=data, check=True)
