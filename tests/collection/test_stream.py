# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Programs run the playbooks through ansible-runner and follow them by their events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.collection.stream import Event, line, stream

CHECK = "playbooks/check.yml"
REFUSAL = "Refuse an intent that contradicts itself or the inventory"
WAIT = "for i in $(seq 3000); do test -e {path} && break; sleep 0.1; done; cat {path}"


def follow(tmp_path: Path, **extravars: Any) -> tuple[Any, list[Event]]:
    """Run the check; it goes on only after its first event was handed over, and fails minutes later if none was."""
    events: list[Event] = []
    received = tmp_path / "received"

    def consume(event: Event) -> None:
        events.append(event)
        received.write_text("false")

    waiting = f"{{{{ lookup('ansible.builtin.pipe', '{WAIT.format(path=received)}') | bool }}}}"
    runner = stream(CHECK, tmp_path, consume, extravars={"cluster_intent_whole_site": waiting, **extravars})
    return runner, events


def test_the_check_is_followed_live(tmp_path: Path) -> None:
    runner, events = follow(tmp_path)
    assert (runner.status, runner.rc) == ("successful", 0)
    results = [text for event in events if (text := line(event))]
    assert len(results) == 1
    assert results[0].split(None, 2)[::2] == ["ok", REFUSAL]
    assert [event["counter"] for event in events] == list(range(1, len(events) + 1))


def test_a_refusal_arrives_as_data(tmp_path: Path) -> None:
    runner, events = follow(tmp_path, drawbridge_kube={})
    assert (runner.status, runner.rc) == ("failed", 2)
    [failed] = [event for event in events if event["event"] == "runner_on_failed"]
    faults = failed["event_data"]["res"]["faults"]
    assert any(fault.startswith("drawbridge_kube.api_server is missing, but ") for fault in faults)
