# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lab's site with one node: everything that a run can be cut off at, on the fewest hosts."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

from lab.hosts.paths import REPOSITORY

LAB = REPOSITORY / "inventories/lab"
CONTROLLER, ADMIN, NODE, LEAF = "ctl", "nsd1", "gpu01", "leaf1"
HOSTS = (CONTROLLER, ADMIN, NODE, LEAF)
INFRA = "infra1"
"""Kubernetes' own node: named by the intent, contacted by no play."""


def write(folder: Path) -> Path:
    """Copy the lab's inventory and leave out of it what is not booted."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(LAB, folder)
    everything = folder / "group_vars/all"
    _edit(folder / "hosts.yml", hosts)
    _edit(everything / "nodes.yml", nodes)
    _edit(everything / "fabric.yml", fabric)
    _edit(everything / "slurm.yml", slurm)
    return folder


def hosts(content: dict[str, Any]) -> None:
    """Keep groups of our hosts."""
    groups = content["all"]["children"]
    del groups["login"]
    for group in (groups["controllers"], groups["switches"], groups["nodes"]["children"]["gpu"]):
        group["hosts"] = {name: values for name, values in group["hosts"].items() if name in HOSTS}


def nodes(content: dict[str, Any]) -> None:
    """Keep the one node."""
    first = content["drawbridge_nodes"]["ranges"][0]
    content["drawbridge_nodes"]["ranges"] = [{**first, "names": NODE, "leaves": LEAF}]


def fabric(content: dict[str, Any]) -> None:
    """Keep the node's leaf."""
    leaves = [group for group in content["drawbridge_fabric"]["switches"] if group["tier"] == "leaf"]
    content["drawbridge_fabric"]["switches"] = [{**leaves[0], "names": LEAF}]


def slurm(content: dict[str, Any]) -> None:
    """Keep the node in every partition."""
    for partition in content["drawbridge_slurm"]["partitions"]:
        partition["nodes"] = NODE


def _edit(path: Path, change: Any) -> None:
    content = yaml.safe_load(path.read_text())
    change(content)
    path.write_text(yaml.safe_dump(content, sort_keys=False))
