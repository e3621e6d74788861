# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Bare hosts that became members: as the API server sees them, with their drift, their secrets, and when they leave."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from kubernetes import client, config, watch

from lab.hosts.paths import REPOSITORY
from tests import installer
from tests.running import Lab, Run
from tests.stack import move

PLAYBOOK = "../molecule/kube_node/converge"
NODES = ("gpu01", "gpu02", "gpu03", "gpu04")
CLOSED = ("drawbridge.io/slurm", "closed", "NoSchedule")
IDENTITY = "/etc/kubernetes/kubelet.conf /var/lib/kubelet/pki/kubelet-client-current.pem"
DROP_IN = "/etc/systemd/system/kubelet.service.d/50-drawbridge.conf"


def kubernetes(lab: Lab, host: str, *options: str, **variables: Any) -> Run:
    """Run the playbook for one node."""
    given = ["--extra-vars", json.dumps(variables)] if variables else []
    return lab.playbook(PLAYBOOK, "--limit", host, *given, *options)


def taints(node: Any) -> list[tuple[str, str, str]]:
    return [(taint.key, taint.value, taint.effect) for taint in node.spec.taints or []]


def ready(node: Any) -> bool:
    return any(entry.type == "Ready" and entry.status == "True" for entry in node.status.conditions)


def test_four_bare_hosts_are_ready_and_closed(lab: Lab, api: Any) -> None:
    def settled(name: str) -> bool:
        """The controller manager takes its own taint off a little after the kubelet is Ready."""
        node = api.read_node(name)
        return ready(node) and taints(node) == [CLOSED]

    for name in NODES:
        lab.wait(f"{name} is Ready and closed", lambda name=name: settled(name))
    nodes = {node.metadata.name: node for node in api.list_node().items}
    assert set(NODES) <= set(nodes)
    for name in NODES:
        assert ready(nodes[name])
        assert taints(nodes[name]) == [CLOSED]
        assert nodes[name].status.node_info.kubelet_version == "v1.36.3"
        assert nodes[name].status.node_info.container_runtime_version == "containerd://2.3.5"
        assert nodes[name].status.allocatable["cpu"] == "120"


def test_who_asks_a_kubelet_can_verify_it(lab: Lab, api: Any) -> None:
    """The API server is given one authority for kubelets, and looks."""
    for name in NODES:
        assert api.connect_get_node_proxy_with_path(name, "healthz") == "ok"
    told = lab.ssh("gpu01", "openssl x509 -noout -subject -issuer -in /var/lib/kubelet/pki/kubelet-server-current.pem")
    assert "CN=system:node:gpu01" in told.replace(" ", "")
    assert "drawbridge-lab" in told


def test_pods_may_lock_memory_for_rdma(lab: Lab) -> None:
    assert "LimitMEMLOCK=infinity" in lab.ssh("gpu01", "systemctl show containerd -p LimitMEMLOCK")


def test_packages_are_pinned_and_held(lab: Lab) -> None:
    assert lab.ssh("gpu01", "apt-mark showhold").split() == ["containerd", "kubelet"]
    from_ours = lab.ssh("gpu01", "apt-cache policy kubelet")
    assert "Installed: 1.36.3-1" in from_ours
    assert "http://10.77." in from_ours


DRIFTS = {
    "a package": ("apt-mark unhold kubelet", "hold kubelet"),
    "the sources": ("echo >> /etc/apt/sources.list.d/drawbridge-kubernetes.sources", "write the packages' sources"),
    "the runtime": ("sed -i s/certs.d/docker/ /etc/containerd/config.toml", "write /etc/containerd/config.toml"),
    "its limits": (
        "sed -i s/infinity/65536/ /etc/systemd/system/containerd.service.d/50-drawbridge.conf",
        "write /etc/systemd/system/containerd.service.d/50-drawbridge.conf",
    ),
    "the kubelet": ("sed -i s/Webhook/AlwaysAllow/ /var/lib/kubelet/config.yaml", "write /var/lib/kubelet/config.yaml"),
    "its start": (f"sed -i 's/--node-ip=/--v=9 --node-ip=/' {DROP_IN}", f"write {DROP_IN}"),
    "its reservations": (
        "sed -i s/0-3,64-67/0-1,64-65/ /etc/kubernetes/kubelet.conf.d/50-drawbridge.conf",
        'change the drop-in: reservedSystemCPUs "0-1,64-65" -> "0-3,64-67"',
    ),
}
FOREIGN = {
    "/etc/containerd/conf.d/60-site.toml": "version = 3\n",
    "/etc/containerd/certs.d/site/hosts.toml": 'server = "https://site"\n',
    "/etc/kubernetes/kubelet.conf.d/60-site.conf": (
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 99\n"
    ),
    "/etc/systemd/system/kubelet.service.d/60-site.conf": "[Service]\nNice=-1\n",
}


