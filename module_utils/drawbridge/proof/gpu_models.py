# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""GPU models with the numbers of their vendors' datasheets, by the product name that the driver reports."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

RING_SHARE = 0.78
"""Ring all_reduce of one node, as a share of the link's rate: 235 of 300 GB/s on eight A100."""
MESH_SHARE = 0.70
"""The same over links to each other GPU: 312.9 of 7 x 64 GB/s on eight MI300X."""

COPIED = 0.75
"""Published: 2,903 and 2,982 of 3,350 GB/s on H100, more than 6,000 of 7,700 on B200."""


@dataclass(frozen=True)
class GpuModel:
    """One model. Rates are GB/s (1e9 bytes), and those of links are of one direction."""

    name: str
    memory: float
    """Memory bandwidth of the datasheet."""
    bf16: float
    """Dense BF16 TFLOPS of the datasheet; datasheets with one number often count sparsity, which doubles it."""
    gemm: float = 0
    """TFLOPS that a published BF16 GEMM reached; 0: none is published."""
    link: float = 0
    """A GPU's links to the switch between the node's GPUs, or with `mesh` to one other GPU; 0: no such links."""
    mesh: bool = False
    nvls_from: int = 0
    """GPUs of a node from which NCCL lets the switch add up (NVLS); 0: the switch can't."""
    copied: float = COPIED
    """Least share of `memory` that a copy within it reaches, read plus write; 0: none is published."""
    rack: bool = False
    """Whether links of one domain reach GPUs of other nodes."""
    pcie: int = 0
    """Generation of its 16 lanes to the host; 0: another link connects it with the CPU."""
    source: str = ""
    """Page of the vendor's datasheet."""

    def between(self, gpus: int) -> float:
        """GB/s that one GPU sends to the `gpus - 1` others of its node."""
        return self.link * (gpus - 1) if self.mesh else self.link

    def has_nvls(self, gpus: int) -> bool:
        """Whether NCCL lets the switch add up between so many GPUs of a node."""
        return 0 < self.nvls_from <= gpus

    def reached(self, gpus: int, nvls: bool = True) -> tuple[float, str]:
        """Share of `between` that all_reduce reaches in a node, and the reason in two words.

        `nvls` is false where NVLS is inactive although the model has it.
        """
        if nvls and self.has_nvls(gpus):
            return 1.0, "with NVLS"
        return (MESH_SHARE, "full mesh") if self.mesh else (RING_SHARE, "as ring")


_NVIDIA = "nvidia.com/en-us/data-center/"
_A100, _H100, _HGX = f"{_NVIDIA}a100", f"{_NVIDIA}h100", f"{_NVIDIA}hgx"
_MI300X = "amd.com/en/products/accelerators/instinct/mi300/mi300x.html"
MODELS: Mapping[str, GpuModel] = {
    "A100-SXM4-40GB": GpuModel("A100 SXM 40 GB", 1555, 312, 271, 300, pcie=4, source=_A100),
    "A100-SXM4-80GB": GpuModel("A100 SXM 80 GB", 2039, 312, 271, 300, pcie=4, source=_A100),
    "A100-PCIE-40GB": GpuModel("A100 PCIe 40 GB", 1555, 312, pcie=4, source=_A100),
    "A100 80GB PCIe": GpuModel("A100 PCIe 80 GB", 1935, 312, pcie=4, source=_A100),
    "L40S": GpuModel("L40S", 864, 362, pcie=4, source=f"{_NVIDIA}l40s"),
    "H100 80GB HBM3": GpuModel("H100 SXM", 3350, 989, 794, 450, nvls_from=5, pcie=5, source=_H100),
    "H100 PCIe": GpuModel("H100 PCIe", 2000, 756, pcie=5, source=_H100),
    "H100 NVL": GpuModel("H100 NVL", 3900, 835, pcie=5, source=_H100),
    "H200": GpuModel("H200 SXM", 4800, 989, 794, 450, nvls_from=5, pcie=5, source=f"{_NVIDIA}h200"),
    "B200": GpuModel("B200", 7700, 2250, 1745, 900, nvls_from=6, pcie=5, source=_HGX),
    "GB200": GpuModel("GB200", 8000, 2500, 1822, 900, nvls_from=6, rack=True, source=f"{_NVIDIA}gb200-nvl72"),
    "MI300X": GpuModel("MI300X", 5300, 1307, 668, 64, mesh=True, copied=0, pcie=5, source=_MI300X),
}
"""By product name, without the vendor. Bridges that join two or four PCIe cards are left out: they are no switch."""
_VENDOR = re.compile(r"^(NVIDIA|Tesla|AMD Instinct|AMD)\s+")


def gpu_model(product: str) -> GpuModel | None:
    """The model of a product name such as `NVIDIA H100 80GB HBM3`.

    None for a name that the table has not, and for one that several models share, such as `h100`.
    """
    return MODELS.get(_VENDOR.sub("", product.strip()))
