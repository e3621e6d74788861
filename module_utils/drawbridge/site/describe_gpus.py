# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm's types of GPUs from the names of products. Pure.

Slurm's own detection writes a name in small letters, with underscores for blanks. Of such a name it accepts a part as
the type (gpu_common_underscorify_tolower and gres.c of Slurm 24.11).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

BRANDS = "amd corporation geforce graphics inc instinct intel nvidia quadro radeon tesla"
"""Words in front of a model."""
BEHIND = "ada super ti xt xtx"
"""Words behind a number that make another model."""


def types(products: Iterable[str]) -> dict[str, str]:
    """The type of each product, "" for one without a name: its model, or more of the name where models are alike."""
    short = {product: model(product) for product in products}
    alike = Counter(short.values())
    return {product: kind if alike[kind] == 1 else _detected(product) for product, kind in short.items()}


def model(product: str) -> str:
    """The model of a product, such as h100 of NVIDIA H100 80GB HBM3, rtx_a6000, gtx_1080_ti or titan_xp."""
    words = _words(product)
    at = next((place for place, word in enumerate(words) if re.search("[0-9]", word)), None)
    if at is None:
        return "_".join(words)
    behind = [word for word in words[at + 1 : at + 2] if word in BEHIND.split()]
    return "_".join([*words[:at], words[at].split("-")[0], *behind])


def _detected(product: str) -> str:
    """The name as Slurm's own detection writes it, without the vendor."""
    return "_".join(_words(product))


def _words(product: str) -> list[str]:
    words = re.sub(r"[^a-z0-9._ -]+", " ", product.lower()).split()
    while len(words) > 1 and words[0] in BRANDS.split():
        words = words[1:]
    return words
