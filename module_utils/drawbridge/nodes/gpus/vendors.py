# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The vendors of GPUs: one row each. No other file of Drawbridge names a vendor's devices, tools or words."""

from __future__ import annotations

from collections.abc import Mapping

from . import nvidia
from .vendor import Vendor

_SMI = "nvidia-smi"
DEFAULT = "nvidia"
VENDORS: Mapping[str, Vendor] = {
    DEFAULT: Vendor(
        devices="/dev/nvidia",
        major=195,
        # 195:254 and 195:255 are nvidia-modeset and nvidiactl
        minors_below=254,
        pci="0x10de",
        pci_classes=("0x0300", "0x0302"),
        products=(_SMI, "--query-gpu=pci.bus_id,name", "--format=csv,noheader"),
        read_products=nvidia.products,
        about="/proc/driver/nvidia/gpus/{pci}/information",
        read_minor=nvidia.minor,
        listing=(_SMI, "--list-gpus"),
        listed="GPU ",
        release=(_SMI, "--query-gpu=driver_version", "--format=csv,noheader"),
        processes=(_SMI, "--query-compute-apps=pid", "--format=csv,noheader"),
        topology=f"{_SMI} topo -m",
        driver="/proc/driver/nvidia/version",
        driver_version="/sys/module/nvidia/version",
        identity="GPU UUID",
        open_driver="Open Kernel",
        peer_memory="nvidia_peermem",
        switches="/dev/nvidia-nvswitch",
        switch_unit="nvidia-fabricmanager",
        resource="nvidia.com/gpu",
        environment_flag="nvidia_gpu_env",
        daemons=("nvidia-persistenced", "nv-hostengine", "nv-fabricmanager"),
    ),
}
