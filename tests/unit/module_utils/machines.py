# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Sites of one node, each a machine of tests/machines.yml."""

from __future__ import annotations

from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.model import Intent

from tests.machines import Machine
from tests.unit.module_utils.machine_facts import ALL

DESCRIBED = [name for name, machine in ALL.items() if not machine.refused]
"""Machines of which there are node classes."""


def node_class(machine: Machine, **change: Any) -> dict[str, Any]:
    """Its node class."""
    gpus = {"type": "h100", "numa": list(machine.gpus), "minors": list(machine.minors)}
    return {
        **machine.described,
        **({"gpus": gpus} if machine.gpus else {}),
        "slurm_cpu": machine.slurm_cpu,
        "memory_mib": 262144,
        "reserved_cpus": machine.reserved,
        "reserved_memory_mib": 8192,
        **change,
    }


def intent(machine: Machine, **change: Any) -> Intent:
    """A site with one such node, n1."""
    classes = {"a": node_class(machine, **change)}
    slurm: dict[str, Any] = {"cluster": "demo", "controller": "head", "packages": "site", "topology": "none"}
    slurm["partitions"] = [{"name": "batch", "nodes": "n1"}]
    slurm["settings"] = {"SlurmdParameters": machine.slurmd} if machine.slurmd else {}
    ranges = [{"names": "n1", "node_class": "a"}]
    nodes = {"os": "ubuntu-22.04", "classes": classes, "ranges": ranges}
    return load({"drawbridge_nodes": nodes, "drawbridge_slurm": slurm})
