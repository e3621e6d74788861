# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.gpu_models import MODELS, gpu_model

PAGE = (Path(__file__).parents[4] / "docs/concepts/proof-limits.md").read_text()


@pytest.mark.parametrize(
    ("product", "name"),
    [
        ("NVIDIA H100 80GB HBM3", "H100 SXM"),
        ("NVIDIA H100 PCIe\n", "H100 PCIe"),
        ("NVIDIA GB200", "GB200"),
        ("AMD Instinct MI300X", "MI300X"),
        ("MI300X", "MI300X"),
    ],
)
def test_a_product_is_found_without_its_vendor(product: str, name: str) -> None:
    assert (found := gpu_model(product)) and found.name == name


@pytest.mark.parametrize("product", ["", "h100", "H100", "NVIDIA H100 80GB HBM3e", "NVIDIA H200 NVL", "NVIDIA"])
def test_other_products_are_not_guessed(product: str) -> None:
    assert gpu_model(product) is None


def test_the_page_has_the_table() -> None:
    def cell(value: float) -> str:
        return f"{value:g}" if value else "-"

    rows = [
        f"| {product} | {it.memory:g} | {it.bf16:g} | {cell(it.gemm)} |"
        f" {cell(it.link)}{' x 7' if it.mesh else ''} | {cell(it.nvls_from)} | {f'Gen{it.pcie}' if it.pcie else '-'} |"
        for product, it in MODELS.items()
    ]
    assert re.findall(r"^\| (?:[A-Z]+[0-9]+.*) \|$", PAGE, re.MULTILINE) == rows


@pytest.mark.parametrize("product", MODELS)
def test_rows_are_possible(product: str) -> None:
    """Sparse TFLOPS, and links counted in both directions, are the mistakes that tables on the web have."""
    model = MODELS[product]
    assert model.source.startswith(("nvidia.com/", "amd.com/"))
    assert not model.gemm or 0.5 < model.gemm / model.bf16 < 0.9
    # nvidia-smi counts 12 or 18 links of 25 GB/s, or of 50 from Blackwell on, in one direction
    assert model.link in (0, 64, 12 * 25, 18 * 25, 18 * 50)
    assert model.link or not model.nvls_from
    assert model.pcie in (0, 4, 5) and model.has_nvls(8) == bool(model.nvls_from) and not model.has_nvls(1)
    assert model.between(8) == (7 * 64 if model.mesh else model.link)
