# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What several rules need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from . import hostlist
from .faults import Fault


def doubled(key: str, names: list[str], repair: str) -> Iterator[Fault]:
    """Refuse names that stand there more than once."""
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        yield Fault(key, hostlist.compress(twice), "it stands there more than once", repair)
