# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lab's site with more nodes: a second inventory beside inventories/lab that holds what differs, and no more."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
LAB = ROOT / "inventories/lab"
PORTS = 36
"""Of each of the lab's leaves, with the spares that are not for benchmarks."""
RAILS = 8


def grow(folder: Path, *names: str) -> list[str]:
    """Write it for spares of lab/site.yml, with all that their owner would type; return ansible's arguments."""
    room = yaml.safe_load((ROOT / "lab/site.yml").read_text())["hosts"]
    hosts = {name: {"lab_address": room[name]["address"]} for name in names}
    inventory = {"all": {"children": {"nodes": {"children": {"gpu": {"hosts": hosts}}}}}}
    (folder / "group_vars").mkdir(parents=True)
    (folder / "hosts.yml").write_text(json.dumps(inventory))
    ports = max(PORTS, *(room[name]["port"] + RAILS - 1 for name in names))
    leaves = {name: room[name]["leaves"][0] for name in names}
    (folder / "group_vars/all.yml").write_text(json.dumps(described(leaves, ports)))
    return ["-i", str(LAB), "-i", str(folder)]


def described(leaves: dict[str, str], ports: int) -> dict[str, Any]:
    """The intent with nodes on these leaves, which now use so many ports; inventories/lab names only those in use."""
    intent = copy.deepcopy(lab_intent())
    ranges = intent["drawbridge_nodes"]["ranges"]
    ranges += [{"names": name, "node_class": "h100", "leaves": leaf} for name, leaf in leaves.items()]
    for partition in intent["drawbridge_slurm"]["partitions"]:
        partition["nodes"] = ",".join([partition["nodes"], *leaves])
    for kind in intent["drawbridge_fabric"]["switches"]:
        kind["ports"] = f"Ethernet1-{ports}" if kind["tier"] == "leaf" else kind["ports"]
    return intent


def lab_intent() -> dict[str, Any]:
    """The part of inventories/lab that changes when nodes come."""
    domains = ("nodes", "slurm", "fabric")
    files = [yaml.safe_load((LAB / f"group_vars/all/{domain}.yml").read_text()) for domain in domains]
    return {key: value for content in files for key, value in content.items()}
