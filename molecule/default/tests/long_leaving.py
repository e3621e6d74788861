# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a site may lack leaves the intent and comes back: GPFS, the gate with Kubernetes, and both with the NICs."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from lab.hosts.paths import REPOSITORY, Paths

from .conftest import Lab
from .test_leaving import RECORD, there

NODES = ("gpu01", "gpu02", "gpu03", "gpu04")
HANDED = ("kube_installer", "kube_policies")
"""Manifests for the administrator."""


GATES = {"drawbridge_run", "kube_node", "kubelet_numa", "slurm_gate"}
LEFT = {"gates": GATES, "gpfs": {*GATES, "gpfs_client"}, "all": {*GATES, "gpfs_client", "fabric_nic"}}
"""Roles that leave a node's record, by what leaves the intent. GPFS leaves no node of Kubernetes."""


def without(site: Path, part: str) -> None:
    """Take the gates of all partitions out of an inventory, GPFS as well, or these and the network."""
    changed(site / "group_vars/all/slurm.yml", "drawbridge_slurm", _open_partitions)
    if part != "gates":
        (site / "group_vars/all/storage.yml").unlink()
    if part == "all":
        (site / "group_vars/all/fabric.yml").unlink()
        changed(site / "group_vars/all/nodes.yml", "drawbridge_nodes", _plain_nodes)
        changed(site / "group_vars/all/slurm.yml", "drawbridge_slurm", lambda slurm: slurm.update(topology="none"))
    groups = {"gpfs": ["storage_admins"], "gates": []}.get(part, ["switches", "storage_admins"])
    changed(site / "hosts.yml", "all", lambda every: every["children"].update({group: {} for group in groups}))


def changed(file: Path, key: str, change: Callable[[dict], None]) -> None:
    content = yaml.safe_load(file.read_text())
    change(content[key])
    file.write_text(yaml.safe_dump(content))


def _plain_nodes(nodes: dict) -> None:
    for build in nodes["classes"].values():
        del build["nics"]
    for part in nodes["ranges"]:
        del part["leaves"]


def _open_partitions(slurm: dict) -> None:
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


@pytest.mark.parametrize("part", LEFT)
@pytest.mark.usefixtures("drained")
def test_a_site_loses_layers_and_gets_them_back(lab: Lab, tmp_path: Path, part: str) -> None:
    site = tmp_path / "site"
    shutil.copytree(REPOSITORY / "inventories/lab", site)
    without(site, part)
    fewer = Lab(Paths.of(), inventories=(str(site),))
    before = {node: record(lab, node) for node in NODES}

    fewer.administrator(tmp_path / "fewer", *HANDED)
    left = fewer.playbook("site")
    assert left.code == 0, left.output
    for node in NODES:
        gone = [item for role in LEFT[part] for item in before[node].get(role, ())]
        assert gone
        assert there(lab, gone, node) == []
        assert record(lab, node).keys() == before[node].keys() - LEFT[part]
        running = lab.ssh(node, "systemctl is-active kubelet drawbridge-gate.timer", check=False).split()
        assert "active" not in running
        assert bool(re.search(" /gpfs/fs1 ", lab.ssh(node, "cat /proc/mounts"))) == (part == "gates")
    again = fewer.playbook("site")
    assert (again.code, again.changed()) == (0, []), again.output

    lab.administrator(tmp_path / "all", *HANDED)
    back = lab.playbook("site")
    assert back.code == 0, back.output
    assert {node: record(lab, node) for node in NODES} == before
    again = lab.playbook("site")
    assert (again.code, again.changed()) == (0, []), again.output
