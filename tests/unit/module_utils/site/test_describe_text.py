# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site import describe_text as text


def test_slurm_conf_gives_no_secret() -> None:
    conf = """
ClusterName=research
SlurmctldHost=head1(10.0.0.1)
AccountingStorageHost=db1
AccountingStoragePass=secret
PartitionName=DEFAULT MaxTime=1-0
PartitionName=train Nodes=gpu[1-4] \\
  Default=YES  # the first
Include hpc.conf
"""
    found = text.slurm_conf(conf, {"hpc.conf": "partitionname=hpc nodes=ALL"}.__getitem__)
    assert found["cluster"] == "research"
    assert found["controller"] == "head1"
    assert found["accounting"] == "db1"
    assert found["partitions"] == [
        {"name": "train", "nodes": "gpu[1-4]", "default": True},
        {"name": "hpc", "nodes": "ALL", "default": False},
    ]
    assert "secret" not in str(found)


def test_kubelets_keys_of_the_intent() -> None:
    printed = """
kind: KubeletConfiguration
authentication:
  x509:
    clientCAFile: /etc/kubernetes/pki/ca.crt
topologyManagerPolicy: restricted
reservedSystemCPUs: "0-3,64-67"
"""
    assert text.kubelet(printed) == {
        "ca_file": "/etc/kubernetes/pki/ca.crt",
        "topology_policy": "restricted",
        "reserved_cpus": "0-3,64-67",
    }


def test_a_kubeconfig_gives_its_server_and_no_key() -> None:
    config = (
        "clusters:\n- cluster:\n    server: https://10.0.0.1:6443\nusers:\n- user:\n    client-key-data: c2VjcmV0\n"
    )
    assert text.api_server(config) == "https://10.0.0.1:6443"


@pytest.mark.parametrize("address", ["http://10.0.0.1:6443", "https://rancher.example.org/k8s/clusters/c-1", ""])
def test_an_address_that_the_intent_does_not_take_is_none(address: str) -> None:
    assert text.api_server(f"    server: {address}\n") == ""
