# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import (
    DeviceError,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.instances_text import (
    ANY,
    NONE,
    USED,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.vendors import (
    DEFAULT,
    VENDORS,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.hardware_io import Hardware
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.hardware_plan import (
    HardwareState,
    difference,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.model import Machine

from tests.unit.module_utils.answers import Answer, Answers
from tests.unit.module_utils.nodes.gpus import kfd

# slurm 24.11.5, captured on a pretended machine
PRINTED = (
    "NodeName=gpu01 CPUs=128 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=2 RealMemory=2064384\n"
    "UpTime=0-04:01:09\n"
)
NVIDIA = VENDORS[DEFAULT]
CLASS = Machine(2, 32, 2, 2064384, 2)


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "nvme0"):
        (tmp_path / name).touch()
    return tmp_path


ABSENT = DeviceError("nvidia-smi can't be run: No such file or directory", cmd=["nvidia-smi"])
# NVIDIA's driver 570, of a GPU that fell off its bus
LOST = (
    "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-a)\n"
    "Unable to determine the device handle for gpu 0000:1B:00.0: GPU is lost.  Reboot the system to recover this GPU\n"
)


def run(state: Answer = "IDLE", reason: str = "", printed: str = PRINTED, listed: Answer = ABSENT) -> Answers:
    shown = state if isinstance(state, DeviceError) else f"NodeName=gpu01 State={state} Reason={reason}\n"
    table: dict[str, Answer] = {
        "systemctl show --property Environment": 'HWLOC_XMLFILE=/run/topology.xml "NAME=two words"\n',
        "env HWLOC_XMLFILE=/run/topology.xml NAME=two words unshare --mount sh -ec mount -t tmpfs": printed,
        "scontrol show node": shown,
        "scontrol update": "",
        "nvidia-smi --list-gpus": listed,
    }
    return Answers(table)


def test_a_gpu_that_only_the_driver_misses_is_found(dev: Path) -> None:
    found = Hardware(run(listed=DeviceError("it failed", rc=15, stdout=LOST)), "gpu01", NVIDIA, f"{dev}/nvidia").read()
    assert (found.machine.gpus, found.listed) == (2, 1)


def test_a_driver_that_does_not_answer_is_an_error(dev: Path) -> None:
    silent = DeviceError("nvidia-smi gave no answer within 30 s and was killed", cmd=["nvidia-smi"], stdout="")
    with pytest.raises(DeviceError, match="gave no answer"):
        Hardware(run(listed=silent), "gpu01", NVIDIA, f"{dev}/nvidia").read()


TWO = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-a)\nGPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-b)\n"
SLICE = "  MIG 7g.80gb     Device  0: (UUID: MIG-a)\n"
STUCK = "the mode for instances without any on GPU 1 (idle: nvidia-smi -i 1 -mig 0)"


def with_modes(modes: Answer, listed: str = TWO) -> Answers:
    found = run(listed=listed)
    found.table["nvidia-smi --query-gpu=index,mig.mode.current,mig.mode.pending"] = modes
    return found


@pytest.mark.parametrize(
    ("modes", "listed", "allowed", "found"),
    [
        ("0, Disabled, Disabled\n1, Enabled, Enabled\n", TWO, NONE, [STUCK]),
        ("0, Disabled, Disabled\n1, Enabled, Enabled\n", TWO, USED, [STUCK]),
        ("0, Disabled, Disabled\n1, Enabled, Enabled\n", TWO, ANY, []),
        ("0, Enabled, Enabled\n1, Enabled, Enabled\n", TWO.replace("GPU 1", f"{SLICE}GPU 1"), USED, [STUCK]),
        (
            "0, Disabled, Disabled\n1, Enabled, Enabled\n",
            TWO + SLICE,
            NONE,
            ["instances, which its class has not, on GPU 1 (7g.80gb: 1)"],
        ),
        ("0, [N/A], [N/A]\n1, [N/A], [N/A]\n", TWO, NONE, []),
        # a driver before 450
        (
            DeviceError("not valid", rc=2, stdout='Field "mig.mode.current" is not a valid field to query.'),
            TWO,
            NONE,
            [],
        ),
        (
            "0, [GPU requires reset], Disabled\n1, Enabled, Enabled\n",
            TWO,
            NONE,
            ["a line about instances of GPUs that is not known (0, [GPU requires reset], Disabled)"],
        ),
    ],
)
def test_gpus_of_a_class_without_instances_are_whole(
    dev: Path, modes: Answer, listed: str, allowed: str, found: list[str]
) -> None:
    """slurmd notices neither: jobs would find no GPU, or one instance of it."""
    hardware = Hardware(with_modes(modes, listed), "gpu01", NVIDIA, f"{dev}/nvidia")
    hardware.instances = allowed
    assert list(hardware.read().modes) == found
    assert difference(hardware.found, CLASS) == ", ".join(found)