def test_every_drift_is_seen_predicted_and_repaired_and_foreign_files_stay(lab: Lab, api: Any) -> None:
    for path, text in FOREIGN.items():
        lab.ssh("gpu01", f"mkdir -p $(dirname {path}); cat > {path}", stdin=text)
    api.patch_node("gpu01", {"metadata": {"labels": {"site": "own"}}})
    for change, _ in DRIFTS.values():
        lab.ssh("gpu01", change)
    predicted = kubernetes(lab, "gpu01", "--check", "--diff")
    assert predicted.code == 0, predicted.output
    steps = [step for found in predicted.steps().values() for step in found]
    for what, (_, expected) in DRIFTS.items():
        assert any(step.startswith(expected) for step in steps), f"{what} is not seen in {steps}"
    repaired = kubernetes(lab, "gpu01", "--diff")
    assert repaired.code == 0, repaired.output
    assert (repaired.steps(), repaired.changed()) == (predicted.steps(), predicted.changed())
    assert kubernetes(lab, "gpu01", "--check").changed() == []
    for path, text in FOREIGN.items():
        assert lab.ssh("gpu01", f"cat {path}") == text
    assert api.read_node("gpu01").metadata.labels["site"] == "own"
    lab.ssh("gpu01", f"rm {' '.join(FOREIGN)}; systemctl daemon-reload")


class TokenWatch(threading.Thread):
    """Sees every bootstrap token that is made from now on, however short it exists."""

    def __init__(self, api: Any) -> None:
        super().__init__(daemon=True)
        self.secrets = api.list_namespaced_secret
        self.begin = self.secrets("kube-system").metadata.resource_version
        self.seen: dict[str, str] = {}

    def run(self) -> None:
        """The API server tells of what has happened also to who asks late."""
        wanted = {"field_selector": "type=bootstrap.kubernetes.io/token", "resource_version": self.begin}
        stream: Any = watch.Watch().stream(self.secrets, "kube-system", **wanted)
        for event in stream:
            data = event["object"].data
            self.seen |= {key: base64.b64decode(value).decode() for key, value in data.items()}


def test_a_token_is_in_no_log_and_gone_after(lab: Lab, api: Any) -> None:
    """A member that lost its identity joins again; a user who finds its token can't use it, and no user finds it."""
    lab.ssh("gpu02", f"systemctl stop kubelet; rm {IDENTITY}; rm -r /var/lib/kubelet/pki")
    tokens = TokenWatch(api)
    tokens.start()
    argv = [
        "ansible-playbook",
        "-i",
        "inventories/lab",
        "molecule/kube_node/converge.yml",
        "--limit",
        "gpu02",
        "-vvvv",
        "--diff",
    ]
    env = {**os.environ, "ANSIBLE_CONFIG": "ansible.cfg"}
    run = subprocess.run(argv, cwd=REPOSITORY, env=env, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-4000:]
    assert "join the cluster: it has no certificate" in run.stdout
    secret = lab.wait("the token was seen", lambda: tokens.seen.get("token-secret"))
    assert tokens.seen["auth-extra-groups"] == "system:bootstrappers:drawbridge"
    assert secret not in run.stdout + run.stderr
    places = "/etc /var/lib/kubelet /var/log /root /tmp /run/systemd /usr/lib/systemd"
    assert lab.ssh("gpu02", f"grep -rlF {secret} {places} 2>/dev/null || true") == ""
    assert lab.ssh("gpu02", f"journalctl -b --no-pager | grep -cF {secret} || true").strip() == "0"
    left = api.list_namespaced_secret("kube-system", field_selector="type=bootstrap.kubernetes.io/token").items
    assert left == []
    lab.wait("gpu02 is Ready", lambda: ready(api.read_node("gpu02")))


