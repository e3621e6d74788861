# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The emulated NVML as programs call it."""

from __future__ import annotations

import ctypes
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lab.emulators.nvml import build
from lab.emulators.nvml.state import Compute, Fault, Gpu, Instance, State, cap_minors, shared, text

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root divides GPUs")

SUCCESS, INVALID, NOT_SUPPORTED, NO_DRIVER, IN_USE, NO_ROOM = 0, 2, 3, 9, 19, 23
G1, G2, G3, G4, G7, ME, G1_TWICE = 19, 14, 9, 5, 0, 20, 15
"""Profile ids of an H100."""
INDICES = {G1: 0, G2: 1, G3: 2, G4: 3, G7: 4, ME: 7, G1_TWICE: 9}
"""Numbers of these profiles in NVML."""
Handle = ctypes.c_void_p


class Nvml:
    """The library, and its file."""

    def __init__(self, library: Path, path: Path) -> None:
        self.library, self.path = ctypes.CDLL(str(library)), path
        self.library.nvmlErrorString.restype = ctypes.c_char_p

    def handle(self, name: str, *arguments: object) -> Handle:
        """What a call gives that succeeds."""
        found = Handle()
        assert self.library[name](*arguments, ctypes.byref(found)) == SUCCESS, name
        return found

    def number(self, name: str, *arguments: object) -> int:
        """The number that a call gives."""
        found = ctypes.c_uint()
        assert self.library[name](*arguments, ctypes.byref(found)) == SUCCESS, name
        return found.value

    def word(self, name: str, *arguments: object) -> str:
        """The text that a call gives."""
        found = ctypes.create_string_buffer(96)
        assert self.library[name](*arguments, found, 96) == SUCCESS, name
        return found.value.decode()

    def gpu(self, index: int = 0) -> Handle:
        return self.handle("nvmlDeviceGetHandleByIndex_v2", index)

    def mode(self, on: int, index: int = 0) -> tuple[int, int]:
        """The answer to a change of the mode, and why it waits."""
        why = ctypes.c_int(-1)
        return self.library.nvmlDeviceSetMigMode(self.gpu(index), on, ctypes.byref(why)), why.value

    def create(self, profile: int, index: int = 0) -> int:
        """The answer to a new instance, which has a compute instance as large."""
        made = Handle()
        if code := self.library.nvmlDeviceCreateGpuInstance(self.gpu(index), profile, ctypes.byref(made)):
            return code
        whole = {G1: 0, ME: 0, G1_TWICE: 0, G2: 1, G3: 2, G4: 3, G7: 4}[profile]
        return self.library.nvmlGpuInstanceCreateComputeInstance(made, whole, ctypes.byref(Handle()))

    def free(self, profile: int) -> int:
        """How many more of the profile the first GPU has room for."""
        return self.number("nvmlDeviceGetGpuInstanceRemainingCapacity", self.gpu(), profile)

    def state(self) -> State:
        with shared(self.path) as state:
            return state


