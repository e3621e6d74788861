# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's profiles by product. Counts are from NVIDIA's table, layouts from its configurations and its guide."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.nvidia_mig import divisible

PRODUCTS = {
    "NVIDIA A30": {"1g.6gb": 4, "2g.12gb": 2, "4g.24gb": 1},
    "NVIDIA A100-SXM4-40GB": {"1g.5gb": 7, "1g.10gb": 4, "2g.10gb": 3, "3g.20gb": 2, "4g.20gb": 1, "7g.40gb": 1},
    "NVIDIA A100-PCIE-40GB": {"1g.5gb": 7, "1g.10gb": 4, "2g.10gb": 3, "3g.20gb": 2, "4g.20gb": 1, "7g.40gb": 1},
    "NVIDIA A100 80GB PCIe": {"1g.10gb": 7, "1g.20gb": 4, "2g.20gb": 3, "3g.40gb": 2, "4g.40gb": 1, "7g.80gb": 1},
    "NVIDIA H100 80GB HBM3": {"1g.10gb": 7, "1g.20gb": 4, "2g.20gb": 3, "3g.40gb": 2, "4g.40gb": 1, "7g.80gb": 1},
    "NVIDIA H100 PCIe": {"1g.10gb": 7, "1g.20gb": 4, "2g.20gb": 3, "3g.40gb": 2, "4g.40gb": 1, "7g.80gb": 1},
    "NVIDIA H100 NVL": {"1g.12gb": 7, "1g.24gb": 4, "2g.24gb": 3, "3g.47gb": 2, "4g.47gb": 1, "7g.94gb": 1},
    "NVIDIA H200": {"1g.18gb": 7, "1g.35gb": 4, "2g.35gb": 3, "3g.71gb": 2, "4g.71gb": 1, "7g.141gb": 1},
    "NVIDIA B200": {"1g.23gb": 7, "1g.45gb": 4, "2g.45gb": 3, "3g.90gb": 2, "4g.90gb": 1, "7g.180gb": 1},
    "NVIDIA GB200": {"1g.23gb": 7, "1g.47gb": 4, "2g.47gb": 3, "3g.93gb": 2, "4g.93gb": 1, "7g.186gb": 1},
    "NVIDIA B300 SXM6 AC": {"1g.34gb": 7, "1g.67gb": 4, "2g.67gb": 3, "3g.135gb": 2, "4g.135gb": 1, "7g.269gb": 1},
    "NVIDIA GB300": {"1g.35gb": 7, "2g.70gb": 3, "3g.139gb": 2},
    "NVIDIA RTX PRO 6000 Blackwell Server Edition": {"1g.24gb": 4, "2g.48gb": 2, "4g.96gb": 1},
}


@pytest.mark.parametrize(("product", "most"), PRODUCTS.items())
def test_a_gpu_has_room_for_so_many_instances_of_one_profile(product: str, most: dict[str, int]) -> None:
    model = divisible(product)
    assert model and model.profiles.keys() == most.keys()
    for profile, count in most.items():
        assert model.has_room({profile: count}) and not model.has_room({profile: count + 1}), profile


@pytest.mark.parametrize(
    ("layout", "fits"),
    [
        ({"1g.10gb": 2, "2g.20gb": 1, "3g.40gb": 1}, True),
        ({"4g.40gb": 1, "3g.40gb": 1}, True),
        ({"4g.40gb": 1, "2g.20gb": 1, "1g.10gb": 1}, True),
        ({"3g.40gb": 1, "1g.10gb": 4}, True),
        ({"2g.20gb": 3, "1g.10gb": 1}, True),
        ({"3g.40gb": 2, "1g.10gb": 1}, False),
        ({"4g.40gb": 1, "3g.40gb": 1, "1g.10gb": 1}, False),
        ({"4g.40gb": 2}, False),
        ({"7g.80gb": 1, "1g.10gb": 1}, False),
    ],
)
def test_profiles_share_a_gpu(layout: dict[str, int], fits: bool) -> None:
    model = divisible("NVIDIA H100 80GB HBM3")
    assert model and model.has_room(layout) == fits


@pytest.mark.parametrize("product", ["NVIDIA L40S", "NVIDIA H100", "Tesla T4", ""])
def test_other_products_are_not_known(product: str) -> None:
    assert divisible(product) is None
