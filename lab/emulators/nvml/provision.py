# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The emulated NVML and NVIDIA's own nvidia-mig-parted on a host of the lab. Each boot begins with whole GPUs."""

from __future__ import annotations

import uuid

from lab.emulators.nodes.nvidia_smi import BUSES
from lab.emulators.nvml import build, state
from lab.hosts.provision import Bind, Context
from lab.machine.hardware import Hardware, cpu_list
from lab.tools import build as tools

LIBRARY = "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"
PROGRAM = "/usr/lib/nvidia-mig-parted/nvidia-mig-parted"
WHOLE = "/usr/share/emulated-nvml/state"


def provision(context: Context, hardware: Hardware) -> None:
    """Library, program and the state of a boot."""
    cache = context.paths.cache
    program = tools.ensure(cache, binaries=[tools.MIG_PARTED])[tools.MIG_PARTED.name]
    context.binds.extend([Bind(build.ensure(cache), LIBRARY), Bind(program, PROGRAM)])
    context.link("/usr/bin/nvidia-mig-parted", "/opt/lab/nvml/nvidia-mig-parted")
    context.write(WHOLE, state.text(state.State(gpus(context, hardware))))
    lines = [f"d {state.PATH.parent} 0755 root root -", f"C {state.PATH} 0666 root root - {WHOLE}"]
    context.write("/etc/tmpfiles.d/emulated-nvml.conf", "".join(f"{line}\n" for line in lines))


def gpus(context: Context, hardware: Hardware) -> list[state.Gpu]:
    """GPUs of the host, as nvidia-smi lists them."""
    return [
        state.Gpu(
            *(index, f"00000000:{BUSES[index]}:00.0"),
            f"GPU-{uuid.uuid5(uuid.NAMESPACE_DNS, f'{index}.{context.host.name}')}",
            cpu_list(hardware.cpus_of(node)),
        )
        for index, node in enumerate(hardware.gpu_numa)
    ]
