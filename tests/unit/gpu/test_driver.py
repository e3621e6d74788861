# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""How `make gpu` reads GPUs and compares: a real H100's output, and the lab's nvidia-smi."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes import hardware_io

from tests.gpu.driver import Gpu, accepts, differences, gpus, numa_nodes, unfit
from tests.lab.emulators.conftest import Host
from tests.machines import PRODUCT

PRINTED = Path(__file__).parents[2] / "transcripts/nodes/nvidia_smi"
DETAILS, TOPOLOGY = ((PRINTED / f"h100_{name}.txt").read_text() for name in ("details", "topology"))
H100 = Gpu(0, "GPU-00000000-1111-2222-3333-444444444444", "0000:00:06.0", PRODUCT, 0, numa=0)
SERVER = """
\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m
GPU0\t X \tNV18\tPIX\t0-47\t1\t\tN/A
GPU1\tNV18\t X \tSYS\t48-95\t0-1\t\tN/A
NIC0\tPIX\tSYS\t X \t\t\t
"""
"""The form for several GPUs and a NIC."""


def read(gpu: Gpu, **other: Any) -> dict[str, Any]:
    """What Drawbridge reads of this GPU."""
    return {"vendor": "nvidia", "pci": gpu.pci, "name": gpu.name, "minor": gpu.minor, "numa": gpu.numa, **other}


def test_a_real_h100_is_read() -> None:
    assert gpus(DETAILS, TOPOLOGY) == [H100]


@pytest.mark.parametrize("mode", ["current", "pending"])
def test_a_gpu_in_mig_mode_or_soon_in_it_is_divided(mode: str) -> None:
    (found,) = gpus(DETAILS.replace(f"<{mode}_mig>Disabled", f"<{mode}_mig>Enabled"), TOPOLOGY)
    assert found == replace(H100, divided=True)


def test_a_gpu_near_several_numa_nodes_has_no_known_one() -> None:
    assert numa_nodes(SERVER) == {0: 1}
    assert numa_nodes("") == {}


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({}, []),
        ({"numa": -1}, []),
        ({"numa": 1}, ["GPU 0: numa 1 instead of 0"]),
        ({"minor": 3}, ["GPU 0: minor 3 instead of 0"]),
        (
            {"pci": "0000:00:07.0", "name": ""},
            [
                "GPU 0: pci '0000:00:07.0' instead of '0000:00:06.0'",
                f"GPU 0: name '' instead of '{PRODUCT}'",
            ],
        ),
        ({"vendor": "amd"}, ["GPU 0: vendor 'amd' instead of 'nvidia'"]),
    ],
)
def test_each_difference_is_named(other: dict[str, Any], said: list[str]) -> None:
    assert differences([H100], [read(H100, **other)]) == said


def test_a_numa_node_that_only_the_kernel_knows_is_no_difference() -> None:
    assert differences([replace(H100, numa=-1)], [read(H100, numa=1)]) == []


def test_another_number_of_gpus_is_a_difference() -> None:
    assert differences([H100], []) == ["0 GPUs instead of 1"]


@pytest.mark.parametrize(
    ("found", "users", "said"),
    [
        ([H100, H100], [], ""),
        ([H100], [630], "process 630 uses a GPU; end it, because the tests need idle GPUs"),
        ([H100, replace(H100, index=1, divided=True)], [], "GPU 1 is in MIG mode; the tests need whole GPUs"),
        ([H100, replace(H100, name="NVIDIA T400")], [], f"the GPUs are of different products ({PRODUCT}, NVIDIA T400)"),
    ],
)
def test_gpus_that_can_not_be_tested_are_named(found: Sequence[Gpu], users: Sequence[int], said: str) -> None:
    assert unfit(found, users).startswith(said)
    assert bool(unfit(found, users)) == bool(said)


@pytest.mark.parametrize(("kind", "fits"), [("h100", True), ("h100_80gb", True), ("a100", False), ("", False)])
def test_a_type_is_a_part_of_the_products_name(kind: str, fits: bool) -> None:
    assert accepts(PRODUCT, kind) == fits


def test_describe_agrees_with_the_labs_nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lab's program, in a host's tree that has what the kernel and the driver have of these GPUs."""
    host = Host(tmp_path)
    for name in ("nvidia0", "nvidia1", "nvidiactl"):
        (host.directory / "dev" / name).touch()
    found = [replace(gpu, numa=0) for gpu in gpus(host.run("nvidia-smi", "-q", "-x").stdout, "")]
    assert [gpu.file for gpu in found] == ["/dev/nvidia0", "/dev/nvidia1"]
    for gpu in found:
        about = {"vendor": "0x10de", "class": "0x030200", "numa_node": str(gpu.numa)}
        put(host.directory / "sys/bus/pci/devices" / gpu.pci, about)
        put(host.directory / "proc/driver/nvidia/gpus" / gpu.pci, {"information": f"Device Minor: \t {gpu.minor}\n"})
    monkeypatch.setattr(hardware_io, "tool", lambda name: name)

    def run(argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        done = host.run(*argv)
        return Completed(done.returncode, done.stdout, done.stderr)

    facts = hardware_io.Host(run, str(host.directory)).read()["gpus"]
    assert differences(found, facts) == []
    assert differences(found, [*reversed(facts)]) != []


def put(folder: Path, texts: dict[str, str]) -> None:
    """Write files."""
    folder.mkdir(parents=True)
    for name, text in texts.items():
        (folder / name).write_text(text)
