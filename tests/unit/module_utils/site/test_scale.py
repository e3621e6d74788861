# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a host is handed costs the same in a small and in a large cluster.

A view is made anew for every host and task, so one that grows with the cluster costs its square. Steps of the
interpreter are counted, because they are the same on every machine.
"""

from __future__ import annotations

import copy
import gc
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.filter.gate_view import gate_view
from ansible_collections.drawbridge.drawbridge.plugins.filter.gpfs_view import gpfs_view
from ansible_collections.drawbridge.drawbridge.plugins.filter.kubelet_view import kubelet_view
from ansible_collections.drawbridge.drawbridge.plugins.filter.nccl_view import nccl_view
from ansible_collections.drawbridge.drawbridge.plugins.filter.nic_view import nic_view
from ansible_collections.drawbridge.drawbridge.plugins.filter.slurm_login_view import slurm_login_view
from ansible_collections.drawbridge.drawbridge.plugins.filter.slurm_node_view import slurm_node_view
from ansible_collections.drawbridge.drawbridge.plugins.filter.switch_view import switch_view
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import hostlist

from tests.unit.module_utils.site.test_refused import site

SMALL, LARGE = 8, 4096
NODE = "gpu0008"
Site = dict[str, Any]
View = Callable[[Site, Site, Site, Site, Site], Any]

VIEWS: dict[str, View] = {
    "nic": lambda fabric, nodes, slurm, gpfs, kube: nic_view(nodes, fabric, NODE),
    "nccl": lambda fabric, nodes, slurm, gpfs, kube: nccl_view(nodes, fabric, NODE),
    "gpfs": lambda fabric, nodes, slurm, gpfs, kube: gpfs_view(gpfs),
    "slurm_node": lambda fabric, nodes, slurm, gpfs, kube: slurm_node_view(nodes, slurm, NODE),
    "slurm_login": lambda fabric, nodes, slurm, gpfs, kube: slurm_login_view(slurm),
    "kubelet": lambda fabric, nodes, slurm, gpfs, kube: kubelet_view(nodes, kube, NODE),
    "gate": lambda fabric, nodes, slurm, gpfs, kube: gate_view(slurm, kube, nodes, NODE),
    "switch": lambda fabric, nodes, slurm, gpfs, kube: switch_view(fabric, "leaf1"),
}


def declared(nodes: int) -> Site:
    """The lab's site with so many nodes, all in one range."""
    variables = copy.deepcopy(site("lab"))
    names = f"gpu[0001-{nodes:04d}]"
    variables["drawbridge_nodes"]["ranges"] = [{"names": names, "node_class": "h100", "leaf": "leaf1"}]
    for partition in variables["drawbridge_slurm"]["partitions"]:
        partition["nodes"] = names
    return variables


def steps(work: Callable[[], object]) -> int:
    """Lines of Python that some work runs, list comprehensions by their turns."""
    count = 0

    def line(frame: types.FrameType, event: str, arg: object) -> Any:
        nonlocal count
        count += event == "line"
        return line

    before = sys.gettrace()
    gc.disable()  # it calls back into hypothesis, where other tests of this process have loaded it
    sys.settrace(line)
    try:
        work()
    finally:
        sys.settrace(before)
        gc.enable()
    return count


@pytest.mark.parametrize("name", VIEWS)
def test_what_a_host_is_handed_costs_the_same_in_a_large_cluster(name: str) -> None:
    def made(nodes: int) -> int:
        variables = declared(nodes)
        parts = [variables[f"drawbridge_{domain}"] for domain in ("fabric", "nodes", "slurm", "gpfs", "kube")]
        VIEWS[name](*parts)
        return steps(lambda: VIEWS[name](*parts))

    assert made(LARGE) <= made(SMALL) * 1.1


def test_steps_see_work_that_grows() -> None:
    assert steps(lambda: hostlist.expand("n[1-4096]")) > 100 * steps(lambda: hostlist.expand("n[1-8]"))
