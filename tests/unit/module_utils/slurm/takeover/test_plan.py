# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.file_entry import Entry
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover import model
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.plan import (
    TakeoverState,
    plan,
)

CONF = "/etc/slurm/slurm.conf"
WANT = TakeoverState("slurmctld.service", {CONF: Entry("new")})
LOST, STAYS = model.Change(model.DROPPED, "A=1"), model.Change(model.KEPT, "B=1", "B=1")


def test_nothing_is_left_to_do_with_files_of_our_own() -> None:
    assert plan(WANT, WANT) == []
    changed = plan(replace(WANT, files={CONF: Entry("old")}), WANT)
    assert [step.consent for step in changed] == [None] * len(changed)


def test_a_copy_comes_before_the_files() -> None:
    have = replace(WANT, files={CONF: Entry("old")}, changes={CONF: [STAYS]})
    first, *steps = plan(have, WANT)
    assert first.payload == ("copy", "")
    assert first.consent is None
    assert [step.payload[0] for step in steps] == ["write", "refresh"]


def test_a_line_that_vanishes_needs_consent() -> None:
    first, *_ = plan(replace(WANT, files={CONF: Entry("old")}, changes={CONF: [STAYS, LOST]}), WANT)
    assert first.consent is not None
    assert first.consent.option == "may_drop"
    assert "1 lines of the live Slurm would vanish" in first.consent.why
