# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""nvidia-smi on a server with H100 GPUs: lists, CSV queries of GPUs and of the processes that use them, their state.

A GPU exists while /dev/nvidiaN exists. A process uses it when it holds the device open; O_PATH is enough, as no driver
stands behind the lab's device files. A JSON object in apps/<pid> in the device's directory also says so: `gpus`
(indices) and, if wanted, `used_memory` (MiB) and `process_name`. What a dead process left there is removed.
"""

from __future__ import annotations

import getopt
import json
import os
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..common import DIE, DRIFT, EFFECTS, LIE, REFUSE, Call, Device, Killed, host_device, procfs
from . import nvidia_state, nvml

if TYPE_CHECKING:
    from collections.abc import Iterable

NAME = "NVIDIA H100 80GB HBM3"
DRIVER = "570.148.08"
MEMORY_MIB = 81559
BUSES = ("1B", "43", "52", "61", "9D", "C3", "D1", "DF")
CONTEXT_MIB = 520
"""What a process uses that only opened the device."""
NO_DRIVER = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
    "Make sure that the latest NVIDIA driver is installed and running.\n"
)
NO_DEVICES = "No devices were found"
INVALID = "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n"
GPU_FIELDS = {
    "index": "index",
    "uuid": "uuid",
    "gpu_uuid": "uuid",
    "name": "name",
    "gpu_name": "name",
    "driver_version": "driver_version",
    "memory.total": "memory.total [MiB]",
    "memory.used": "memory.used [MiB]",
    "pci.bus_id": "pci.bus_id",
    "gpu_bus_id": "pci.bus_id",
    "mig.mode.current": "mig.mode.current",
    "mig.mode.pending": "mig.mode.pending",
}
"""What a query may ask for, and the name that the answer's first line has for it."""
APP_FIELDS = {
    "pid": "pid",
    "process_name": "process_name",
    "name": "process_name",
    "gpu_uuid": "gpu_uuid",
    "gpu_name": "gpu_name",
    "gpu_bus_id": "gpu_bus_id",
    "used_memory": "used_gpu_memory [MiB]",
    "used_gpu_memory": "used_gpu_memory [MiB]",
}


STATES = {"-q -x": nvidia_state.xml, "nvlink -s": nvidia_state.links}


class Answer(NamedTuple):
    """Exit code and lines for stdout."""

    rc: int
    lines: list[str]


