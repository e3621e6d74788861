# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lab's site with one node: everything that a run can be cut off at, on the fewest hosts."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
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
    """Copy the lab's inventory and leave out the hosts that are not booted."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(LAB, folder)
    with _edited(folder / "hosts.yml") as content:
        groups = content["all"]["children"]
        del groups["login"]
        for group in (groups["controllers"], groups["switches"], groups["nodes"]["children"]["gpu"]):
            group["hosts"] = {name: values for name, values in group["hosts"].items() if name in HOSTS}
    with _edited(folder / "group_vars/all/nodes.yml") as content:
        first = content["drawbridge_nodes"]["ranges"][0]
        content["drawbridge_nodes"]["ranges"] = [{**first, "names": NODE, "leaves": LEAF}]
    with _edited(folder / "group_vars/all/fabric.yml") as content:
        leaves = [group for group in content["drawbridge_fabric"]["switches"] if group["tier"] == "leaf"]
        content["drawbridge_fabric"]["switches"] = [{**leaves[0], "names": LEAF}]
    with _edited(folder / "group_vars/all/slurm.yml") as content:
        for partition in content["drawbridge_slurm"]["partitions"]:
            partition["nodes"] = NODE
    return folder


@contextlib.contextmanager
def _edited(path: Path) -> Iterator[dict[str, Any]]:
    content = yaml.safe_load(path.read_text())
    yield content
    path.write_text(yaml.safe_dump(content, sort_keys=False))
