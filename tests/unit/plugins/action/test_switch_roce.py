# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The action as Ansible runs it, in the controller's process, against an emulated switch."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template
from ansible_collections.drawbridge.drawbridge.plugins.action import switch_roce
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.libraries import Absent
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric import session_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import SwitchProfile
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.eos.text import DIALECT

from lab.emulators.fabric.eos import sessions
from tests.unit.emulated_switch import Leaf, profile

PROFILE = profile()
NO_OPTIONS: Mapping[str, Any] = {}


def variables(leaf: Leaf) -> dict[str, Any]:
    login = leaf.login
    return {
        "inventory_hostname": "leaf1",
        "switch_address": login.host,
        "ansible_host": trust_as_template("{{ switch_address }}"),
        "ansible_port": login.port,
        "ansible_user": login.user,
        "ansible_ssh_private_key_file": login.key_file,
        "ansible_ssh_common_args": f"-o UserKnownHostsFile={login.known_hosts_file}",
    }


def run(
    leaf: Leaf,
    check: bool = False,
    may_flap: bool = True,
    want: SwitchProfile = PROFILE,
    options: Mapping[str, Any] = NO_OPTIONS,
    **extra: Any,
) -> Any:
    """One task, without the second and a half that ansible-playbook takes to start."""
    args = {"profile": want.as_dict(), "may_flap_ports": may_flap, "answer_timeout_s": 60, "settle_timeout_s": 0}
    args |= {"variables": {"may_flap_ports": "site_may_flap_ports"}, **options}
    return act(switch_roce, args, {**variables(leaf), **extra}, check)


def act(action: Any, args: Mapping[str, Any], task_vars: dict[str, Any], check: bool) -> Any:
    name = action.__name__.rpartition(".")[2]
    task = SimpleNamespace(
        args=args, check_mode=check, async_val=0, diff=True, action=name, _role=None, delegate_to=None
    )
    connection = SimpleNamespace(_shell=SimpleNamespace(tmpdir="none is made"))
    parts: list[Any] = [task, connection, None, DataLoader(), Templar(variables=task_vars), None]
    return action.ActionModule(*parts).run(task_vars=task_vars)


BEHIND = {"Ethernet1": "gpu01", "Ethernet2": "gpu02"}
DRAINED = {"drained": "gpu[01-02]", "jobs": {}, "unknown": ""}
BUSY = {"drained": "gpu[01-02]", "jobs": {"4711": "gpu02"}, "unknown": ""}


QUIET_STEPS = ["PFC watchdog", "qos profile ROCE"]


def names(steps: list[str]) -> list[str]:
    return [step.split(":")[0] for step in steps]


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"behind": BEHIND}, "Slurm's controller was not asked in this run; run this again when it answers"),
        ({"node_use": DRAINED}, "the intent does not say who is behind Ethernet1-2"),
    ],
)
def test_what_flaps_ports_waits_while_nodes_are_not_known_and_the_rest_goes_on(
    leaf: Leaf, check: bool, options: dict[str, Any], why: str
) -> None:
    leaf.type()
    before = [line for line in leaf.lines() if "mtu" in line]
    waits = run(leaf, check=check, may_flap=False, options=options)
    assert (waits["failed"], waits["changed"], waits["interrupting"]) == (False, True, [])
    assert names(waits["steps"])[:2] == QUIET_STEPS
    [reason] = waits["pending"]
    assert reason.startswith("interface Ethernet1-2: mtu 9214; ")
    assert f"takes the links of Ethernet1-2 down for a moment: {why}" in reason
    assert reason.endswith("or allow it with the line: site_may_flap_ports: true")
    assert waits["warnings"] == waits["pending"]
    assert [line for line in leaf.lines() if "mtu" in line] == before
    again = run(leaf, check=check, may_flap=False, options=options)
    assert (again["changed"], again["pending"]) == (check, waits["pending"])


