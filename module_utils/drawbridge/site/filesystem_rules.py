# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules between kinds of file systems."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ..core.faults import Fault
from ..storage.gpfs.model import Gpfs
from ..storage.nfs.model import Nfs
from .filesystems_view import shared


def places_are_apart(gpfs: Gpfs | None = None, nfs: Nfs | None = None) -> Iterator[Fault]:
    """No mount lies in one of another kind: the inner one would fail or vanish with the outer one."""
    for first, second in itertools.permutations(shared(gpfs, nfs), 2):
        same = first.mount == second.mount and (first.kind, second.kind) == ("gpfs", "nfs")
        if first.kind != second.kind and (same or second.mount.startswith(f"{first.mount}/")):
            reason = f"{first.source} of drawbridge_{first.kind} is mounted at {first.mount}"
            yield Fault(f"drawbridge_{second.kind}", second.mount, reason, "use a folder outside of it")


RULES = (places_are_apart,)
