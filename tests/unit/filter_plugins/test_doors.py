# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Every door from Jinja takes raw variables, and tells what is wrong with them in one sentence."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from tests.unit.module_utils.site.test_refused import site

ROOT = Path(__file__).resolve().parents[3]
SITE = site("lab")
SLURM, GPFS, KUBE = (SITE[f"drawbridge_{domain}"] for domain in ("slurm", "gpfs", "kube"))
NODES, FABRIC = (SITE[f"drawbridge_{domain}"] for domain in ("nodes", "fabric"))
LARGE = site("example-h100")["drawbridge_kube"]

# door, what goes in, where to look in what comes out, what is there
GOOD: list[tuple[str, tuple[Any, ...], tuple[Any, ...], Any]] = [
    ("gate_objects_view", (SLURM, GPFS, KUBE, NODES), ("namespaces", -1, "metadata", "name"), "kube-system"),
    ("gate_objects_view", (SLURM, GPFS, KUBE, NODES), ("accounts", 1, "metadata", "name"), "opener"),
    ("gate_objects_view", (SLURM, GPFS, KUBE, NODES), ("nodes",), ["gpu01", "gpu02", "gpu03", "gpu04"]),
    ("gate_objects_view", (SLURM, GPFS, KUBE, NODES), ("names", "taint"), "drawbridge.io/slurm"),
    ("gate_view", (SLURM, KUBE, NODES, "gpu04"), ("pod_limits", "gpus"), "8"),
    ("gpfs_view", (GPFS, NODES), ("nodes", 0), "gpu01"),
    ("gpfs_view", (GPFS,), (), {"cluster": GPFS["cluster"], "filesystems": GPFS["filesystems"]}),
    ("gpu_operator_view", (NODES, LARGE), (0, "vendor"), "nvidia"),
    ("hostlist_compress", (["n3", "n1", "n2"],), (), "n[3,1-2]"),
    ("hostlist_compress", ("n10,n9",), (), "n[10,9]"),
    ("hostlist_expand", ("r[1-2]n[1-2],login",), (), ["r1n1", "r1n2", "r2n1", "r2n2", "login"]),
    ("hostlist_sorted", (["n3", "n1", "n2"],), (), "n[1-3]"),
    ("hostlist_sorted", ("n10,n9",), (), "n[9-10]"),
    ("infra_room_view", (SLURM, KUBE), ("infra",), ["infra1"]),
    ("kube_node_view", (KUBE,), ("join",), True),
    ("kube_node_view", ({**KUBE, "join": "site"},), ("join",), False),
    ("kubelet_view", (NODES, KUBE, "gpu04"), ("config", "memoryManagerPolicy"), "Static"),
    ("leaves_view", (NODES, "gpu[02-03]"), (), ["leaf1", "leaf2"]),
    ("mirror_view", (NODES, LARGE, SLURM), ("charts", 0, "version"), "v26.7.0"),
    ("nccl_view", (NODES, FABRIC, "gpu01"), ("NCCL_IB_TC",), "106"),
    ("nic_view", (NODES, FABRIC, "gpu01"), ("lossless_priorities",), [3]),
    ("rdma_plugin_view", (NODES, LARGE), (0, "kind"), "ConfigMap"),
    ("run_view", (SLURM, GPFS, KUBE, NODES, "gpu04"), ("gpu_resource",), "nvidia.com/gpu"),
    ("slurm_controller_view", (SLURM, NODES, True), ("books", "cluster"), "lab"),
    ("slurm_login_view", (SLURM,), ("sackd", 0, "path"), "/etc/default/sackd"),
    ("slurm_node_view", (NODES, SLURM, "gpu01"), ("gres",), "gpu:h100:8"),
    ("switch_view", (FABRIC, "spine1"), ("asic",), "jericho"),
]

MISSING = " is missing, but nothing can be built without it"
NO_HOSTS = "can't be read as names of hosts"
WRONG: list[tuple[str, tuple[Any, ...], str]] = [
    ("gate_objects_view", (SLURM, {}, KUBE, NODES), "drawbridge_gpfs"),
    ("gate_view", ({}, KUBE, NODES, "gpu04"), "drawbridge_slurm"),
    ("gpfs_view", ({"filesystems": []}, NODES), "drawbridge_gpfs.admin is missing, but it has no default"),
    ("gpu_operator_view", (NODES, {}), "drawbridge_kube"),
    ("hostlist_compress", ("n[2-1]",), NO_HOSTS),
    ("hostlist_compress", (7,), NO_HOSTS),
    ("hostlist_expand", ("n1,n[2-1]",), "runs backwards"),
    ("hostlist_sorted", ("n[2-1]",), NO_HOSTS),
    ("hostlist_sorted", (7,), NO_HOSTS),
    ("infra_room_view", (SLURM, {}), "drawbridge_kube"),
    ("kube_node_view", ({**KUBE, "join": "maybe"},), "drawbridge_kube.join"),
    ("kubelet_view", (NODES, KUBE, "gpu99"), "gpu99"),
    ("leaves_view", ({"classes": {}}, "gpu01"), "drawbridge_nodes.ranges is missing"),
    ("leaves_view", (NODES, "gpu[01-"), "open bracket"),
    ("mirror_view", (NODES, {}, SLURM), "drawbridge_kube"),
    ("nccl_view", (NODES, None, "gpu01"), "drawbridge_fabric" + MISSING),
    ("nic_view", (NODES, None, "gpu01"), "drawbridge_fabric" + MISSING),
    ("rdma_plugin_view", (NODES, {}), "drawbridge_kube"),
    ("run_view", ({}, GPFS, KUBE, NODES, "gpu04"), "drawbridge_slurm"),
    ("slurm_controller_view", (SLURM, None, True), "drawbridge_nodes" + MISSING),
    ("slurm_login_view", (None,), "drawbridge_slurm" + MISSING),
    ("slurm_node_view", (NODES, None, "gpu01"), "drawbridge_slurm" + MISSING),
    ("slurm_node_view", (NODES, SLURM, "gpu99"), "no range has this node; add it to a range"),
    ("switch_view", (None, "leaf1"), "drawbridge_fabric" + MISSING),
    ("switch_view", (FABRIC, "gpu01"), "none of them is gpu01"),
]


def door(name: str) -> Any:
    module = importlib.import_module(f"ansible_collections.drawbridge.drawbridge.plugins.filter.{name}")
    return module.FilterModule().filters()[name]


@pytest.mark.parametrize(("name", "given", "path", "expected"), GOOD)
def test_raw_variables_go_in(name: str, given: tuple[Any, ...], path: tuple[Any, ...], expected: Any) -> None:
    found = door(name)(*given)
    for key in path:
        found = found[key]
    assert found == expected


@pytest.mark.parametrize(("name", "given", "sentence"), WRONG)
def test_what_is_wrong_is_a_filter_error(name: str, given: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(AnsibleFilterError, match=re.escape(sentence)):
        door(name)(*given)


def test_every_door_has_both() -> None:
    doors = {path.stem for path in (ROOT / "filter_plugins").glob("*.py")}
    assert {name for name, *_ in GOOD} == {name for name, *_ in WRONG} == doors
