# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus import state
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.amd_state import STATE, read

ABOUT = {
    "gpu": 0,
    "asic": {"market_name": "AMD Instinct MI300X OAM"},
    "bus": {"bdf": "0000:05:00.0", "max_pcie_width": 16, "max_pcie_speed": {"value": 32, "unit": "GT/s"}},
}
METRIC: dict[str, Any] = {
    "gpu": 0,
    "pcie": {"width": 16, "speed": {"value": 32.0, "unit": "GT/s"}, "replay_count": 0},
    "ecc": {"total_correctable_count": 0, "total_uncorrectable_count": 0},
}
SOUND = {
    **{state.PRODUCT: "AMD Instinct MI300X OAM", state.PCI: "0000:05:00.0", state.ACTIVE: True, state.UNCORRECTED: 0},
    **{state.GENERATION: 5, state.MOST_GENERATION: 5, state.WIDTH: 16, state.MOST_WIDTH: 16},
}


@pytest.mark.parametrize("form", [lambda gpus: gpus, lambda gpus: {"gpu_data": gpus}])
def test_a_list_of_release_6_and_an_object_of_release_7(form: Any) -> None:
    [gpu] = read([json.dumps(form([ABOUT])), json.dumps(form([METRIC]))])
    assert (gpu.values, gpu.unknown) == (SOUND, {}) and gpu.values.keys() == STATE.covers


@pytest.mark.parametrize(
    ("part", "key", "shown", "value"),
    [
        ("ecc", "total_uncorrectable_count", "3", 3),
        ("ecc", "total_uncorrectable_count", "N/A", None),
        ("pcie", "speed", "16 GT/s", 4),
        ("pcie", "width", "8", 8),
    ],
)
def test_forms_of_values(part: str, key: str, shown: Any, value: Any) -> None:
    [gpu] = read([json.dumps([ABOUT]), json.dumps([{**METRIC, part: {**METRIC[part], key: shown}}])])
    assert [found for found in gpu.values.items() if found not in SOUND.items()] == [
        (next(name for name in SOUND if gpu.values[name] != SOUND[name]), value)
    ]


def test_other_values_are_unknown() -> None:
    [gpu] = read([json.dumps([ABOUT]), json.dumps([{"gpu": 0, "pcie": {"width": "wide", "speed": "7 GT/s"}}])])
    assert gpu.unknown == {
        state.WIDTH: "wide",
        state.GENERATION: "7.0 GT/s",
        state.UNCORRECTED: "no field total_uncorrectable_count",
    }


@pytest.mark.parametrize("text", ["", '{"error": "x", "code": -3}', "[1]", "[]"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read([json.dumps([ABOUT]), text])
