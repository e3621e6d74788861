# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What several rules need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ... import hostlist
from ..fault import Fault


def cpu_list(text: str) -> list[int]:
    """CPU numbers of a kernel CPU list such as 0-3,64-67."""
    bounds = [[int(number) for number in part.split("-")] for part in text.split(",")]
    return sorted({cpu for part in bounds for cpu in range(part[0], part[-1] + 1)})


def doubled(key: str, names: list[str], repair: str) -> Iterator[Fault]:
    """Refuse names that stand there more than once."""
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        yield Fault(key, hostlist.compress(twice), "it stands there more than once", repair)
