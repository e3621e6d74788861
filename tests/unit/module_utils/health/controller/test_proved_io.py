# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.proved_io import (
    ReportingCluster,
)

DRAINED = "State=IDLE+DRAIN Reason=x [root@2026-11-28T10:00:00]"
NODES = f"""\
NodeName=n1 {DRAINED}
NodeName=n2 {DRAINED}
NodeName=n5 {DRAINED} Comment=RMA 4711 drawbridge health: [node repair] y
NodeName=n6 {DRAINED} Comment=drawbridge health: z {{kept: breaker u0 is open}}
NodeName=n7 {DRAINED} Comment=drawbridge health: of a node that was not proved
"""


def test_a_drain_ends_with_the_findings_that_were_reported_before() -> None:
    calls = list[str]()

    def run(argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        if argv[1] == "show":
            return Completed(0, NODES, "")
        calls.append(" ".join(argv))
        return Completed(0, "", "")

    cluster = ReportingCluster(run, print, "drawbridge-proof", Path(), Path())
    cluster.resume(["n1", "n2", "n5", "n6"])
    assert calls == [
        "scontrol update nodename=n[1-2] state=resume",
        "scontrol update nodename=n5 state=resume comment=RMA 4711",
        "scontrol update nodename=n6 state=resume comment=drawbridge health: {kept: breaker u0 is open}",
    ]


def test_no_node_needs_no_call() -> None:
    def run(argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        raise AssertionError(argv)

    ReportingCluster(run, print, "drawbridge-proof", Path(), Path()).resume([])
