# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A helper of several rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from . import hostlist
from .faults import Fault


def doubled(key: str, names: list[str], repair: str) -> Iterator[Fault]:
    """Refuse names that are listed more than once."""
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        yield Fault(key, hostlist.compress(twice), "it is listed more than once", repair)
