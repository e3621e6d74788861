# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import (
    FAULTS,
    HEALS,
    Finding,
    reason,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import (
    REBOOT as REBOOT_ENDS,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import (
    REPAIR as REPAIR_ENDS,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.passport_io import REASON
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.cluster import (
    UNPROVED,
    NodeInSlurm,
    why_not,
)

OWN = f"{UNPROVED}: not measured yet"
DRAIN = frozenset({"DRAIN"})
HEALTH = "drawbridge: health: "
REPAIR, REBOOT = f"{HEALTH}[node repair] GPU 3: GPU memory rows: failed", "[node reboot] GPU 3: GPUs present: lost"


@pytest.mark.parametrize(
    ("node", "why", "of_a_patrol"),
    [
        (None, "Slurm does not know it", None),
        (NodeInSlurm("IDLE"), "", None),
        (NodeInSlurm("MIXED"), "its state is MIXED", None),
        (NodeInSlurm("IDLE", job="7"), "job 7 runs on it", None),
        (NodeInSlurm("IDLE", DRAIN, OWN, "7"), "job 7 runs on it", None),
        (NodeInSlurm("IDLE", frozenset({"NOT_RESPONDING"})), "it is down (no reason)", None),
        (NodeInSlurm("DOWN", reason="fan"), "it is down (fan)", None),
        (NodeInSlurm("DOWN", DRAIN, "fan"), "it is down (fan)", None),
        (NodeInSlurm("IDLE", DRAIN), "it is drained with the reason: none", None),
        (NodeInSlurm("IDLE", DRAIN, f"fan; {OWN}"), f"it is drained with the reason: fan; {OWN}", None),
        (NodeInSlurm("IDLE", DRAIN, OWN), "", f"it is drained with the reason: {OWN}"),
        (NodeInSlurm("DOWN", DRAIN, OWN), "", f"it is drained with the reason: {OWN}"),
        (NodeInSlurm("IDLE", DRAIN, f"{REASON}none"), "", f"it is drained with the reason: {REASON}none"),
        (NodeInSlurm("IDLE", DRAIN, REPAIR), "", f"it is drained with the reason: {REPAIR}"),
        (
            NodeInSlurm("DOWN", DRAIN, f"{HEALTH}/: full; {REBOOT}"),
            "",
            f"it is drained with the reason: {HEALTH}/: full; {REBOOT}",
        ),
        (
            NodeInSlurm("IDLE", DRAIN, f"{HEALTH}[user] /: full"),
            f"it is drained with the reason: {HEALTH}[user] /: full",
            None,
        ),
        (NodeInSlurm("IDLE", DRAIN, f"fan; {REPAIR}"), f"it is drained with the reason: fan; {REPAIR}", None),
        (
            NodeInSlurm("DOWN", DRAIN | {"REBOOT_ISSUED"}, REPAIR),
            "Slurm says REBOOT_ISSUED",
            f"it is drained with the reason: {REPAIR}",
        ),
        (NodeInSlurm("IDLE", frozenset({"RESERVED", "CLOUD"})), "Slurm says RESERVED", None),
        (
            NodeInSlurm("IDLE", DRAIN | {"COMPLETING"}, OWN),
            "Slurm says COMPLETING",
            f"it is drained with the reason: {OWN}",
        ),
    ],
)
def test_which_nodes_a_proof_leaves_alone(node: NodeInSlurm | None, why: str, of_a_patrol: str | None) -> None:
    """A patrol takes idle nodes alone; None: for the same reason."""
    assert why_not(node) == why
    assert why_not(node, idle_only=True) == (why if of_a_patrol is None else of_a_patrol)


def test_a_reason_that_only_begins_like_its_own_is_another_ones() -> None:
    assert not NodeInSlurm("IDLE", DRAIN, f"{UNPROVED}s are slow").own_drain
    assert not NodeInSlurm("IDLE", frozenset(), OWN).own_drain


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("ends", "own"), [(HEALS, False), (REBOOT_ENDS, True), (REPAIR_ENDS, True)])
def test_drains_for_findings_end_by_a_proof_as_findings_say_it(fault: str, ends: str, own: bool) -> None:
    for found in ([Finding("a: b", fault, ends)], [Finding("full", "user"), Finding("a: b", fault, ends)]):
        assert NodeInSlurm("IDLE", DRAIN, reason(found)).own_drain == own
