# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Partition modes of a node's GPUs."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...core.command import Command
from ...core.converge import DeviceError
from ...core.layer import Layer, Params, Work
from .instances_io import Slurm
from .modes_io import Modes
from .modes_plan import GpuModes, plan
from .vendors import DEFAULT, VENDORS

SPEC: dict[str, Any] = {
    "name": {"type": "str", "required": True},
    "gpu_vendor": {"type": "str", "choices": [*VENDORS], "default": DEFAULT},
    "gpu_modes": {"type": "dict", "default": {}},
}


def work(params: Params, check: bool) -> Work[GpuModes]:
    """All GPUs of the host."""
    vendor, want = VENDORS[params["gpu_vendor"]], GpuModes({key: (mode,) for key, mode in params["gpu_modes"].items()})
    if unknown := sorted(want.modes.keys() - vendor.partitions.keys()):
        raise DeviceError(f"gpu_modes has {unknown[0]}, which GPUs of {params['gpu_vendor']} have not")
    slurm = Slurm(Command(timeout_s=120), params["name"])
    return Work(Modes(vendor, want), partial(plan, parts=vendor.partitions), want, in_use=slurm.in_use)


GPU_MODES = Layer(SPEC, work, viewed=("name", "gpu_vendor", "gpu_modes"))
