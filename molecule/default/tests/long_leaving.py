# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""All that a site may lack leaves the intent and comes back: NICs, GPFS, and Kubernetes with the gate."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from lab.hosts.paths import REPOSITORY, Paths

from .conftest import Lab
from .test_leaving import RECORD, there

NODES = ("gpu01", "gpu02", "gpu03", "gpu04")
HANDED = ("kube_installer", "kube_policies")
"""Manifests for the administrator."""


def without(site: Path) -> None:
    """Take the network, GPFS and gated partitions out of an inventory."""
    for name in ("fabric", "storage"):
        (site / f"group_vars/all/{name}.yml").unlink()
    for name, change in {"nodes": _plain_nodes, "slurm": _open_partitions}.items():
        file = site / f"group_vars/all/{name}.yml"
        content = yaml.safe_load(file.read_text())
        change(content[f"drawbridge_{name}"])
        file.write_text(yaml.safe_dump(content))
    hosts = yaml.safe_load((site / "hosts.yml").read_text())
    for group in ("switches", "storage_admins"):
        hosts["all"]["children"][group] = {}
    (site / "hosts.yml").write_text(yaml.safe_dump(hosts))


def _plain_nodes(nodes: dict) -> None:
    for build in nodes["classes"].values():
        del build["nics"]
    for part in nodes["ranges"]:
        del part["leaves"]


def _open_partitions(slurm: dict) -> None:
    slurm["topology"] = "none"
    for partition in slurm["partitions"]:
        partition["gate"] = False


def record(lab: Lab, node: str) -> dict[str, list[list[str]]]:
    return json.loads(lab.ssh(node, f"cat {RECORD}"))


@pytest.fixture
def drained(lab: Lab) -> Iterator[None]:
    """GPFS is stopped on drained nodes alone."""
    names = ",".join(NODES)
    lab.tell(f"scontrol update nodename={names} state=drain reason=maintenance")
    yield
    lab.tell(f"scontrol update nodename={names} state=undrain")


@pytest.mark.usefixtures("drained")
def test_a_site_loses_its_layers_and_gets_them_back(lab: Lab, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(REPOSITORY / "inventories/lab", site)
    without(site)
    fewer = Lab(Paths.of(), inventories=(str(site),))
    before = {node: record(lab, node) for node in NODES}

    fewer.administrator(tmp_path / "fewer", *HANDED)
    left = fewer.playbook("site")
    assert left.code == 0, left.output
    for node in NODES:
        gone = [item for role, items in before[node].items() if role != "slurm_node" for item in items]
        assert len(gone) > 40
        assert there(lab, gone, node) == []
        assert record(lab, node).keys() == {"slurm_node"}
        assert not re.search(" gpfs ", lab.ssh(node, "cat /proc/mounts"))
        assert "active" not in lab.ssh(node, "systemctl is-active kubelet drawbridge-gate.timer", check=False).split()
    again = fewer.playbook("site")
    assert (again.code, again.changed()) == (0, []), again.output

    lab.administrator(tmp_path / "all", *HANDED)
    back = lab.playbook("site")
    assert back.code == 0, back.output
    assert {node: record(lab, node) for node in NODES} == before
    again = lab.playbook("site")
    assert (again.code, again.changed()) == (0, []), again.output
