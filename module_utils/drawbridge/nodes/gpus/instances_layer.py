# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Instances of a node's GPUs."""

from __future__ import annotations

from typing import Any

from ...core.command import Command, tool
from ...core.converge import DeviceError
from ...core.layer import Layer, Params, Unknown, Work
from .instances_io import Instances, Slurm
from .instances_plan import NodeInstances, plan, wanted
from .vendors import DEFAULT, VENDORS

LIMIT_S = 120
"""For a start of slurmd, and for each reading: without its daemon the driver begins anew."""
SPEC: dict[str, Any] = {
    "name": {"type": "str", "required": True},
    "gpu_vendor": {"type": "str", "choices": [*VENDORS], "default": DEFAULT},
    "gpus": {"type": "list", "elements": "dict", "default": []},
    "timeout_s": {"type": "int", "default": 300},
}


def work(params: Params, check: bool) -> Work[NodeInstances]:
    """All GPUs of the host."""
    vendor, limit_s = VENDORS[params["gpu_vendor"]], params["timeout_s"]
    try:
        want = wanted(params["gpus"])
    except (TypeError, ValueError) as err:
        raise DeviceError(f"gpus has a count that is no number: {err}") from err
    if not vendor.divider:
        raise DeviceError(f"gpu_vendor is {params['gpu_vendor']}, whose GPUs have no instances")
    if want.gpus:
        try:
            tool(vendor.listing[0])
        except DeviceError as err:
            raise Unknown(str(err)) from err
    run = Command(LIMIT_S)
    device = Instances(vendor, vendor.divider, want, run, lambda text: Command(limit_s, stdin=text))
    slurm = Slurm(run, params["name"])
    device.find, device.restarted = tool, slurm.registered
    return Work(device, plan, want, in_use=slurm.in_use)


GPU_INSTANCES = Layer(SPEC, work, viewed=("name", "gpu_vendor", "gpus"))
