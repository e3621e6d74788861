# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site import describe_text as text


def test_a_slurm_conf_without_a_line_that_is_known_says_nothing() -> None:
    """What hosts have is read in test_describe_io.py."""
    nothing = {"cluster": "", "controller": "", "accounting": "", "partitions": [], "gpu_types": [], "cloud": ""}
    assert text.slurm_conf("AccountingStoragePass=secret\n") == nothing


NODES = "NodeName=n[1-4] Feature=gpu,big\nNodeName=n[5-6] Feature=GPU State=CLOUD\n"


@pytest.mark.parametrize(
    ("lines", "nodes"),
    [
        ("PartitionName=a Nodes=n[2-3]", "n[2-3]"),
        ("PartitionName=a Nodes=ALL", "n[1-6]"),
        ("NodeSet=s Feature=gpu\nPartitionName=a Nodes=s", "n[1-4]"),
        ("NodeSet=s Nodes=n[5-6],n1\nNodeSet=t Feature=big\nPartitionName=a Nodes=s,t", "n[1-6]"),
        ("NodeSet=s Nodes=ALL\nPartitionName=DEFAULT Nodes=s\nPartitionName=a", "n[1-6]"),
        ("NodeSet=s Feature=dynamic\nPartitionName=a Nodes=s", ""),
        ("PartitionName=a", ""),
        ("PartitionName=a Nodes=blockwith{n1}", "blockwith{n1}"),
    ],
)
def test_sets_of_nodes_are_resolved(lines: str, nodes: str) -> None:
    assert [part["nodes"] for part in text.slurm_conf(f"{NODES}{lines}\n")["partitions"]] == [nodes]


def test_names_are_those_that_slurm_takes() -> None:
    """It writes the cluster in small letters, knows an older key of the controller, and takes the last default."""
    parts = "PartitionName=a Nodes=ALL Default=YES\nPartitionName=b Nodes=ALL Default=1\nPartitionName=c Nodes=n1\n"
    found = text.slurm_conf(f"ClusterName=Demo\nControlMachine=HEAD01\n{parts}")
    assert (found["cluster"], found["controller"]) == ("demo", "HEAD01")
    assert [(part["nodes"], part["default"]) for part in found["partitions"]] == [
        ("ALL", False),
        ("ALL", True),
        ("n1", False),
    ]
    assert text.slurm_conf("ControlMachine=a\nSlurmctldHost=b(10.0.0.1)\n")["controller"] == "b"


def test_nodes_of_a_cloud_are_named() -> None:
    assert text.slurm_conf(NODES)["cloud"] == "n[5-6]"


def test_types_of_gpus_are_those_of_the_nodes() -> None:
    lines = (
        "NodeName=DEFAULT Gres=gpu:A100:8(S:0-1)\nNodeName=n[1-2]\nNodeName=n3 Gres=gpu:4\nNodeName=n4 Gres=nvme:1\n"
    )
    more = "NodeName=n5 Gres=gpu:a:1,gpu:b:1\nNodeName=n6 Gres=fpga:2,gpu:A100:4\n"
    assert text.slurm_conf(lines + more)["gpu_types"] == [{"nodes": "n[1-2],n6", "type": "A100"}]


KUBELET = {"topology_policy": "restricted", "reserved_cpus": "0-3,64-67", "client_ca": "/pki/ca.crt"}
BLOCK = """# managed
authentication:
  x509: {clientCAFile: /pki/ca.crt}   # the cluster's
topologyManagerPolicy: restricted # must have
"reservedSystemCPUs": "0-3,64-67"   # one core of each socket
"""
JSON = '{"authentication":{"x509":{"clientCAFile":"/pki/ca.crt"}},"topologyManagerPolicy":"restricted",\r\n'
JSON += '"reservedSystemCPUs":"0-3,64-67"}'


@pytest.mark.parametrize(
    ("config", "drop_ins", "command", "changed"),
    [
        (BLOCK, [], [], {}),
        (JSON, [], [], {}),
        (BLOCK, ["reservedSystemCPUs: 0-1\nx: 1\n", "authentication: {y: {z: true}}\n"], [], {"reserved_cpus": "0-1"}),
        (BLOCK, [], ["kubelet", "--topology-manager-policy", "none"], {"topology_policy": "none"}),
        ("other:\n  topologyManagerPolicy: none\n", [BLOCK], ["--client_ca_file=/b"], {"client_ca": "/b"}),
    ],
)  # fmt: skip
def test_a_kubelet_has_its_file_then_its_drop_ins_then_its_flags(
    config: str, drop_ins: list[str], command: list[str], changed: dict[str, str]
) -> None:
    assert text.kubelet(config, drop_ins, command) == {**KUBELET, **changed}


def kubeconfig(*servers: str, current: str = "") -> str:
    entries = [f"- name: c{at}\n  cluster:\n    server: {server}\n" for at, server in enumerate(servers)]
    context = f"contexts: [{{name: x, context: {{cluster: {current}, user: u}}}}]\ncurrent-context: x\n"
    return f"clusters:\n{''.join(entries)}{context if current else ''}users: [{{name: u, user: {{token: secret}}}}]\n"


@pytest.mark.parametrize(
    "address",
    [
        *("http://10.0.0.1:6443", "https://rancher.example.org/k8s/clusters/c-1", "https://[::1", ""),
        *("https://localhost:6443", "https://127.0.0.1:6444", '"https://[::1]:7443"'),
    ],
)
def test_an_address_that_is_not_the_sites_or_that_the_intent_does_not_take_is_none(address: str) -> None:
    assert text.api_server(kubeconfig(address)) == ""


def test_the_address_is_that_of_the_current_context() -> None:
    one, two = "https://a:6443", "https://b:6443  # the new one"
    assert text.api_server(kubeconfig(one, two, current="c1")) == "https://b:6443"
    assert text.api_server(kubeconfig(one, two)) == ""
    assert text.api_server('{"clusters":[{"name":"a","cluster":{"server":"https://a:6443"}}]}') == "https://a:6443"
    assert "secret" not in str(text.cluster(kubeconfig(one, two, current="c1")))