@pytest.mark.parametrize("check", [True, False])
def test_by_consent_a_quiet_run_leaves_the_rest_to_one_that_interrupts(leaf: Leaf, check: bool) -> None:
    known = {"behind": BEHIND, "node_use": BUSY, "links": ["Ethernet1"]}
    quiet = run(leaf, check=check, options={**known, "phase": "quiet"})
    assert names(quiet["interrupting"]) == ["interface Ethernet2"]
    assert "interface Ethernet2" not in names(quiet["steps"])
    later = run(leaf, check=check, options={**known, "phase": "interrupting"})
    assert later["steps"][:-1] == quiet["interrupting"]
    assert run(leaf, options={**known, "phase": "quiet"})["interrupting"] == (quiet["interrupting"] if check else [])


def test_uplinks_are_a_change_of_their_own_after_the_ports_of_nodes(leaf: Leaf) -> None:
    assert run(leaf, options={"links": ["Ethernet1"]})["changed"]
    typed = [call["line"] for call in leaf.journal() if "line" in call]
    opened = [line for line in typed if line.startswith(("interface Ethernet", "commit timer"))]
    assert [line.split(" 00:")[0] for line in opened] == [
        "commit timer",
        "interface Ethernet2",
        "commit timer",
        "interface Ethernet1",
        "commit timer",
    ]


@pytest.mark.parametrize("check", [True, False])
def test_another_users_session_is_named_with_the_repair(leaf: Leaf, check: bool) -> None:
    with leaf.state() as state:
        sessions.enter(state, "upgrade", "vty9", "eve")
    refused = run(leaf, check=check)
    assert refused["failed"]
    assert "configuration session upgrade (eve) is open" in refused["msg"]
    assert refused["msg"].endswith("on the switch with: configure session upgrade abort")
    assert not any(call["writes"] for call in leaf.journal())


def test_another_users_session_does_not_matter_to_a_converged_switch(leaf: Leaf) -> None:
    run(leaf)
    leaf.fault("stale", "show running-config")
    assert (run(leaf)["failed"], list(leaf.sessions())) == (False, ["maintenance"])


def test_a_failed_change_names_the_remaining_steps(leaf: Leaf) -> None:
    leaf.fault("refuse", "service-profile ROCE")
    failed = run(leaf)
    assert failed["msg"].startswith("leaf1 refused 'service-profile ROCE': % Unavailable command")
    assert (failed["failed"], failed["changed"]) == (True, True)
    assert names(failed["done"]) == QUIET_STEPS
    assert names(failed["left"]) == [
        "interface Ethernet1-2",
        "save the running configuration, so that a restart keeps it",
    ]
    assert names(run(leaf)["steps"]) == names(failed["left"])


def test_hardware_that_does_not_follow_fails_a_run_that_has_nothing_to_do(
    leaf: Leaf, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(leaf)
    blind = replace(DIALECT, reads=(*DIALECT.reads[:3], "show hostname"))
    monkeypatch.setitem(switch_roce.switches.DIALECTS, "eos", blind)
    failed = run(leaf)
    assert failed["msg"].startswith("leaf1 is configured, but Ethernet1 does not pause priority 3 alone")
    assert (failed["failed"], failed["changed"]) == (True, False)


def test_a_switch_that_can_not_be_reached_is_one_sentence(leaf: Leaf) -> None:
    failed = run(leaf, ansible_port=1)
    assert failed["msg"].startswith("leaf1 (127.0.0.1 port 1) can't be reached by SSH")
    assert (failed["failed"], failed["changed"]) == (True, False)


def test_a_newer_release_is_refused_until_the_variable_allows_it(leaf: Leaf) -> None:
    with leaf.state() as state:
        state["version"] = "4.99.1F"
    failed = run(leaf, options={"variables": {"may_try_release": "site_may_try_release"}})
    assert failed["msg"].startswith("leaf1: it runs EOS 4.99.1F, and Drawbridge was written from documents of 4.31")
    assert failed["msg"].endswith("to try it on this switch, set site_may_try_release: true")
    assert not run(leaf, options={"may_try_release": True})["failed"]


def test_a_jump_host_is_refused(leaf: Leaf) -> None:
    assert "-F FILE" in run(leaf, ansible_ssh_common_args="-J bastion")["msg"]


def test_a_missing_package_is_named_with_the_python_that_lacks_it(leaf: Leaf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_io, "netmiko", Absent("netmiko"))
    failed = run(leaf)
    assert failed["failed"]
    assert failed["msg"] == (
        f"the Python that runs Ansible, {sys.executable}, has no netmiko; install requirements.lock into it"
    )
