# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""This machine: its GPUs by nvidia-smi, its driver's files, a process with a CUDA context."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.gpu.driver import Gpu, gpus, unfit

SMI, LIBRARY = "nvidia-smi", "libnvidia-ml.so.1"
LIMIT_S = 60
MODES = (
    *("index", "mig.mode.current", "mig.mode.pending", "persistence_mode", "compute_mode"),
    *("ecc.mode.current", "ecc.mode.pending", "power.limit"),
)
"""Settings that the tests must leave as they are."""
HOSTS_PIDS = 0xEFFFFFFC
"""Inode of the first PID namespace. In others the driver's numbers of processes mean nothing."""
CUDA = """
import ctypes, sys
cuda, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
for name, *words in (("cuInit", 0), ("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)):
    if code := getattr(cuda, name)(*words):
        sys.exit(f"{name} failed with {code}")
print("ready", flush=True)
sys.stdin.read()
"""
"""A program that uses the first GPU until its input ends."""


def smi(*words: str) -> str:
    """The output of nvidia-smi."""
    argv = [SMI, *words]
    return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=LIMIT_S).stdout


def seen() -> list[Gpu]:
    """This machine's GPUs."""
    return gpus(smi("-q", "-x"), smi("topo", "-m"))


def users() -> list[int]:
    """Processes that compute on GPUs."""
    return [int(pid) for pid in smi("--query-compute-apps=pid", "--format=csv,noheader").split()]


def modes() -> str:
    """The settings of all GPUs."""
    return smi(f"--query-gpu={','.join(MODES)}", "--format=csv")


def refusal(devices: Path = Path("/dev")) -> str:
    """Why the tests can't run here; empty if they can."""
    if not list(devices.glob("nvidia[0-9]*")):
        return "this machine has no NVIDIA GPU (no file /dev/nvidia0)"
    if os.geteuid():
        return "it needs root, for the namespaces and control groups of Slurm's daemons"
    if not shutil.which(SMI):
        return f"{SMI} is not on PATH"
    try:
        found = seen()
        ctypes.CDLL(LIBRARY)
        return unfit(found, users()) if found else f"{SMI} lists no GPU"
    except subprocess.CalledProcessError as err:
        return f"{SMI} failed: {(err.stdout + err.stderr).strip()}"
    except (OSError, ValueError, subprocess.SubprocessError) as err:
        return f"the driver does not answer as expected: {err}"


def driver_files() -> dict[str, Path]:
    """Files of the driver that nvidia-smi needs, by their paths on a host for tests."""
    ctypes.CDLL(LIBRARY)
    mapped = (line.split(maxsplit=5)[-1] for line in Path("/proc/self/maps").read_text().splitlines())
    library = next(Path(path) for path in mapped if Path(path).name.startswith("libnvidia-ml.so"))
    return {f"usr/bin/{SMI}": Path(shutil.which(SMI) or SMI), f"usr/lib/{LIBRARY}": library}


def in_hosts_pids() -> bool:
    """Whether this process and the driver count processes alike."""
    return Path("/proc/self/ns/pid").stat().st_ino == HOSTS_PIDS


@contextlib.contextmanager
def computing() -> Iterator[int]:
    """A process with a CUDA context on the first GPU. It ends with the block."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", CUDA], stdin=pipe, stdout=pipe, stderr=pipe, text=True) as child:
        assert child.stdin and child.stdout and child.stderr
        try:
            assert child.stdout.readline() == "ready\n", child.stderr.read()
            yield child.pid
        finally:
            child.stdin.close()
            child.wait(LIMIT_S)
