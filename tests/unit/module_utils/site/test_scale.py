# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a host is handed costs the same in a small and in a large cluster.

A view is made anew for every host and task, so one that grows with the cluster costs its square. Steps of the
interpreter are counted, because they are the same on every machine.
"""

from __future__ import annotations

import copy
import gc
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.filter.views import FilterModule
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import hostlist
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import (
    DOMAINS,
    KEPT,
    of_variables,
)

from tests.unit.module_utils.site.test_refused import site

SMALL, LARGE = 8, 4096
NODE = "gpu0008"
Site = dict[str, Any]
FILTERS = FilterModule().filters()
VIEWS = {
    "nic": (NODE,),
    "gpfs_client": (NODE,),
    "nfs_client": (),
    "filesystems": (),
    "slurm_node": (NODE, True),
    "slurm_login": (),
    "kubelet": (NODE,),
    "gate": (NODE,),
    "drawbridge_run": (NODE,),
    "switch": ("leaf1",),
}
"""What a host is handed, by name, and what it takes beside parts of the intent."""


def derive(view: str, variables: Site) -> Any:
    door = FILTERS[f"{view}_view"]
    parts = [variables[f"drawbridge_{name}"] for name in inspect.signature(door).parameters if name in DOMAINS]
    return door(*parts, *VIEWS[view])


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
    KEPT.clear()
    hostlist.expanded.cache_clear()


@pytest.mark.parametrize(("first", "second"), [(1, True), ("1", 1), ([1], [True])])
def test_a_view_is_made_anew_for_a_value_of_another_type(first: Any, second: Any) -> None:
    """Text of an own setting differs although Python calls the values equal."""
    made = of_variables(lambda value: value)
    assert [type(item) for item in (made(first), made(first), made(second))] == [
        *(type(first), type(first)),
        type(second),
    ]
    assert repr(made(second)) == repr(second)


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
