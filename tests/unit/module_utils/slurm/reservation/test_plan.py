# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.reservation.plan import (
    CREATE,
    DELETE,
    Reservation,
    plan,
)

from tests.unit.module_utils.steps import after

NONE = Reservation("drawbridge-kernel")
TWO = Reservation("drawbridge-kernel", frozenset({"gpu01", "gpu02"}))
NO_MAINTENANCE = Reservation("drawbridge-kernel", TWO.nodes, maintenance=False)


@pytest.mark.parametrize(
    ("have", "want", "does"),
    [
        (NO_MAINTENANCE, TWO, [DELETE, CREATE]),
        (NONE, Reservation("drawbridge-kernel", maintenance=False), []),
    ],
)
def test_steps_lead_to_the_wanted_reservation(have: Reservation, want: Reservation, does: list[str]) -> None:
    steps = plan(have, want)
    assert [step.payload for step in steps] == does
    assert after(steps, have).lines() == want.lines()


def test_a_reservation_is_shown_in_slurms_words() -> None:
    assert TWO.lines() == ["ReservationName=drawbridge-kernel Nodes=gpu[01-02] Flags=MAINT"]
    assert NONE.lines() == []
