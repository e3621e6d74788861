# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Storage
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nxos.text import (
    render,
)

from tests.unit.emulated_switch import profile
from tests.unit.emulated_systems import Nexus
from tests.unit.module_utils.fabric.each_system import SAVE

COMMIT, CONFIRM, UNMARK = "^commit confirmed", "^commit$", "^no class-map"


def test_storage_has_a_share_of_its_own_and_other_traffic_the_rest() -> None:
    storage = Storage(priority=4, dscp=34, bandwidth_percent=30, lossless=True)
    lines = render(replace(profile("nxos", 1), storage=storage)).lines()
    text = "\n".join(lines)
    assert "  class ROCE-STORAGE\n    set qos-group 4" in text
    assert "  class type queuing c-out-8q-q4\n    bandwidth remaining percent 30\n    random-detect" in text
    assert "  class type queuing c-out-8q-q-default\n    bandwidth remaining percent 20" in text
    assert "    pause pfc-cos 4" in lines


@pytest.mark.parametrize(("effect", "match"), [("die", CONFIRM), ("refuse", CONFIRM), ("die", UNMARK), ("die", COMMIT)])
def test_where_it_is_not_known_whether_a_change_was_confirmed_the_next_run_waits(
    nexus: Nexus, effect: str, match: str
) -> None:
    nexus.type("hostname leaf1")
    before = nexus.lines()
    nexus.fault(effect, match)
    outcome = nexus.converge()
    assert outcome.error.endswith("if it is in force, it rolls back by itself within 300 s")
    waits = nexus.converge()
    assert (waits.error, waits.changed, waits.steps) == ("", False, [])
    assert "of an earlier run is in force, unconfirmed; run this again in some minutes" in waits.pending[0]
    confirmed = not nexus.waiting()
    nexus.pass_time(400)
    assert nexus.converge(check=True).error == ""
    assert (nexus.lines() == before) is not confirmed
    done = nexus.converge()
    assert done.error == ""
    assert nexus.converge().steps == []
    assert nexus.lines("startup") == nexus.lines()
    assert not any("drawbridge-" in line for line in nexus.lines())


@pytest.mark.parametrize(("effect", "match"), [("lie", "dscp 26"), ("drift", COMMIT)])
def test_a_change_that_is_not_proven_stays_until_its_time_is_over(nexus: Nexus, effect: str, match: str) -> None:
    nexus.type("hostname leaf1")
    before = nexus.lines()
    nexus.fault(effect, match)
    outcome = nexus.converge()
    assert "reported success, but the change is not in effect" in outcome.error
    assert outcome.error.endswith("if it is in force, it rolls back by itself within 300 s")
    assert "unconfirmed, with other lines; run this again in some minutes" in nexus.converge().pending[0]
    nexus.pass_time(301)
    assert nexus.converge(check=True).steps
    assert nexus.lines() == before
    assert nexus.converge().error == ""
    assert nexus.converge().steps == []


def test_a_mark_that_another_user_saved_does_not_survive_the_next_save(nexus: Nexus) -> None:
    assert nexus.converge().error == ""
    nexus.type("class-map type qos match-all drawbridge-00c0ffee-300")
    nexus.pass_time(400)
    outcome = nexus.converge()
    assert outcome.steps == ["abort the session drawbridge-00c0ffee-300, which an earlier run left open", SAVE]
    assert nexus.lines("startup") == nexus.lines()
    assert nexus.converge().steps == []