@pytest.mark.parametrize(
    "error",
    [
        DeviceError("nvidia-smi gave no answer within 30 s and was killed", cmd=["nvidia-smi"], stdout=""),
        DeviceError("nvidia-smi failed", rc=255, stdout="Unable to determine the device handle"),
    ],
)
def test_a_driver_that_hangs_or_fails_at_the_mode_is_an_error(dev: Path, error: DeviceError) -> None:
    with pytest.raises(DeviceError, match=str(error)):
        Hardware(with_modes(error), "gpu01", NVIDIA, f"{dev}/nvidia").read()


def amd(root: Path) -> HardwareState:
    """Eight GPUs of AMD are in the class."""
    return Hardware(run(), "gpu01", VENDORS["amd"], numbers=kfd.MINORS, root=str(root)).read()


def test_gpus_that_the_kernel_lists_need_no_tool_and_other_render_nodes_do_not_count(tmp_path: Path) -> None:
    found = amd(kfd.host(tmp_path))
    assert (found.machine.gpus, found.listed, found.lost, found.foreign) == (8, 8, (), {})


@pytest.mark.parametrize("gone", ["dev/dri/renderD144", "sys/class/kfd/kfd/topology/nodes/4/properties"])
def test_a_gpu_without_its_render_node_or_its_place_in_the_topology_is_lost(tmp_path: Path, gone: str) -> None:
    (kfd.host(tmp_path) / gone).unlink()
    found = amd(tmp_path)
    assert (found.machine.gpus, found.lost) == (7, ("/dev/dri/renderD144",))


def test_without_its_driver_each_gpu_is_lost(tmp_path: Path) -> None:
    found = amd(tmp_path)
    assert (found.machine.gpus, len(found.lost)) == (0, 8)


def test_gpus_of_another_vendor_are_found_on_the_bus(tmp_path: Path, dev: Path) -> None:
    """A display of the board, class 0x0300, is no GPU of AMD."""
    display = kfd.host(tmp_path) / "sys/bus/pci/devices/0000:02:00.0"
    display.mkdir()
    (display / "vendor").write_text("0x1002\n")
    (display / "class").write_text("0x030000\n")
    assert Hardware(run(), "gpu01", NVIDIA, f"{dev}/nvidia", root=str(tmp_path)).read().foreign == {"amd": 8}


@pytest.mark.parametrize(("state", "reason"), [("IDLE+DRAIN", "power work"), ("IDLE", "")])
def test_a_drain_is_read_without_user_and_time_and_an_old_reason_is_no_drain(
    dev: Path, state: str, reason: str
) -> None:
    found = Hardware(run(state, "power work [ops@now]"), "gpu01", NVIDIA, f"{dev}/nvidia").read()
    assert found.drain_reason == reason


def test_the_machine_is_read_even_if_the_controller_does_not_answer(dev: Path) -> None:
    found = Hardware(run(DeviceError("no answer", rc=1)), "gpu01", NVIDIA, f"{dev}/nvidia").read()
    assert (found.known, found.machine) == (False, CLASS)


def test_an_answer_without_a_machine_is_an_error(dev: Path) -> None:
    with pytest.raises(DeviceError, match="printed no machine: nothing"):
        Hardware(run(printed=""), "gpu01", NVIDIA, f"{dev}/nvidia").read()
