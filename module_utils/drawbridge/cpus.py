# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""CPU numbers as the kernel writes them."""

from __future__ import annotations


def cpu_list(text: str) -> list[int]:
    """CPU numbers, ascending, of a kernel CPU list such as 0-3,64-67. Raises ValueError for what is none."""
    bounds = [[int(number) for number in part.split("-")] for part in text.split(",")]
    return sorted({cpu for part in bounds for cpu in range(part[0], part[-1] + 1)})
