# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""dmesg on a host with GPUs: the kernel's start, the GPU driver's, and Xids.

The lab's hosts share a kernel, whose log is the machine's. Xids are planted in the device `proof`, below `gpus` and the
index as `xid`: the number. A log has those of its own boot: of the one that showed them first.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ..common import REFUSE, Call, host_device
from .nvidia_smi import BUSES, DRIVER

BOOT = Path("/proc/sys/kernel/random/boot_id")
"""A container has one of its own."""
DENIED = "dmesg: read kernel buffer failed: Operation not permitted"
LOADED = "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  {}  Release Build"
TEXTS = {48: "pid=1234, name=python3, DBE (double bit error) detected", 79: "GPU has fallen off the bus."}


def main(name: str, argv: list[str]) -> int:
    """Print the log and return the exit code."""
    with Call(host_device("dmesg"), name, argv) as call:
        if call.fault(writes=False) == REFUSE:
            print(DENIED, file=sys.stderr)
            call.rc = 1
        else:
            lines = [f"Linux version {os.uname().release}", LOADED.format(DRIVER), *_xids()]
            print(*(f"[{at:12.6f}] {line}" for at, line in enumerate(lines)), sep="\n")
            call.rc = 0
    return call.rc or 0


def _xids() -> list[str]:
    boot = BOOT.read_text().strip()
    with host_device("proof").state() as state:
        planted = {int(index): gpu for index, gpu in state.get("gpus", {}).items() if "xid" in gpu}
        codes = {index: gpu["xid"] for index, gpu in planted.items() if gpu.setdefault("xid_boot", boot) == boot}
    return [
        f"NVRM: Xid (PCI:0000:{BUSES[index].lower()}:00): {code}, {TEXTS.get(code, 'pid=1234, name=python3')}"
        for index, code in sorted(codes.items())
    ]
