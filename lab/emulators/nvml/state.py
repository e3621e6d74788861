# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The file of the emulated NVML as a value, and files of the kernel that belong to it."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PATH = Path("/run/emulated-nvml/state")
DRIVER = "580.159.04"
H100 = "NVIDIA H100 80GB HBM3"
INSTANCES, COMPUTE_INSTANCES = 15, 8
"""Of a GPU, and of an instance, in the numbers of device files."""


def place() -> Path:
    """Where the library reads the file."""
    return Path(os.environ.get("EMULATED_NVML", PATH))


@dataclass
class Gpu:
    """A GPU, in the order of indices."""

    minor: int
    pci: str
    """Such as 00000000:1B:00.0."""
    uuid: str
    cpus: str
    name: str = H100
    mode: int = 0
    pending: int = 0


@dataclass
class Instance:
    """A GPU instance: its GPU, its id, the id of its profile, and its slices of memory."""

    gpu: int
    id: int
    profile: int
    start: int
    size: int


@dataclass
class Compute:
    """A compute instance: its GPU, its GPU instance, its id, and the id of its profile."""

    gpu: int
    instance: int
    id: int
    profile: int
    uuid: str


@dataclass
class Fault:
    """What the next changes of a GPU come to. The package's text has the words."""

    gpu: int
    word: str
    count: int = -1


@dataclass
class State:
    """The whole file."""

    gpus: list[Gpu] = field(default_factory=list)
    instances: list[Instance] = field(default_factory=list)
    computes: list[Compute] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    driver: str = DRIVER
    others: list[str] = field(default_factory=list)
    """Lines of other programs."""


def parsed(text: str) -> State:
    """The state in a file. Raises ValueError for a line with a word of this format and wrong fields."""
    state = State(driver="")
    for line in filter(None, text.splitlines()):
        word, _blank, rest = line.partition(" ")
        if word == "driver":
            state.driver = rest
        elif word == "gpu":
            _index, minor, pci, uuid, mode, pending, cpus, name = rest.split(" ", 7)
            state.gpus.append(Gpu(int(minor), pci, uuid, cpus, name, int(mode), int(pending)))
        elif word == "gi":
            state.instances.append(Instance(*map(int, rest.split())))
        elif word == "ci":
            gpu, instance, number, profile, uuid = rest.split()
            state.computes.append(Compute(int(gpu), int(instance), int(number), int(profile), uuid))
        elif word == "fault":
            gpu, what, *count = rest.split()
            state.faults.append(Fault(int(gpu), what, *map(int, count)))
        else:
            state.others.append(line)
    return state


def text(state: State) -> str:
    """The file of a state."""
    gpus = (
        f"gpu {at} {it.minor} {it.pci} {it.uuid} {it.mode} {it.pending} {it.cpus} {it.name}"
        for at, it in enumerate(state.gpus)
    )
    instances = (f"gi {it.gpu} {it.id} {it.profile} {it.start} {it.size}" for it in state.instances)
    computes = (f"ci {it.gpu} {it.instance} {it.id} {it.profile} {it.uuid}" for it in state.computes)
    faults = (f"fault {it.gpu} {it.word}" + (f" {it.count}" if it.count >= 0 else "") for it in state.faults)
    lines = [f"driver {state.driver}", *gpus, *instances, *computes, *faults, *state.others]
    return "".join(f"{line}\n" for line in lines)


@contextlib.contextmanager
def shared(path: Path | None = None) -> Iterator[State]:
    """Give the state to read or change, and keep others out until the block ends. A change is written then."""
    with (path or place()).open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        before = file.read()
        state = parsed(before)
        yield state
        if (after := text(state)) != before:
            file.seek(0)
            file.write(after)
            file.truncate()


def cap_minors(gpu: int, instance: int, compute: int = 0) -> tuple[int, int]:
    """Numbers of the device files of an instance and of its compute instance, by the number of the GPU's own file."""
    first = 3 + (gpu * INSTANCES + instance) * (1 + COMPUTE_INSTANCES)
    return first, first + 1 + compute


def proc(gpus: Sequence[Gpu]) -> Mapping[str, str]:
    """Files below /proc/driver: all numbers of instances, whether these exist or not, and each GPU."""
    lines = ["config 1", "monitor 2"]
    for gpu in range(32):
        for instance in range(INSTANCES):
            lines.append(f"gpu{gpu}/gi{instance}/access {cap_minors(gpu, instance)[0]}")
            names = (f"gpu{gpu}/gi{instance}/ci{compute}/access" for compute in range(COMPUTE_INSTANCES))
            lines += [f"{name} {cap_minors(gpu, instance, at)[1]}" for at, name in enumerate(names)]
    about = "Model: \t\t {}\nIRQ:   \t\t 120\nGPU UUID: \t {}\nDevice Minor: \t {}\n"
    information = {
        f"nvidia/gpus/{gpu.pci.lower()[4:]}/information": about.format(gpu.name, gpu.uuid, gpu.minor) for gpu in gpus
    }
    return {"nvidia-caps/mig-minors": "".join(f"{line}\n" for line in lines), **information}
