# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.dialect import (
    Config,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.eos.lines import (
    blocks_of,
    sections_of,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.eos.text import (
    DIALECT,
    parse,
    render,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.view import switch_profile
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part

from tests.unit.emulated_switch import ROOT, profile
from tests.unit.module_utils.site.test_refused import site

PROFILE = profile()
RUNNING = "\n".join(render(PROFILE).lines())
PAUSING = "Ethernet1   Yes  3  Yes  DCBX disabled\nEthernet2   Yes  3  No  DCBX disabled"


def parsed(
    running: str = RUNNING, startup: str = RUNNING, sessions: dict[str, Any] | None = None, pausing: str = PAUSING
) -> Config:
    return parse((running, startup, json.dumps({"sessions": sessions or {}}), pausing), PROFILE)


def test_a_watchdog_that_only_forwards_is_no_drop() -> None:
    forward = replace(PROFILE, watchdog=replace(PROFILE.watchdog, action="forward"))
    assert "priority-flow-control pause watchdog action no-drop" in render(forward).lines()


@pytest.mark.parametrize(
    ("pausing", "sentence"),
    [
        (
            PAUSING.replace("Yes  3  No", "No      No"),
            "Ethernet2 does not pause priority 3 alone (PFC No, priorities none)",
        ),
        (PAUSING.replace("3  No", "3 4  No"), "Ethernet2 does not pause priority 3 alone (PFC Yes, priorities 3 4)"),
        ("Et1  Yes  3  Yes  -", "Ethernet2 does not pause priority 3 alone (PFC not listed, priorities none)"),
    ],
)
def test_hardware_that_does_not_follow_is_named(pausing: str, sentence: str) -> None:
    assert parsed(pausing=pausing).unproven == (sentence,)


@pytest.mark.parametrize(
    ("name", "session", "expected"),
    [
        ("drawbridge-1", {"state": "pending", "instances": {}}, {"stale": ("drawbridge-1",)}),
        (
            "drawbridge-1",
            {"state": "pending", "instances": {"3": {"user": "admin"}}},
            {"foreign": ("drawbridge-1 (admin)",)},
        ),
        ("drawbridge-1", {"state": "pendingCommitTimer"}, {"waiting": "drawbridge-1"}),
        ("drawbridge-1", {"state": "committed", "commitBy": 1795300000.0}, {"waiting": "drawbridge-1"}),
        ("drawbridge-1", {"state": "completed"}, {}),
        ("upgrade", {"state": "pending", "instances": {"4": {"user": "eve"}}}, {"foreign": ("upgrade (eve)",)}),
        ("upgrade", {"state": "pendingCommitTimer"}, {"foreign": ("upgrade",)}),
        ("upgrade", {"state": "completed"}, {}),
    ],
)
def test_sessions_are_drawbridges_own_or_foreign(name: str, session: dict[str, Any], expected: dict[str, Any]) -> None:
    config = parsed(sessions={name: session})
    found = {"stale": config.stale, "waiting": config.waiting, "foreign": config.foreign}
    assert found == {"stale": (), "waiting": "", "foreign": (), **expected}


@pytest.mark.parametrize(("seconds", "timer"), [(300, "00:05:00"), (3725, "01:02:05")])
def test_the_timer_is_written_as_eos_takes_it(seconds: int, timer: str) -> None:
    assert DIALECT.strategy(None).change("drawbridge-a", seconds, (), None)[-1] == f"commit timer {timer}"


@pytest.mark.parametrize(
    ("name", "site_name", "switch"),
    [
        ("lab-leaf1", "lab", "leaf1"),
        ("rails-leaf01", "example-rails", "leaf01"),
        ("rails-spine1", "example-rails", "spine1"),
    ],
)
def test_aristas_own_renderer_agrees(name: str, site_name: str, switch: str) -> None:
    """The owned lines of pyavd's text are those that Drawbridge wants, of the switch's first port."""
    text = (ROOT / f"tests/transcripts/fabric/eos/avd/{name}.txt").read_text()
    fabric = part("fabric", site(site_name)["drawbridge_fabric"])
    whole = switch_profile(fabric, switch)
    first = replace(whole, ports=whole.ports[:1])
    assert sections_of(blocks_of(text), first) == render(first).sections
