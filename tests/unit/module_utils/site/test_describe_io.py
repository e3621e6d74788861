# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes import hardware_io, lldp_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.describe_io import Host

SLURM = """
ClusterName=research
SlurmctldHost=head1(10.0.0.1)
AccountingStorageHost=db1
AccountingStoragePass=secret
PartitionName=DEFAULT MaxTime=1-0
PartitionName=train Nodes=gpu[1-4] \\
  Default=YES  # the first
Include partitions.conf
"""
KUBELET = """
kind: KubeletConfiguration
authentication:
  x509:
    clientCAFile: /etc/kubernetes/pki/ca.crt
topologyManagerPolicy: restricted
reservedSystemCPUs: "0-3,64-67"
"""
SERVER = "https://10.0.0.1:6443"
FILES = {
    "etc/slurm/slurm.conf": SLURM,
    "etc/slurm/partitions.conf": "partitionname=hpc nodes=ALL\n",
    "var/lib/kubelet/config.yaml": KUBELET,
    "etc/kubernetes/kubelet.conf": f"clusters:\n- cluster:\n    server: {SERVER}\nusers:\n- client-key-data: secret\n",
}
OF_KUBELET = {"ca_file": "/etc/kubernetes/pki/ca.crt", "topology_policy": "restricted", "reserved_cpus": "0-3,64-67"}


def run(argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
    raise DeviceError(f"{argv[0]} failed")


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    """A host with a Slurm and a kubelet, and nothing else."""
    for module in (hardware_io, lldp_io):
        monkeypatch.setattr(module, "tool", lambda name: name)
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return Host(run, str(tmp_path))


def test_included_files_and_the_cluster_of_the_kubelet_are_read_but_no_secret(host: Host) -> None:
    found = host.read()
    assert found["slurm"] == {
        "path": "/etc/slurm/slurm.conf",
        "cluster": "research",
        "controller": "head1",
        "accounting": "db1",
        "partitions": [
            {"name": "train", "nodes": "gpu[1-4]", "default": True},
            {"name": "hpc", "nodes": "ALL", "default": False},
        ],
    }
    assert found["kubelet"] == {**OF_KUBELET, "api_server": SERVER}
    assert "secret" not in str(found)


def test_a_lost_file_is_named_and_stops_nothing(host: Host, tmp_path: Path) -> None:
    (tmp_path / "etc/slurm/partitions.conf").unlink()
    (tmp_path / "etc/kubernetes/kubelet.conf").unlink()
    found = host.read()
    assert found["slurm"] == {"path": "/etc/slurm/slurm.conf"}
    assert found["kubelet"] == OF_KUBELET
    assert [reason.split(":")[0] for reason in found["missing"] if "partitions.conf" in reason] == ["Slurm"]


def test_a_host_without_both_belongs_to_none(host: Host, tmp_path: Path) -> None:
    for path in ("etc/slurm/slurm.conf", "var/lib/kubelet/config.yaml"):
        (tmp_path / path).unlink()
    found = host.read()
    assert (found["slurm"], found["kubelet"]) == ({}, {})
