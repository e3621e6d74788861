# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Instances of GPUs, in the driver's list and in words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .vendor import Layout, Mode, Vendor

ANY, USED, NONE = "any", "used", "none"
"""Instances that are no fault. used: a run removes them, so only their mode without any is one."""


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


def not_whole(layouts: Sequence[Layout], modes: Sequence[Mode], allowed: str, stays_whole: str) -> list[str]:
    """What keeps GPUs from being whole, in words. `stays_whole` is the command that turns off the mode of {gpu}."""
    stuck = [str(gpu) for gpu, (layout, mode) in enumerate(zip(layouts, modes)) if mode.now and not layout]
    divided = [f"GPU {gpu} ({words(layout)})" for gpu, layout in enumerate(layouts) if layout]
    repair = stays_whole.format(gpu=",".join(stuck))
    found = [f"the mode for instances without any on GPU {', '.join(stuck)} (idle: {repair})"] if stuck else []
    if divided and allowed == NONE:
        found.append(f"instances, which its class has not, on {', '.join(divided)}")
    return [] if allowed == ANY else found


def words(layout: Layout) -> str:
    """Instances by profile, as the intent has them; empty for none."""
    return ", ".join(f"{profile}: {count}" for profile, count in sorted(layout.items()))


def _gpu(line: str, vendor: Vendor) -> re.Match[str] | None:
    return re.match(rf"{re.escape(vendor.listed)}(\d+):", line)
