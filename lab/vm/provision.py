# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Give a virtual machine GPUs: device files with numbers of their own, which a control group can allow one by one."""

from __future__ import annotations

from lab.emulators.provision import GPU_TOOLS, LAUNCHER
from lab.hosts.provision import Context
from lab.hosts.site import Machine

# One device a CPU, and anybody may open it: nothing else in the guest uses this driver.
DRIVER, MAJOR = "cpuid", 203


def provision(context: Context) -> None:
    """Write what makes the device files at each boot, and the tool that lists them."""
    vm = context.host.kind.vm
    if vm is None or not vm.gpus:
        return
    context.write("/etc/modules-load.d/lab-gpus.conf", f"{DRIVER}\n")
    context.write("/etc/tmpfiles.d/lab-gpus.conf", device_files(vm))
    for path in GPU_TOOLS:
        context.link(path, LAUNCHER)


def device_files(vm: Machine) -> str:
    """tmpfiles.d(5): a character device for each GPU."""
    return "".join(f"c /dev/nvidia{gpu} 0666 root root - {MAJOR}:{gpu}\n" for gpu in range(vm.gpus))
