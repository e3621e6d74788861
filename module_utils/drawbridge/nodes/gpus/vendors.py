# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The vendors of GPUs: one row each. No other file of Drawbridge names a vendor's devices, tools or words."""

from __future__ import annotations

from collections.abc import Mapping

from . import amd, nvidia, nvidia_mig_tools
from .vendor import Partition, Vendor

_SMI, _AMD_SMI = "nvidia-smi", "amd-smi"
_AMD_GPU = amd.DEVICE.format("*")
DEFAULT = "nvidia"
VENDORS: Mapping[str, Vendor] = {
    DEFAULT: Vendor(
        devices="/dev/nvidia",
        major=195,
        # 195:254 and 195:255 are nvidia-modeset and nvidiactl
        minors_below=254,
        pci="0x10de",
        pci_classes=("0x0300", "0x0302"),
        types=r"(?:gh|gb|[abhlpvt])[0-9]{2,4}.*|(?:nvidia|tesla|quadro|geforce|rtx|gtx|titan).*",
        products=(_SMI, "--query-gpu=pci.bus_id,name", "--format=csv,noheader"),
        read_products=nvidia.products,
        about="/proc/driver/nvidia/gpus/{pci}/information",
        topology=f"{_SMI} topo -m",
        driver="/proc/driver/nvidia/version",
        driver_version="/sys/module/nvidia/version",
        resource="nvidia.com/gpu",
        environment_flag="nvidia_gpu_env",
        slurm_plugin="gpu_nvml.so",
        daemons=("nvidia-persistenced", "nv-hostengine", "nv-fabricmanager"),
        identity="GPU UUID",
        read_minor=nvidia.minor,
        listing=(_SMI, "--list-gpus"),
        listed="GPU ",
        autodetect="nvml",
        instance=r"\s+MIG (\S+)\s+Device ",
        divider=nvidia_mig_tools.DIVIDER,
        instance_resource="nvidia.com/mig-{profile}",
        exporter_port=9400,
        release=(_SMI, "--query-gpu=driver_version", "--format=csv,noheader"),
        processes=(_SMI, "--query-compute-apps=pid", "--format=csv,noheader"),
        open_driver="Open Kernel",
        peer_memory="nvidia_peermem",
        switches="/dev/nvidia-nvswitch",
        switch_unit="nvidia-fabricmanager",
    ),
    "amd": Vendor(
        devices="/dev/dri/renderD",
        major=226,
        # card nodes have smaller numbers, and a display of the board is one; a late kernel has numbers above 191
        minors_from=128,
        minors_below=1 << 20,
        # of a GPU with eight partitions the driver keeps eight numbers, of others one
        counted=False,
        pci="0x1002",
        # accelerators, and displays without a screen; a display of the board is 0x0300
        pci_classes=("0x1200", "0x0380"),
        types=r"mi[0-9]{2,3}.*|(?:amd|instinct|radeon).*",
        products=(_AMD_SMI, "static", "--asic", "--bus", "--json"),
        read_products=amd.products,
        about=f"{_AMD_GPU}/unique_id",
        topology=f"cat {_AMD_GPU}/numa_node",
        driver="/sys/module/amdgpu/initstate",
        # the file exists for a driver of AMD's packages (DKMS)
        driver_version="/sys/module/amdgpu/version",
        loaded="live",
        resource="amd.com/gpu",
        environment_flag="amd_gpu_env",
        slurm_plugin="gpu_rsmi.so",
        daemons=("gpuagent", "amd-metrics-exporter"),
        listed="drm_render_minor [1-9]",
        kernel_list=f"{amd.KFD}/topology/nodes/*/properties",
        read_kernel_list=amd.gpu,
        # /dev/kfd is one file for all GPUs: a process that has it open is here, with or without a render node
        process_folder=f"{amd.KFD}/proc",
        job_mapping="/run/exporter",
        exporter_port=5000,
        partitions={
            "compute": Partition(
                f"{_AMD_GPU}/current_compute_partition", f"{_AMD_SMI} set -g all -C {{mode}}", live=True
            ),
            # of all GPUs of the node together
            "memory": Partition(
                f"{_AMD_GPU}/current_memory_partition", f"{_AMD_SMI} set -g all -M {{mode}}, then reload amdgpu"
            ),
        },
        parts=amd.parts,
        fitting=amd.FITTING,
        collectives="/etc/rccl.conf",
    ),
}
