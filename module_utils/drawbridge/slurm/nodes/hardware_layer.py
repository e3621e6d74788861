# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node's hardware, compared with its class."""

from __future__ import annotations

from typing import Any

from ...core.command import Command
from ...core.layer import Layer, Params, Unknown, Work
from ...core.spec import bare, documented
from ...core.units import Unit
from ...nodes.gpus.instances_text import ANY, NONE, USED
from ...nodes.gpus.vendors import DEFAULT, VENDORS
from .hardware_io import Hardware
from .hardware_plan import REPAIR, HardwareState, difference, plan
from .model import Machine

SPEC: dict[str, Any] = {
    "name": {"type": "str", "required": True},
    "machine": bare({**documented(Machine), "required": True}),
    "gpu_vendor": {"type": "str", "choices": [*VENDORS], "default": DEFAULT},
    "gpu_numbers": {"type": "list", "elements": "int", "default": []},
    "gpu_modes": {"type": "dict", "default": {}},
    "gpu_instances": {"type": "str", "choices": [ANY, USED, NONE], "default": NONE},
    "gpu_files": {"type": "path", "default": ""},
}

VIEWED = ("name", "machine", "gpu_vendor", "gpu_numbers", "gpu_modes", "gpu_instances")


def work(params: Params, check: bool) -> Work[HardwareState]:
    """Drain a node that differs, and fail."""
    run = Command(timeout_s=30)
    if not Unit("slurmd.service", run).read().installed:
        raise Unknown("slurmd.service is not installed yet")
    vendor = VENDORS[params["gpu_vendor"]]
    device = Hardware(run, params["name"], vendor, params["gpu_files"], params["gpu_numbers"], params["gpu_modes"])
    device.instances = params["gpu_instances"]
    want = HardwareState(params["name"], Machine(**params["machine"]))

    def error_of(error: str) -> str:
        found = difference(device.found, want.machine)
        sentence = f"{params['name']} has {found}; {REPAIR}" if found else ""
        return f"{sentence} ({error})" if sentence and error else sentence or error

    return Work(device, plan, want, error_of=error_of)


SLURM_NODE_HARDWARE = Layer(SPEC, work, viewed=VIEWED)
