# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.reservation.io import (
    Reserved,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.reservation.plan import (
    Reservation,
)

from tests.unit.module_utils.answers import Answers


@pytest.mark.parametrize(
    ("shown", "nodes", "maintenance"),
    [
        ("No reservations in the system", "", True),
        ("ReservationName=kernel2 Nodes=gpu01 Flags=MAINT", "", True),
        ("ReservationName=kernel Nodes=(null) NodeCnt=0 Flags=MAINT", "", True),
        ("ReservationName=kernel StartTime=now Nodes=gpu01 NodeCnt=1 Flags=MAINT,IGNORE_JOBS", "gpu01", True),
        ("ReservationName=kernel Nodes=gpu01 Flags=IGNORE_JOBS,SPEC_NODES", "gpu01", False),
    ],
)
def test_a_reservation_is_read_by_its_whole_name(shown: str, nodes: str, maintenance: bool) -> None:
    reserved = Reserved(Answers({"scontrol show reservation -o": shown}), Reservation("kernel"), 60)
    assert reserved.read() == Reservation("kernel", frozenset(nodes.split()), maintenance)
