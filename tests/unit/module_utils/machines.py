# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Sites of one node, each a machine of tests/machines.yml."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes import hardware_io, lldp_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.model import Intent

from tests.machines import IN_MEMORY, Machine, machines, products, write
from tests.unit.module_utils.answers import Answers

ALL = machines()
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


@functools.cache
def facts(name: str) -> dict[str, Any]:
    """What Drawbridge reads of a machine, for tests that do not change it."""
    machine, without = ALL[name], {one: DeviceError(f"{one} is not installed") for one in ("lldpctl", "networkctl")}
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(hardware_io, "tool", lambda name: name)
        patch.setattr(lldp_io, "tool", lambda name: name)
        write(machine, Path(folder))
        return hardware_io.Host(Answers({"nvidia-smi": products(machine), **without}), folder).read()
