# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest
import yaml

from bench import gate
from roles.slurm_gate.files.gate.gate_names import GATE_NAMESPACE, NODES_NAMESPACE


def test_calls_of_both_sides_are_written_down_and_nobody_elses() -> None:
    heard, others = yaml.safe_load(gate.POLICY)["rules"]
    accounts = {f"system:serviceaccounts:{space}" for space in (GATE_NAMESPACE, NODES_NAMESPACE)}
    assert set(heard["userGroups"]) == {*accounts, "system:nodes"}
    assert others == {"level": "None"}


def test_calls_have_times_that_can_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    log = json.dumps({"verb": "get", "requestReceivedTimestamp": "1970-01-01T00:00:12.500000Z"})
    monkeypatch.setattr(gate, "on_host", lambda host, command: log)
    assert [event["at"] for event in gate.events()] == [12.5]
