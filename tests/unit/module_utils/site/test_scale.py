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
from ansible_collections.drawbridge.drawbridge.plugins.filter.view import view
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import hostlist
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site import compose

from tests.unit.module_utils.site.test_refused import site

SMALL, LARGE = 8, 4096
NODE = "gpu0008"
Site = dict[str, Any]
VIEWS: dict[str, dict[str, Any]] = {
    "nic": {},
    "gpfs_client": {},
    "nfs_client": {},
    "filesystems": {},
    "slurm_node": {"cgroups": True},
    "slurm_login": {},
    "kubelet": {},
    "gate": {},
    "drawbridge_run": {},
    "switch": {"name": "leaf1", "chosen": ""},
}
"""What a host is handed, by name, and what it takes beside domains."""


def derive(name: str, variables: Site) -> Any:
    return view({**variables, "inventory_hostname": NODE}, name, **VIEWS[name])


def declared(nodes: int) -> Site:
    """The lab's site with so many nodes, all in one range."""
    variables = copy.deepcopy(site("lab"))
    variables["drawbridge_nfs"] = {"mounts": [{"server": "filer", "export": "/export/data", "mount": "/data"}]}
    names = f"gpu[0001-{nodes:04d}]"
    variables["drawbridge_nodes"]["ranges"] = [{"names": names, "node_class": "h100", "leaves": "leaf1"}]
    for partition in variables["drawbridge_slurm"]["partitions"]:
        partition["nodes"] = names
    return variables


def forget() -> None:
    """Forget derived values, so that the next call derives them anew."""
    compose.KEPT.clear()
    hostlist.expanded.cache_clear()


@pytest.mark.parametrize(("first", "second"), [(1, True), ("1", 1), ([1], [True])])
def test_a_view_is_made_anew_for_a_value_of_another_type(first: Any, second: Any) -> None:
    """Text of an own setting differs although Python calls the values equal."""

    def same(value: Any) -> Any:
        return value

    made = [compose.derive(same, {}, {"value": value}) for value in (first, first, second)]
    assert [repr(item) for item in made] == [repr(value) for value in (first, first, second)]


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
        derive(name, variables)
        forget()
        return steps(lambda: derive(name, variables))

    assert made(LARGE) <= made(SMALL) * 1.1


def test_steps_see_work_that_grows() -> None:
    forget()
    assert steps(lambda: hostlist.expand("n[1-4096]")) > 100 * steps(lambda: hostlist.expand("n[1-8]"))
