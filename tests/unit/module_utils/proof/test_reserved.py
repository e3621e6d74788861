# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.reserved import LEAST_S, holds

SHOWN = (
    "ReservationName=drawbridge-proof StartTime=1764370000 EndTime=1764371000 Duration=00:15:00 Nodes=gpu[01-04]"
    " NodeCnt=4 CoreCnt=512 Features=(null) PartitionName=(null) Flags=IGNORE_JOBS,SPEC_NODES TRES=cpu=512 Users=root"
    " Groups=(null) Accounts=(null) Licenses=(null) State=ACTIVE BurstBuffer=(null) MaxStartDelay=(null)\n"
)
NOW = 1764371000 - LEAST_S


def test_an_active_reservation_holds_its_nodes() -> None:
    assert holds(SHOWN, "gpu04", NOW)


@pytest.mark.parametrize(
    ("shown", "node", "now"),
    [
        (SHOWN, "gpu05", NOW),
        (SHOWN, "gpu04", NOW + 1),
        (SHOWN.replace("ACTIVE", "INACTIVE"), "gpu04", NOW),
        (SHOWN.replace("drawbridge-proof", "course"), "gpu04", NOW),
        (SHOWN.replace("gpu[01-04]", "(null)"), "gpu04", NOW),
        (SHOWN.replace("1764371000", "2025-11-28T23:03:20"), "gpu04", NOW),
        ("No reservations in the system\n", "gpu04", NOW),
        ("", "gpu04", NOW),
    ],
    ids=["another node", "ends soon", "not begun", "another", "no node", "another format", "none", "no answer"],
)
def test_others_hold_no_node(shown: str, node: str, now: float) -> None:
    assert not holds(shown, node, now)
