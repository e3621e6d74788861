# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The device plugin of NVIDIA (internal/rm/device_map.go) offers GPUs and instances under these names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.gpu_resources import (
    device_names,
    gpu_places,
    gpu_resources,
    is_uniform,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.model import (
    NO_GPUS,
    Gpus,
    Mig,
    MigException,
    Nodes,
)

from tests.unit.module_utils.lab import NODES

WHOLE = Gpus("h100", (0, 0, 1, 1))


def divided(layout: Mapping[str, int], *whole: int) -> Gpus:
    """Four GPUs, of which some stay whole."""
    return replace(WHOLE, mig=Mig(layout, (MigException(whole, {}),) if whole else ()))


HALVES, SOME = divided({"3g.40gb": 2}), divided({"3g.40gb": 1, "1g.10gb+me": 1}, 0, 3)


@pytest.mark.parametrize(
    ("gpus", "strategy", "offered"),
    [
        (NO_GPUS, "mixed", {}),
        (WHOLE, "none", {"nvidia.com/gpu": 4}),
        (WHOLE, "mixed", {"nvidia.com/gpu": 4}),
        (HALVES, "none", {"nvidia.com/gpu": 4}),
        (HALVES, "single", {"nvidia.com/gpu": 8}),
        (HALVES, "mixed", {"nvidia.com/mig-3g.40gb": 8}),
        (SOME, "none", {"nvidia.com/gpu": 4}),
        (SOME, "mixed", {"nvidia.com/gpu": 2, "nvidia.com/mig-3g.40gb": 2, "nvidia.com/mig-1g.10gb.me": 2}),
    ],
)
def test_names_of_gpus_follow_from_the_strategy(gpus: Gpus, strategy: str, offered: dict[str, int]) -> None:
    assert gpu_resources(gpus, strategy) == offered


def test_each_name_has_the_numa_nodes_of_its_gpus() -> None:
    assert gpu_places(WHOLE, "mixed") == {"nvidia.com/gpu": (0, 0, 1, 1)} == gpu_places(HALVES, "single")
    found = gpu_places(divided({"3g.40gb": 2, "1g.10gb": 1}, 2), "mixed")
    assert found == {
        "nvidia.com/mig-3g.40gb": (0, 0, 1),
        "nvidia.com/mig-1g.10gb": (0, 0, 1),
        "nvidia.com/gpu": (1,),
    }


def test_one_name_is_for_instances_of_one_profile_alone() -> None:
    assert is_uniform(HALVES)
    assert is_uniform(replace(HALVES, mig=Mig({"1g.10gb": 7}, (MigException((0,), {"1g.10gb": 2}),))))
    others = (WHOLE, NO_GPUS, SOME, divided({"3g.40gb": 2}, 0), divided({"3g.40gb": 1, "1g.10gb": 2}))
    assert not any(is_uniform(gpus) for gpus in others)


def of(*gpus: Gpus) -> Nodes:
    """Classes of equal nodes with these GPUs."""
    build = NODES.classes["h100"]
    return replace(NODES, classes={f"class{at}": replace(build, gpus=it) for at, it in enumerate(gpus)})


def test_a_site_has_names_of_instances_that_some_node_offers() -> None:
    assert device_names(of(WHOLE, HALVES), "single") == ["nvidia.com/gpu"]
    names = ["nvidia.com/gpu", "nvidia.com/mig-1g.10gb.me", "nvidia.com/mig-3g.40gb"]
    assert device_names(of(HALVES, SOME), "mixed") == names
    amd = replace(WHOLE, type="mi300x", vendor="amd")
    assert device_names(of(amd, HALVES), "mixed") == ["nvidia.com/gpu", "amd.com/gpu", "nvidia.com/mig-3g.40gb"]
