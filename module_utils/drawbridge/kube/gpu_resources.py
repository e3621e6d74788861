# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Names by which pods request GPUs and their instances, as a strategy of the device plugin offers them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..nodes.model import Gpus, Nodes

NONE, SINGLE, MIXED = "none", "single", "mixed"
"""Strategies. none: a divided GPU is offered as one GPU. single: instances are offered as GPUs. mixed: by profile."""
STRATEGIES = (NONE, SINGLE, MIXED)


def gpu_resources(gpus: Gpus, strategy: str) -> dict[str, int]:
    """All that a node offers of its GPUs, by name, with the number of each."""
    found: Counter[str] = Counter()
    for _numa, name, count in _offers(gpus, strategy):
        found[name] += count
    return dict(found)


def gpu_places(gpus: Gpus, strategy: str) -> dict[str, tuple[int, ...]]:
    """NUMA nodes of what a node offers, by name, one for each GPU that has some of it."""
    found: dict[str, tuple[int, ...]] = {}
    for numa, name, _count in _offers(gpus, strategy):
        found[name] = (*found.get(name, ()), numa)
    return found


def is_uniform(gpus: Gpus) -> bool:
    """Whether the strategy single can name the instances: all GPUs are divided, into instances of one profile."""
    return all(gpus.layouts) and len(gpus.resources) == 1


def device_names(nodes: Nodes, strategy: str) -> list[str]:
    """Names of the GPUs and instances of all nodes: GPUs of each vendor, then instances."""
    whole = [vendor.resource for vendor in nodes.gpu_vendors]
    offered = {name for build in nodes.classes.values() for name in gpu_resources(build.gpus, strategy)}
    return [*whole, *sorted(offered.difference(whole))]


def _offers(gpus: Gpus, strategy: str) -> Iterator[tuple[int, str, int]]:
    """NUMA node, name and number of what each GPU offers."""
    for numa, layout in zip(gpus.numa, gpus.layouts):
        if not layout or strategy == NONE:
            yield numa, gpus.made_by.resource, 1
            continue
        for profile, count in layout.items():
            yield numa, gpus.made_by.resource if strategy == SINGLE else _name(gpus, profile), count


def _name(gpus: Gpus, profile: str) -> str:
    """The name of instances of a profile. Kubernetes allows no plus sign in it."""
    return gpus.made_by.instance_resource.format(profile=profile.replace("+", "."))
