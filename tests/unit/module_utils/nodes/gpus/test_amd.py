# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus import amd

from tests.unit.module_utils.nodes.gpus.kfd import properties

GPU = {"gpu": 0, "asic": {"market_name": "AMD Instinct MI300X"}, "bus": {"bdf": "0000:05:00.0"}}
NAMED = {"pci": "0000:05:00.0", "name": "AMD Instinct MI300X"}


@pytest.mark.parametrize("partition", [0, 7])
def test_a_gpu_has_its_address_and_its_own_render_node(partition: int) -> None:
    assert amd.gpu(properties(128 + partition, 5, partition)) == {"pci": "0000:05:00.0", "minor": 128 + partition}


def test_a_cpu_is_no_gpu() -> None:
    assert amd.gpu(properties(0)) == {}


@pytest.mark.parametrize("text", ["", "drm_render_minor many\n", "drm_render_minor 128\ndomain 0\n"])
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        amd.gpu(text)


@pytest.mark.parametrize("shown", [[GPU], {"gpu_data": [GPU]}], ids=["release 6", "release 7"])
def test_products_are_read_in_both_forms(shown: Any) -> None:
    assert amd.products(json.dumps(shown)) == [NAMED]


def test_a_gpu_without_a_name_has_none() -> None:
    assert amd.products(json.dumps([{**GPU, "asic": {"market_name": "N/A"}}])) == [{**NAMED, "name": ""}]


@pytest.mark.parametrize("shown", [{"error": "no driver", "code": -3}, [{"bus": {}}], 7])
def test_another_json_is_refused(shown: Any) -> None:
    with pytest.raises(ValueError, match="no list of GPUs"):
        amd.products(json.dumps(shown))