def forged(name: str, address: str) -> Any:
    """A serving request in a node's name, for an address that is not its own."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = [(NameOID.ORGANIZATION_NAME, "system:nodes"), (NameOID.COMMON_NAME, f"system:node:{name}")]
    builder = x509.CertificateSigningRequestBuilder(x509.Name([x509.NameAttribute(*part) for part in subject]))
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(address)]), critical=False)
    pem = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    spec = {
        "request": base64.b64encode(pem).decode(),
        "signerName": "kubernetes.io/kubelet-serving",
        "usages": ["digital signature", "server auth"],
    }
    return {"metadata": {"generateName": f"forged-{name}-"}, "spec": spec}


def test_only_the_nodes_own_requests_are_approved(lab: Lab) -> None:
    made = []
    for sender, address in (("gpu03", "kubernetes.default.svc"), ("gpu04", "gpu04")):
        connection = config.new_client_from_config(str(lab.paths.kubeconfig))
        connection.set_default_header("Impersonate-User", f"system:node:{sender}")
        connection.set_default_header("Impersonate-Group", "system:nodes")
        made.append(client.CertificatesV1Api(connection).create_certificate_signing_request(forged(sender, address)))
    lab.ssh("gpu03", "systemctl stop kubelet; rm /var/lib/kubelet/pki/kubelet-server-*")
    run = kubernetes(lab, "gpu03")
    assert run.code == 0, run.output
    certificates: Any = client.CertificatesV1Api(config.new_client_from_config(str(lab.paths.kubeconfig)))
    for request in made:
        assert certificates.read_certificate_signing_request_status(request.metadata.name).status.conditions is None
        certificates.delete_certificate_signing_request(request.metadata.name)


def test_a_closed_node_leaves_and_a_held_one_stays(lab: Lab, api: Any) -> None:
    move(api, "gpu04", "vision.7")
    held = kubernetes(lab, "gpu04", kube_node_state="absent")
    assert held.changed() == []
    assert "drawbridge.io/slurm=vision.7" in json.dumps(held.report)
    assert api.read_node("gpu04")
    move(api, "gpu04", "closed")
    run = kubernetes(lab, "gpu04", kube_node_state="absent")
    steps = [step for found in run.steps().values() for step in found]
    assert steps[:2] == ["delete the Node", "stop the kubelet, and remove its identity"]
    assert "gpu04" not in {node.metadata.name for node in api.list_node().items}
    assert lab.ssh(
        "gpu04", f"systemctl is-enabled kubelet; ls {IDENTITY} 2>/dev/null || true", check=False
    ).split() == ["disabled"]
    comes_back_as_predicted(lab, api, "gpu04")


MADE_BEFORE = "make directory /etc/kubernetes/kubelet.conf.d"
"""Role kubelet_numa makes it with its file, so that the step is there in a prediction alone."""


def comes_back_as_predicted(lab: Lab, api: Any, host: str) -> None:
    """What --check says of a host that is no member is what the run reports."""
    predicted = kubernetes(lab, host, "--check", "--diff")
    assert predicted.code == 0, predicted.output
    back = kubernetes(lab, host, "--diff")
    assert back.code == 0, back.output
    expected = {task: [step for step in steps if step != MADE_BEFORE] for task, steps in predicted.steps().items()}
    assert (back.steps(), back.changed()) == (expected, predicted.changed())
    assert any("join the cluster: it has no certificate" in steps for steps in back.steps().values())
    lab.wait(f"{host} is Ready", lambda: ready(api.read_node(host)))
    assert CLOSED in taints(api.read_node(host))
    # the controller manager takes its own taint off a little after
    lab.wait(f"{host} is closed, and no more", lambda: taints(api.read_node(host)) == [CLOSED])


def test_a_bare_host_is_predicted_exactly_too(lab: Lab, api: Any) -> None:
    """Not even its packages are there. Its Node is, so that a replaced machine is the case, too."""
    subprocess.run([sys.executable, "lab/lab", "reset", "gpu04"], cwd=REPOSITORY, check=True, capture_output=True)
    assert lab.ssh("gpu04", "ls /usr/bin/kubelet /usr/bin/containerd 2>/dev/null || true") == ""
    comes_back_as_predicted(lab, api, "gpu04")
    assert lab.ssh("gpu04", "systemctl show -P NRestarts kubelet").strip() == "0"


def test_runs_have_used_their_rights_and_needed_no_others(lab: Lab) -> None:
    """A Node was deleted, which no run of a whole site does."""
    found = installer.events()
    assert installer.refused(found) == []
    assert installer.unused(installer.PROVEN_BY["kube_node"], found) == []


def test_nothing_is_left_to_do(lab: Lab) -> None:
    run = kubernetes(lab, ",".join(NODES), "--check")
    assert (run.code, run.changed()) == (0, []), run.output
    assert {host for _, host, _ in run.results()} >= set(NODES), "not all of them were looked at"
