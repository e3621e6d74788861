# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node.files_io import lines
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus import state
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.amd_state import STATE, read

from tests.unit.module_utils.nodes.gpus import kfd

PRODUCT = "AMD Instinct MI300X OAM"
SOUND = {
    **{state.PRODUCT: PRODUCT, state.PCI: "0000:15:00.0", state.ACTIVE: True, state.UNCORRECTED: 0},
    **{state.GENERATION: 5, state.MOST_GENERATION: 5, state.WIDTH: 16, state.MOST_WIDTH: 16},
    **{state.REMAP_FAILED: False, state.PAGES_WAIT: 0},
}
SECOND = "sys/bus/pci/devices/0000:15:00.0"


def smi(*addresses: str) -> str:
    """What amd-smi static prints of GPUs, in its own order."""
    return json.dumps([{"gpu": 0, "asic": {"market_name": PRODUCT}, "bus": {"bdf": one}} for one in addresses])


def texts(root: Path) -> dict[str, str]:
    """The files that the checks read."""
    found = (json.loads(line) for line in lines(str(root), STATE.files))
    return {one[0]: one[1] for one in found if len(one) == 2}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return kfd.host(tmp_path)


def test_gpus_are_in_the_kernels_order_and_have_all_that_the_reader_covers(root: Path) -> None:
    gpus = read([smi("0000:75:00.0", "0000:15:00.0")], texts(root))
    assert [gpu.values[state.PCI] for gpu in gpus] == [f"0000:{5 + 16 * at:02x}:00.0" for at in range(8)]
    assert (gpus[1].index, gpus[1].values, gpus[1].unknown) == (1, SOUND, {})
    assert gpus[1].values.keys() == STATE.covers
    assert gpus[0].unknown == {state.PRODUCT: "amd-smi has no GPU 0000:05:00.0"}


def test_the_tool_runs_for_the_product_alone(root: Path) -> None:
    assert len(STATE.calls((state.PCI, state.PRODUCT))) == 1
    assert STATE.calls(STATE.covers - {state.PRODUCT}) == ()
    assert {tuple(gpu.unknown) for gpu in read([], texts(root))} == {(state.PRODUCT,)}


@pytest.mark.parametrize(
    ("name", "text", "key", "value"),
    [
        ("current_link_speed", "16.0 GT/s PCIe", state.GENERATION, 4),
        ("current_link_speed", "2.5 GT/s PCIe", state.GENERATION, 1),
        ("max_link_speed", "64.0 GT/s PCIe", state.MOST_GENERATION, 6),
        ("current_link_width", "8", state.WIDTH, 8),
        ("ras/umc_err_count", "ue: 3\nce: 0", state.UNCORRECTED, 3),
        ("ras/xgmi_wafl_err_count", "ue: 1\nce: 0\nde: 7", state.UNCORRECTED, 1),
        ("ras/gpu_vram_bad_pages", "0x00000001 : 0x00001000 : R\n0x0000000a : 0x00001000 : P", state.PAGES_WAIT, 1),
        ("ras/gpu_vram_bad_pages", "0x00000001 : 0x00001000 : F", state.REMAP_FAILED, True),
    ],
)
def test_one_file_of_one_gpu_makes_one_difference(root: Path, name: str, text: str, key: str, value: Any) -> None:
    (root / SECOND / name).write_text(f"{text}\n")
    gpus = read([smi("0000:15:00.0")], texts(root))
    assert dict(gpus[1].values.items() - SOUND.items()) == {key: value}
    assert gpus[2].values.items() - SOUND.items() == {(state.PCI, "0000:25:00.0")}


def test_a_reserved_page_is_out_of_use(root: Path) -> None:
    (root / SECOND / "ras/gpu_vram_bad_pages").write_text("0x00000001 : 0x00001000 : R\n")
    assert read([smi("0000:15:00.0")], texts(root))[1].values == SOUND


@pytest.mark.parametrize(
    ("name", "text", "keys"),
    [
        ("ras/gfx_err_count", "Query currently inaccessible", {state.UNCORRECTED}),
        ("ras/gfx_err_count", "ce: 0", {state.UNCORRECTED}),
        ("ras/gpu_vram_bad_pages", "0x00000001 : 0x00001000 : X", {state.REMAP_FAILED, state.PAGES_WAIT}),
        ("current_link_speed", "Unknown", {state.GENERATION}),
        ("current_link_speed", "7.0 GT/s PCIe", {state.GENERATION}),
        ("max_link_width", "wide", {state.MOST_WIDTH}),
    ],
)
def test_another_text_is_unknown_and_never_fine(root: Path, name: str, text: str, keys: set[str]) -> None:
    (root / SECOND / name).write_text(f"{text}\n")
    gpu = read([smi("0000:15:00.0")], texts(root))[1]
    assert gpu.unknown == dict.fromkeys(keys, text)
    assert gpu.values.keys() == STATE.covers - keys


def test_a_missing_file_is_unknown(root: Path) -> None:
    for path in [*(root / SECOND).glob("ras/*"), root / SECOND / "max_link_width"]:
        path.unlink()
    pages = dict.fromkeys((state.REMAP_FAILED, state.PAGES_WAIT), "no file ras/gpu_vram_bad_pages")
    assert read([smi("0000:15:00.0")], texts(root))[1].unknown == {
        state.MOST_WIDTH: "no file max_link_width",
        state.UNCORRECTED: "no file ras/*_err_count",
        **pages,
    }


def test_parts_of_a_gpu_have_the_state_of_the_whole(root: Path) -> None:
    """Their own render nodes are no PCI devices, so they have no such files."""
    nodes = root / "sys/class/kfd/kfd/topology/nodes"
    for part in range(1, 8):
        (nodes / str(10 + part)).mkdir()
        (nodes / f"{10 + part}/properties").write_text(kfd.properties(136 + part, 0x15, part))
    (root / SECOND / "ras/umc_err_count").write_text("ue: 3\nce: 0\n")
    gpus = read([smi("0000:15:00.0")], texts(root))
    assert [gpu.index for gpu in gpus if gpu.values[state.UNCORRECTED] == 3] == [1, *range(8, 15)]
    assert gpus[14].values == {**SOUND, state.UNCORRECTED: 3}


def test_a_lost_gpu_is_no_gpu_and_without_a_topology_nothing_is_read(root: Path) -> None:
    (root / "sys/class/kfd/kfd/topology/nodes/9/properties").unlink()
    assert len(read([], texts(root))) == 7
    with pytest.raises(ValueError, match="has no topology: the driver is not loaded"):
        read([], {})


@pytest.mark.parametrize("text", ["", '{"error": "x", "code": -3}', "[1]"])
def test_other_texts_are_refused(root: Path, text: str) -> None:
    with pytest.raises(ValueError):
        read([text], texts(root))
    with pytest.raises(ValueError):
        read([], {**texts(root), "/sys/class/kfd/kfd/topology/nodes/3/properties": text})
