# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""GPUs that can be divided, by vendor. They are apart from vendors.py, which each visit of a node carries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from . import nvidia_mig
from .profiles import Divisible


@dataclass(frozen=True)
class Models:
    """A vendor's GPUs that can be divided."""

    known: tuple[str, ...]
    """For people."""
    of_product: Callable[[str], Divisible | None]
    """How GPUs of a product can be divided; None for a product that is not known."""


MODELS: Mapping[str, Models] = {"nvidia": Models(nvidia_mig.KNOWN, nvidia_mig.divisible)}


def divisible(vendor: str, product: str) -> Divisible | None:
    """How GPUs of a vendor's product can be divided; None if they can't, or are not known."""
    return MODELS[vendor].of_product(product) if vendor in MODELS else None