def main(name: str, argv: list[str]) -> int:
    """Run the command line and return its exit code."""
    device = host_device("nvidia_smi")
    with Call(device, name, argv) as call:
        effect = call.fault(writes=False, among=EFFECTS)
        answer = _answer(device, argv, effect)
        if effect == DIE:
            print(*answer.lines[: len(answer.lines) // 2], sep="\n")
            sys.stdout.flush()
            raise Killed
        print(*answer.lines, sep="\n", end="\n" if answer.lines else "")
        call.rc = answer.rc
    return call.rc or 0


def _answer(device: Device, argv: list[str], effect: str | None) -> Answer:
    """Answer a command line. A lie is an idle server, a drift a GPU that fell off its bus."""
    shown = STATES.get(" ".join(argv))
    try:
        pairs, rest = (
            ([], [])
            if shown
            else getopt.getopt(argv, "Li:", ["list-gpus", "id=", "query-gpu=", "query-compute-apps=", "format="])
        )
    except getopt.GetoptError:
        return Answer(2, [INVALID])
    options = dict(pairs)
    found = indices()
    if effect == REFUSE or not (found or (_devices() / "nvidiactl").exists()):
        return Answer(9, [NO_DRIVER])
    if not found:
        return Answer(6, [NO_DEVICES])
    gpus = [_gpu(index) for index in (found[:-1] if effect == DRIFT else found)]
    if shown:
        return Answer(0, shown(gpus))
    asked = options.get("-i", options.get("--id"))
    if asked is not None:
        gpus = [gpu for gpu in gpus if {asked} & {gpu["index"], gpu["uuid"], gpu["pci.bus_id"]}]
        if not gpus:
            return Answer(6, [NO_DEVICES])
    if options.keys() & {"-L", "--list-gpus"} and not rest:
        return Answer(0, [line for gpu in gpus for line in _listed(gpu, nvml.instances(gpu["index"]))])
    apps = [] if effect == LIE else _apps(device, gpus)
    if "--query-gpu" in options:
        used = {
            gpu["uuid"]: sum(int(app["used_memory"]) for app in apps if app["gpu_uuid"] == gpu["uuid"]) for gpu in gpus
        }
        rows = [{**gpu, "memory.used": str(used[gpu["uuid"]])} for gpu in gpus]
        return _table(options["--query-gpu"], GPU_FIELDS, rows, options.get("--format", ""))
    if "--query-compute-apps" in options:
        return _table(options["--query-compute-apps"], APP_FIELDS, apps, options.get("--format", ""))
    return Answer(2, [INVALID])


def _listed(gpu: dict[str, str], instances: list[tuple[str, str]]) -> list[str]:
    """Return a GPU's line and those of its instances, as NVIDIA's page about MIG with its operator has them."""
    lines = [f"  MIG {name:<12}Device {at:>2}: (UUID: {it})" for at, (name, it) in enumerate(instances)]
    return [f"GPU {gpu['index']}: {gpu['name']} (UUID: {gpu['uuid']})", *lines]


def _table(query: str, known: dict[str, str], rows: list[dict[str, str]], form: str) -> Answer:
    """Return rows as CSV with a blank after each comma; values have their unit unless `form` has `nounits`."""
    forms = form.split(",")
    fields = query.split(",")
    if forms[0] != "csv":
        return Answer(2, [INVALID])
    for field in fields:
        if field not in known:
            return Answer(2, [f'Field "{field}" is not a valid field to query.\n'])
    lines = [] if "noheader" in forms else [", ".join(known[field] for field in fields)]
    for row in rows:
        values = [row[field] + (" MiB" if "memory" in field and "nounits" not in forms else "") for field in fields]
        lines.append(", ".join(values))
    return Answer(0, lines)


def _devices() -> Path:
    return Path(os.environ.get("LAB_DEVFS", "/dev"))


def indices() -> list[int]:
    """Return the GPUs that the driver has. `missing` of the device `proof` lists those that fell off their bus."""
    with host_device("proof").state() as state:
        missing = state.get("missing", [])
    found = {int(path.name[len("nvidia") :]) for path in _devices().glob("nvidia[0-9]")}
    return sorted(found - {*missing})


def _gpu(index: int) -> dict[str, str]:
    """Return what never changes of a GPU; its UUID is made of the host's name and the index."""
    host = os.environ.get("LAB_HOSTNAME") or os.uname().nodename
    name = f"GPU-{uuid.uuid5(uuid.NAMESPACE_DNS, f'{index}.{host}')}"
    bus = f"00000000:{BUSES[index % len(BUSES)]}:00.0"
    gpu = {"index": str(index), "uuid": name, "gpu_uuid": name, "name": NAME, "gpu_name": NAME}
    gpu |= nvml.modes(gpu["index"])
    return {**gpu, "driver_version": DRIVER, "memory.total": str(MEMORY_MIB), "pci.bus_id": bus, "gpu_bus_id": bus}


def _apps(device: Device, gpus: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return one row for each process and GPU that it uses, by GPU."""
    users = {**_holders(), **_registered(device)}
    found = []
    for gpu in gpus:
        for pid, use in sorted(users.items()):
            if int(gpu["index"]) in use["gpus"]:
                name = use.get("process_name") or _process_name(pid)
                memory = str(use.get("used_memory", CONTEXT_MIB))
                own = {"pid": str(pid), "process_name": name, "used_memory": memory, "used_gpu_memory": memory}
                found.append({**gpu, **own, "name": name})
    return found


def _registered(device: Device) -> dict[int, dict[str, Any]]:
    users = {}
    for path in (device.directory / "apps").glob("[0-9]*"):
        if (procfs() / path.name).exists():
            users[int(path.name)] = json.loads(path.read_text())
        else:
            path.unlink(missing_ok=True)
    return users


def _holders() -> dict[int, dict[str, Any]]:
    """Return the processes that hold a GPU's device file open."""
    users: dict[int, dict[str, Any]] = {}
    for process in procfs().glob("[0-9]*"):
        for target in _open_files(process):
            index = target[len("/dev/nvidia") :]
            if target.startswith("/dev/nvidia") and index.isdigit():
                users.setdefault(int(process.name), {"gpus": []})["gpus"].append(int(index))
    return users


def _open_files(process: Path) -> Iterable[str]:
    try:
        return [str(link.readlink()) for link in (process / "fd").iterdir()]
    except OSError:  # the process ended meanwhile, or belongs to another user
        return []


def _process_name(pid: int) -> str:
    try:
        return (procfs() / str(pid) / "cmdline").read_bytes().split(b"\0")[0].decode() or "[Not Found]"
    except OSError:
        return "[Not Found]"
