# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Instances of GPUs, in the driver's list and in words."""

from __future__ import annotations

import re

from .vendor import Layout, Vendor


def listed(text: str, vendor: Vendor) -> list[dict[str, int]]:
    """Instances of each GPU by profile, in index order. Their lines are below the line of their GPU.

    Raises ValueError for a line that it does not know, and for GPUs in another order.
    """
    found: list[dict[str, int]] = []
    for line in filter(str.strip, text.splitlines()):
        gpu = _gpu(line, vendor)
        instance = re.match(vendor.instance, line)
        if gpu and int(gpu[1]) == len(found):
            found.append({})
        elif instance and found:
            found[-1][instance[1]] = found[-1].get(instance[1], 0) + 1
        else:
            raise ValueError(line.strip())
    return found


def counted(text: str, vendor: Vendor) -> int:
    """GPUs in a list that may have other lines, such as one about a GPU that the driver has lost."""
    return sum(bool(_gpu(line, vendor)) for line in text.splitlines())


def has_instance(text: str, vendor: Vendor) -> bool:
    """Whether such a list has an instance."""
    return any(re.match(vendor.instance, line) for line in text.splitlines())


def words(layout: Layout) -> str:
    """Instances by profile, as the intent has them; empty for none."""
    return ", ".join(f"{profile}: {count}" for profile, count in sorted(layout.items()))


def _gpu(line: str, vendor: Vendor) -> re.Match[str] | None:
    return re.match(rf"{re.escape(vendor.listed)}(\d+):", line)