def gpus(count: int = 2) -> list[Gpu]:
    return [Gpu(at, f"00000000:{at + 1:X}B:00.0", f"GPU-{at}", "0-3,8-11") for at in range(count)]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build.ensure(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def nvml(library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Nvml]:
    """A server with two H100, whose first one is in MIG mode."""
    path = tmp_path / "state"
    path.write_text(text(State([Gpu(**{**vars(gpus()[0]), "mode": 1, "pending": 1}), gpus()[1]], others=["mine 1"])))
    (tmp_path / "dev").mkdir()
    monkeypatch.setenv("EMULATED_NVML", str(path))
    monkeypatch.setenv("EMULATED_NVML_DEV", str(tmp_path / "dev"))
    found = Nvml(library, path)
    assert found.library.nvmlInit_v2() == SUCCESS
    yield found
    found.library.nvmlShutdown()


def test_no_process_computes(nvml: Nvml) -> None:
    for kind in ("Compute", "Graphics"):
        count = ctypes.c_uint(32)
        assert nvml.library[f"nvmlDeviceGet{kind}RunningProcesses_v3"](nvml.gpu(), ctypes.byref(count), None) == SUCCESS
        assert count.value == 0


def test_without_a_state_there_is_no_driver(library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMULATED_NVML", str(tmp_path / "none"))
    assert ctypes.CDLL(str(library)).nvmlInit_v2() == NO_DRIVER


def test_gpus_show_what_the_file_says(nvml: Nvml) -> None:
    assert nvml.number("nvmlDeviceGetCount_v2") == 2
    assert nvml.word("nvmlDeviceGetName", nvml.gpu()) == "NVIDIA H100 80GB HBM3"
    assert nvml.word("nvmlDeviceGetUUID", nvml.gpu(1)) == "GPU-1"
    assert nvml.number("nvmlDeviceGetMinorNumber", nvml.gpu(1)) == 1
    bits = (ctypes.c_ulong * 2)()
    assert nvml.library.nvmlDeviceGetCpuAffinity(nvml.gpu(), 2, bits) == SUCCESS
    assert list(bits) == [0xF0F, 0]
    same = nvml.handle("nvmlDeviceGetHandleByPciBusId_v2", b"0000:2b:00.0")
    assert same.value == nvml.gpu(1).value


@pytest.mark.parametrize(
    ("layout", "fits"),
    [
        ([G3, G3], True),
        ([G3, G3, G1], False),
        ([G4, G3], True),
        ([G4, G4], False),
        ([G7], True),
        ([G1] * 7, True),
        ([G1] * 8, False),
        ([G3, G2, G1, G1], True),
        ([G1, G1, G2, G3], False),
        ([ME, ME], False),
        ([G1_TWICE] * 4, True),
        ([G2] * 4, False),
        ([G4, G2, G1], True),
    ],
)
def test_instances_need_room_in_the_order_of_their_creation(nvml: Nvml, layout: Sequence[int], fits: bool) -> None:
    """NVIDIA's guide: after 19,19,14 there is none for 9, and the three stay."""
    codes = [nvml.create(profile) for profile in layout]
    assert codes[:-1] == [SUCCESS] * (len(layout) - 1)
    assert codes[-1] == (SUCCESS if fits else NO_ROOM)
    assert len(nvml.state().instances) == len(nvml.state().computes) == len(layout) - (not fits)


def test_ids_and_places_are_those_of_the_guides_examples(nvml: Nvml) -> None:
    for profile in (G1, G2, G4):
        nvml.create(profile)
    assert nvml.state().instances == [Instance(0, 13, G1, 6, 1), Instance(0, 5, G2, 4, 2), Instance(0, 1, G4, 0, 4)]


def test_the_capture_of_an_h100_has_these_profiles(nvml: Nvml) -> None:
    """nvidia-smi mig -lgip: instances, processors, GiB."""
    found, info = {}, (ctypes.c_uint * 12)()
    for profile, index in INDICES.items():
        assert nvml.library.nvmlDeviceGetGpuInstanceProfileInfo(nvml.gpu(), index, info) == SUCCESS
        assert info[0] == profile
        found[profile] = (info[3], info[4], info[10] / 1024)
    assert found == {
        **{G1: (7, 16, 9.75), ME: (1, 16, 9.75), G1_TWICE: (4, 26, 19.625), G2: (3, 32, 19.625)},
        **{G3: (2, 60, 39.5), G4: (1, 64, 39.5), G7: (1, 132, 79.25)},
    }
    assert nvml.library.nvmlDeviceGetGpuInstanceProfileInfo(nvml.gpu(), 5, info) == NOT_SUPPORTED
    assert nvml.library.nvmlDeviceGetGpuInstanceProfileInfo(nvml.gpu(), 99, info) == INVALID


def test_remaining_room_counts_what_still_fits(nvml: Nvml) -> None:
    assert [nvml.free(profile) for profile in (G1, G2, G3, G7)] == [7, 3, 2, 1]
    nvml.create(G3)
    assert [nvml.free(profile) for profile in (G1, G2, G3, G7)] == [4, 2, 1, 0]
    assert nvml.create(1) == INVALID


def test_without_the_mode_nothing_is_divided(nvml: Nvml) -> None:
    assert nvml.create(G3, index=1) == NOT_SUPPORTED
    assert nvml.mode(1, index=1) == (SUCCESS, SUCCESS)
    assert nvml.create(G3, index=1) == SUCCESS
    assert nvml.mode(0, index=1) == (SUCCESS, IN_USE), "an instance keeps it"
    assert (nvml.state().gpus[1].mode, nvml.state().gpus[1].pending) == (1, 0)


def test_a_gpu_of_another_model_has_no_mode(nvml: Nvml) -> None:
    with shared(nvml.path) as state:
        state.gpus[1].name = "NVIDIA L40S"
    mode = ctypes.c_uint()
    assert nvml.library.nvmlDeviceGetMigMode(nvml.gpu(1), ctypes.byref(mode), ctypes.byref(mode)) == NOT_SUPPORTED
    assert nvml.mode(1, index=1)[0] == NOT_SUPPORTED


def test_an_instance_is_a_device_with_a_uuid_of_its_own(nvml: Nvml, tmp_path: Path) -> None:
    nvml.create(G3)
    nvml.create(G2)
    devices = [nvml.handle("nvmlDeviceGetMigDeviceHandleByIndex", nvml.gpu(), at) for at in (0, 1)]
    assert [nvml.number("nvmlDeviceGetGpuInstanceId", it) for it in devices] == [2, 4]
    assert [nvml.word("nvmlDeviceGetName", it) for it in devices] == [
        "NVIDIA H100 80GB HBM3 MIG 3g.40gb",
        "NVIDIA H100 80GB HBM3 MIG 2g.20gb",
    ]
    assert [nvml.word("nvmlDeviceGetUUID", it) for it in devices] == [it.uuid for it in nvml.state().computes]
    made = {path.name: path.stat() for path in (tmp_path / "dev/nvidia-caps").iterdir()}
    numbers = {*cap_minors(0, 2), *cap_minors(0, 4)}
    assert {(name, stat.S_IMODE(it.st_mode)) for name, it in made.items()} == {
        (f"nvidia-cap{number}", 0o444) for number in numbers
    }
    assert {os.minor(it.st_rdev) for it in made.values()} == numbers


def test_an_instance_with_compute_instances_is_in_use(nvml: Nvml) -> None:
    nvml.create(G3)
    before = nvml.state()
    instance = nvml.handle("nvmlDeviceGetGpuInstanceById", nvml.gpu(), 2)
    assert nvml.library.nvmlGpuInstanceDestroy(instance) == IN_USE
    compute, count = Handle(), ctypes.c_uint()
    nvml.library.nvmlGpuInstanceGetComputeInstances(instance, 2, ctypes.byref(compute), ctypes.byref(count))
    assert nvml.library.nvmlComputeInstanceDestroy(compute) == SUCCESS
    assert nvml.library.nvmlGpuInstanceDestroy(instance) == SUCCESS
    nvml.create(G3)
    assert nvml.state().instances == before.instances
    assert nvml.state().computes[0].uuid != before.computes[0].uuid, "a new one has another UUID"


def test_the_library_keeps_what_others_wrote(nvml: Nvml) -> None:
    with shared(nvml.path) as state:
        state.instances.append(Instance(0, 1, G3, 0, 4))
        state.computes.append(Compute(0, 1, 0, 2, "MIG-own"))
    assert nvml.create(G3) == SUCCESS
    assert nvml.create(G3) == NO_ROOM
    assert nvml.state().others == ["mine 1"]
    assert [it.id for it in nvml.state().instances] == [1, 2]


def faulty(nvml: Nvml, word: str, count: int = -1) -> None:
    with shared(nvml.path) as state:
        state.faults.append(Fault(0, word, count))


def test_another_client_keeps_the_gpu(nvml: Nvml) -> None:
    faulty(nvml, "refuse", 2)
    assert nvml.create(G3) == IN_USE
    assert nvml.mode(0) == (SUCCESS, IN_USE)
    assert (nvml.state().gpus[0].mode, nvml.state().gpus[0].pending) == (1, 0)
    assert nvml.state().faults == [], "two changes, as the fault says"
    assert nvml.create(G3) == SUCCESS
    assert nvml.library.nvmlErrorString(IN_USE) == b"In use by another client"


def test_a_lie_does_nothing(nvml: Nvml) -> None:
    faulty(nvml, "lie")
    assert nvml.create(G3) == SUCCESS
    assert nvml.mode(0) == (SUCCESS, SUCCESS)
    assert (nvml.state().instances, nvml.state().computes, nvml.state().gpus[0].mode) == ([], [], 1)
    assert nvml.state().faults == [Fault(0, "lie")]


def test_after_a_boot_mode_and_instances_are_gone(nvml: Nvml) -> None:
    nvml.create(G3)
    faulty(nvml, "vanish")
    assert nvml.library.nvmlInit_v2() == SUCCESS
    state = nvml.state()
    assert (state.instances, state.computes, state.gpus[0].mode, state.faults) == ([], [], 0, [])


def test_a_process_dies_half_way(nvml: Nvml, library: Path) -> None:
    """An instance and its compute instance are two changes."""
    faulty(nvml, "die", 3)
    script = f"""
import ctypes
nvml, gpu, made = ctypes.CDLL({str(library)!r}), ctypes.c_void_p(), ctypes.c_void_p()
nvml.nvmlInit_v2()
nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(gpu))
for _unused in range(2):
    nvml.nvmlDeviceCreateGpuInstance(gpu, {G3}, ctypes.byref(made))
    nvml.nvmlGpuInstanceCreateComputeInstance(made, 2, ctypes.byref(made))
"""
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=60).returncode == -signal.SIGKILL
    state = nvml.state()
    assert (len(state.instances), len(state.computes), state.faults) == (2, 1, [])
