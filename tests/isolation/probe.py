# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What may this process use? It tries, and prints a JSON object. It runs in jobs, by itself."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
GPUS = ("nvidia[0-9]", "nvidia-caps/nvidia-cap*", "dri/renderD*")
"""Device files of GPUs and of their instances, below /dev."""
VISIBLE = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")


def groups() -> Iterator[Path]:
    """This process's control group, and those around it."""
    here = ROOT / Path("/proc/self/cgroup").read_text().split("::")[1].strip().lstrip("/")
    for folder in (here, *here.parents):
        if folder.is_relative_to(ROOT):
            yield folder


def least(name: str) -> int | None:
    """The lowest limit of this name; None without any."""
    files = [folder / name for folder in groups()]
    values = [file.read_text().strip() for file in files if file.exists()]
    return min((int(value) for value in values if value != "max"), default=None)


def runs_on(cpu: int) -> bool:
    """Whether the kernel lets this process go to a CPU."""
    try:
        os.sched_setaffinity(0, {cpu})
    except OSError:
        return False
    return True


def opens(path: str) -> bool:
    """Whether the kernel lets this process use a device. Only then it looks for the driver, which may not be there."""
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError as error:
        return error.errno in (errno.ENXIO, errno.ENODEV)
    return True


print(
    json.dumps(
        {
            "given": sorted(os.sched_getaffinity(0)),
            "cpus": [cpu for cpu in range(os.cpu_count() or 0) if runs_on(cpu)],
            "memory_mib": (least("memory.max") or 0) >> 20,
            "swap": least("memory.swap.max"),
            "gpus": [str(path) for name in GPUS for path in sorted(Path("/dev").glob(name)) if opens(str(path))],
            "kfd": opens("/dev/kfd"),
            "visible": next((os.environ[name] for name in VISIBLE if name in os.environ), ""),
            "user": os.getuid(),
        }
    ),
    flush=True,
)
