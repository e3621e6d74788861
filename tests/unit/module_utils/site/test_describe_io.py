# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
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
    clientCAFile: /etc/kubernetes/ssl/ca.crt
topologyManagerPolicy: restricted
reservedSystemCPUs: "0-3,64-67"
"""
SERVER, CA = "https://10.0.0.1:6443", "-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n"
DATA = base64.b64encode(CA.encode()).decode()
CLUSTER = f"{{server: {SERVER}, certificate-authority-data: {DATA}}}"
KUBECONFIG = f"clusters:\n- cluster: {CLUSTER}\nusers:\n- client-key-data: secret\n"
COMMAND = "kubelet --config=/etc/kubernetes/kubelet-config.yaml --kubeconfig=/etc/kubernetes/kubelet.conf"
FILES = {
    "etc/slurm/slurm.conf": SLURM,
    "etc/slurm/partitions.conf": "partitionname=hpc nodes=ALL\n",
    "var/lib/kubelet/config.yaml": "topologyManagerPolicy: none  # of an older cluster\n",
    "etc/kubernetes/kubelet-config.yaml": KUBELET,
    "etc/kubernetes/kubelet.conf": KUBECONFIG,
    "etc/kubernetes/ssl/ca.crt": CA,
    "proc/77/comm": "kubelet\n",
    "proc/77/cmdline": "".join(f"{word}\0" for word in COMMAND.split()),
}
CONFIG = {"topology_policy": "restricted", "reserved_cpus": "0-3,64-67"}
OF_KUBELET = {**CONFIG, "ca_file": "/etc/kubernetes/ssl/ca.crt", "api_server": SERVER}


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
        "gpu_types": [],
        "cloud": "",
    }
    assert found["kubelet"] == OF_KUBELET
    assert "secret" not in str(found)


def test_a_lost_file_is_named_and_stops_nothing(host: Host, tmp_path: Path) -> None:
    (tmp_path / "etc/slurm/partitions.conf").unlink()
    (tmp_path / "etc/kubernetes/kubelet.conf").unlink()
    found = host.read()
    assert found["slurm"] == {"path": "/etc/slurm/slurm.conf"}
    assert found["kubelet"] == CONFIG
    assert [reason.split(":")[0] for reason in found["missing"] if "partitions.conf" in reason] == ["Slurm"]


def test_a_host_without_both_belongs_to_none(host: Host, tmp_path: Path) -> None:
    for path in ("etc/slurm/slurm.conf", "var/lib/kubelet/config.yaml", "proc/77/comm"):
        (tmp_path / path).unlink()
    found = host.read()
    assert (found["slurm"], found["kubelet"]) == ({}, {})
    assert not [reason for reason in found["missing"] if reason.startswith(("Slurm", "kubelet"))]


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"proc/77/comm": "bash\n"}, "/var/lib/kubelet/config.yaml exists, but no kubelet runs"),
        ({"proc/77/comm": "k3s-agent\n"}, "k3s-agent runs it in its own process"),
        ({"etc/kubernetes/kubelet-config.yaml": "a: &b c\n"}, "line 1 of the document: "),
        ({"proc/77/cmdline": "kubelet\0"}, "its command line names no kubeconfig"),
    ],
)
def test_a_kubelet_that_can_not_be_read_is_named(host: Host, tmp_path: Path, files: dict[str, str], told: str) -> None:
    for path, content in files.items():
        (tmp_path / path).write_text(content)
    assert f"kubelet: {told}" in "\n".join(host.read()["missing"])


def test_drop_ins_count_and_a_load_balancer_of_the_host_is_not_the_sites(host: Host, tmp_path: Path) -> None:
    """RKE2's kubelet: other folders than kubeadm's, and the CA of its clients is not that of the API server."""
    folder = tmp_path / "var/lib/rancher/kubelet.conf.d"
    folder.mkdir(parents=True)
    (folder / "10.conf").write_text("topologyManagerPolicy: none\n")
    (folder / "20.conf").write_text("topologyManagerPolicy: best-effort\n")
    (folder / "30.yaml").write_text("topologyManagerPolicy: restricted\n")
    words = f"{COMMAND} --config-dir=/var/lib/rancher/kubelet.conf.d --reserved-cpus=0"
    (tmp_path / "proc/77/cmdline").write_text("\0".join(words.split()))
    (tmp_path / "etc/kubernetes/ssl/ca.crt").write_text("another one")
    (tmp_path / "etc/kubernetes/kubelet.conf").write_text(KUBECONFIG.replace("10.0.0.1", "localhost"))
    assert host.read()["kubelet"] == {
        **{"topology_policy": "best-effort", "reserved_cpus": "0"},
        "local_server": "https://localhost:6443",
    }


@pytest.mark.parametrize(
    ("command", "environment", "path"),
    [
        ("/usr/sbin/slurmctld -D -f /srv/slurm.conf", "", "/srv/slurm.conf"),
        ("/usr/sbin/slurmctld", "SLURM_CONF=/srv/slurm.conf", "/srv/slurm.conf"),
        ("/srv/slurm/sbin/slurmd -D", "A=1", "/srv/slurm/etc/slurm.conf"),
        ("/usr/sbin/slurmd", "", "/etc/slurm/slurm.conf"),
    ],
)
def test_the_file_of_a_running_daemon_wins(
    host: Host, tmp_path: Path, command: str, environment: str, path: str
) -> None:
    process, file = tmp_path / "proc/9", tmp_path / path.lstrip("/")
    for place, content in {
        process / "comm": f"{command.split()[0].rpartition('/')[2]}\n",
        process / "cmdline": "\0".join(command.split()),
        process / "environ": environment,
        file: "ClusterName=running\n",
    }.items():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
    found = host.read()["slurm"]
    assert (found["path"], found["cluster"]) == (path, "running")
