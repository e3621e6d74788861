# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Reports of recorded and of made-up results."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.collect import Event, findings
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.fold import Run, document, fold

RECORDINGS = Path(__file__).parents[3] / "recordings"
RUNS = ("nothing", "failures", "unreachable")
"""Recordings of runs in the lab that have a golden report."""


def run(check: bool = False, started: str = "2026-11-24T02:00:00+00:00") -> Run:
    plays = [("Check the intent", 0.4), ("Bring nodes to their intended state", 61.0)]
    command = "ansible-playbook playbooks/site.yml" + (" --check" if check else "")
    return Run("site.yml", check, command, started, 72.4, plays, 11, inventory="inventories/lab")


def recorded(name: str) -> list[Event]:
    content = json.loads(gzip.decompress((RECORDINGS / f"{name}.json.gz").read_bytes()))
    return [Event(**event) for event in content]


def report(events: list[Event], check: bool = False, started: str = "2026-11-24T02:00:00+00:00") -> dict[str, Any]:
    return document(run(check, started), fold(found for event in events for found in findings(event)))


def step(host: str, *steps: str, role: str = "fabric_nic") -> Event:
    return Event("ok", host, role, "Make it so", {"changed": True, "steps": list(steps), "pending": []})
