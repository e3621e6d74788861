# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What only a virtual machine has.

Accounts of its further packages; GPUs, which are device files with numbers of their own: a control group can allow them
one by one. Those of AMD and of GPUs that can be divided have no driver. The kernel says so to those who may open them.
"""

from __future__ import annotations

from pathlib import Path

from lab.emulators.nvml import provision as nvml
from lab.emulators.provision import GPU_TOOLS, LAUNCHER
from lab.hosts.provision import Context
from lab.hosts.site import Machine
from lab.machine import build
from lab.machine.hardware import Hardware
from lab.machine.provision import show
from lab.vm import packages

# One device a CPU, and any user may open it: nothing else in the guest uses this driver.
DRIVER, MAJOR = "cpuid", 203


def provision(context: Context) -> None:
    """Write what every virtual machine has, and for one with GPUs what makes their device files at each boot."""
    vm = context.host.kind.vm
    if vm is None:
        return
    # a systemd of root's own would start for each login
    context.link("/etc/systemd/system/user@.service", "/dev/null")
    add_accounts(context, packages.ensure(context.paths.cache, context.image))
    if vm.gpus:
        _gpus(context, vm)


def add_accounts(context: Context, layer: Path) -> None:
    """Add what packages have added to the image's files, which the host's own hide."""
    for name in ("passwd", "group", "shadow"):
        known = (context.image / "etc" / name).read_text().splitlines()
        more = [line for line in (layer / "etc" / name).read_text().splitlines() if line not in known]
        with (context.disk / "etc" / name).open("a") as file:
            file.write("".join(f"{line}\n" for line in more))


def _gpus(context: Context, vm: Machine) -> None:
    hardware = Hardware.within(vm)
    if vm.gpu_vendor == "nvidia":
        for path in GPU_TOOLS:
            context.link(path, LAUNCHER)
    if vm.mig:
        nvml.provision(context, hardware)
    if vm.mig or vm.gpu_vendor != "nvidia":
        show(context, build.ensure(context.paths.cache, hardware, build.gpus_alone))
        return
    context.write("/etc/modules-load.d/lab-gpus.conf", f"{DRIVER}\n")
    context.write("/etc/tmpfiles.d/lab-gpus.conf", device_files(vm))


def device_files(vm: Machine) -> str:
    """tmpfiles.d(5): a character device for each GPU."""
    return "".join(f"c /dev/nvidia{gpu} 0666 root root - {MAJOR}:{gpu}\n" for gpu in range(vm.gpus))
