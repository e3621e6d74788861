# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of Kubernetes: what runs always runs on nodes that are never gated."""

from __future__ import annotations

from collections.abc import Iterator

from ... import hostlist
from ..fault import Fault
from ..model import Intent


def infra_is_not_gated(intent: Intent) -> Iterator[Fault]:
    """Infra nodes run what must run always; a gated node is closed between jobs."""
    gated = {name for part in intent.slurm.partitions if part.gate for name in hostlist.expand(part.nodes)}
    if both := [name for name in hostlist.expand(intent.kube.infra) if name in gated]:
        yield Fault(
            "drawbridge_kube.infra",
            intent.kube.infra,
            f"{hostlist.compress(both)} is in a partition with gate: true, and would be closed between jobs",
            "use nodes that no gated partition has",
        )


RULES = (infra_is_not_gated,)
