# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The action as Ansible runs it, in the controller's process, against an emulated switch."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.action import switch_state
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.libraries import Absent
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric import session_io

from tests.unit.emulated_switch import Leaf, profile
from tests.unit.plugins.action.test_switch_roce import act, variables


def run(leaf: Leaf, **extra: Any) -> Any:
    return act(switch_state, {"profile": profile().as_dict()}, {**variables(leaf), **extra}, check=True)


def test_it_reads_in_check_mode_too_and_changes_nothing(leaf: Leaf) -> None:
    with leaf.state() as state:
        state["counters"] = {"Ethernet2": {"3": {"rx_pause": 7}}}
    assert not leaf.converge().error
    leaf.journal()
    done = run(leaf)
    assert (done["changed"], done.get("failed", False), done["steps"], done["pending"]) == (False, False, [], [])
    assert done["ports"]["Ethernet2"]["priorities"]["3"]["rx_pause"] == 7
    assert done["unknown"] == []
    assert not any(call["writes"] for call in leaf.journal())


def test_a_switch_that_can_not_be_reached_is_one_sentence(leaf: Leaf) -> None:
    failed = run(leaf, ansible_port=1)
    assert (failed["failed"], failed["changed"]) == (True, False)
    assert failed["msg"].startswith("leaf1 (127.0.0.1 port 1) can't be reached by SSH")


def test_a_missing_package_is_named(leaf: Leaf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_io, "netmiko", Absent("netmiko"))
    assert "has no netmiko" in run(leaf)["msg"]
