# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.describe_gpus import model, types


@pytest.mark.parametrize(
    ("product", "kind"),
    [
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA A100-SXM4-80GB", "a100"),
        ("Tesla V100-SXM2-32GB", "v100"),
        ("NVIDIA GH200 480GB", "gh200"),
        ("NVIDIA L40S", "l40s"),
        ("AMD Instinct MI300X", "mi300x"),
        ("NVIDIA GeForce RTX 3090", "rtx_3090"),
        ("NVIDIA GeForce RTX 4080 SUPER", "rtx_4080_super"),
        ("NVIDIA GeForce GTX 1080 Ti", "gtx_1080_ti"),
        ("NVIDIA RTX A6000", "rtx_a6000"),
        ("NVIDIA RTX 6000 Ada Generation", "rtx_6000_ada"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx_pro_6000"),
        ("Quadro RTX 8000", "rtx_8000"),
        ("NVIDIA TITAN Xp", "titan_xp"),
        ("NVIDIA TITAN RTX", "titan_rtx"),
        ("NVIDIA T400 4GB", "t400"),
        ("NVIDIA DGX Display", "dgx_display"),
        ("", ""),
    ],
)
def test_the_type_is_the_model(product: str, kind: str) -> None:
    assert model(product) == kind


def test_models_that_are_alike_have_more_of_their_names() -> None:
    products = ["NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-80GB", "NVIDIA A100 80GB PCIe", "NVIDIA H100 NVL"]
    assert list(types([*products, *products]).values()) == [
        "a100-sxm4-40gb",
        "a100-sxm4-80gb",
        "a100_80gb_pcie",
        "h100",
    ]
