# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.describe_running import (
    daemons,
    kube,
    slurm,
    storage,
)

NODES = {"gpu01": {"os": "debian-13"}}
GROUPS = {"controllers": ["ctl"], "nodes": ["gpu01"]}


def conf(**more: Any) -> dict[str, Any]:
    """What a host's slurm.conf says."""
    return {"cluster": "research", "controller": "ctl", "accounting": "", "partitions": [], **more}


def hosts(of_ctl: dict[str, Any], of_node: dict[str, Any]) -> dict[str, Any]:
    return {"ctl": {"slurm": of_ctl, "mounts": []}, "gpu01": {"slurm": of_node, "mounts": []}}


@pytest.mark.parametrize("host", ["localhost", "ctl.cluster", ""])
def test_a_slurmdbd_beside_slurmctld_is_no_host_of_its_own(host: str) -> None:
    found = hosts(conf(accounting=host), {})
    assert daemons(found, GROUPS)[1:] == ("ctl", "")
    assert not any("accounting" in line for line in slurm(found, NODES, GROUPS))


def test_the_database_of_a_slurmdbd_elsewhere_is_a_question() -> None:
    lines = slurm(hosts(conf(accounting="db1"), {}), NODES, GROUPS)
    assert lines[3:5] == ["  accounting:", '    host: "db1"']
    assert lines[5].startswith("    # QUESTION: database: ")


@pytest.mark.parametrize(("path", "said"), [("/opt/slurm/etc/slurm.conf", True), ("/etc/slurm/slurm.conf", False)])
def test_a_slurm_of_another_folder_is_said(path: str, said: bool) -> None:
    lines = slurm(hosts(conf(path=path), {}), NODES, GROUPS)
    assert any(line.startswith(f"  # slurmctld reads {path}") for line in lines) is said


def test_nodes_of_a_cloud_are_said_and_partitions_of_unknown_nodes_are_questions() -> None:
    part = {"name": "a", "nodes": "gpu01,n[1-2]", "default": False}
    lines = slurm(hosts(conf(cloud="n[1-2]", partitions=[part]), {}), NODES, GROUPS)
    assert "  # State=CLOUD of n[1-2]: Drawbridge has no nodes that a ResumeProgram starts" in lines
    assert lines[-2].endswith("but no host of the group nodes that answered has these names: n[1-2]")


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("CTL.example.org", '  controller: "ctl"'),
        ("localhost", '  controller: "ctl"'),
        ("", '  controller: "ctl"'),
        ("head", "  # QUESTION: controller: host of slurmctld; slurm.conf has head, but the group controllers ctl; "),
    ],
)
def test_the_controller_is_a_host_of_its_group(written: str, line: str) -> None:
    lines = slurm(hosts(conf(controller=written), {}), NODES, GROUPS)
    assert lines[2].startswith(line)


def test_a_controller_without_a_group_is_the_one_of_slurm_conf() -> None:
    assert daemons(hosts(conf(controller="HEAD"), {}), {})[1] == "HEAD"


def test_a_controller_whose_file_was_not_read_hides_no_other_host() -> None:
    running, controller, _accounting = daemons(hosts({"path": "/etc/slurm/slurm.conf"}, conf()), GROUPS)
    assert (running["cluster"], controller) == ("research", "ctl")


def test_without_slurm_storage_and_kubelets_everything_is_a_question() -> None:
    nothing = hosts({}, {})
    assert [line.split(":")[1] for line in slurm(nothing, NODES, GROUPS) if "QUESTION" in line] == [
        " cluster",
        " partitions",
    ]
    assert storage(nothing, GROUPS)[0].startswith("# QUESTION: drawbridge_gpfs: ")
    assert kube({"gpu01": {"kubelet": {}}})[0].startswith("# QUESTION: drawbridge_kube: ")


def test_kubelets_of_two_clusters_are_a_question() -> None:
    nodes = {name: {"kubelet": {"api_server": f"https://{name}:6443"}} for name in ("gpu01", "gpu02")}
    assert "  # QUESTION: api_server: kubectl cluster-info" in kube(nodes)


def test_a_load_balancer_of_each_host_is_named_in_the_question() -> None:
    (line,) = [
        line for line in kube({"gpu01": {"kubelet": {"local_server": "https://[::1]:1"}}}) if "api_server" in line
    ]
    assert line.endswith("https://[::1]:1 of the kubelets is a load balancer on each node")
