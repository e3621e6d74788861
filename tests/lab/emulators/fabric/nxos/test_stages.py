# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Two-stage commits, as a user's lines and the clock make them."""

import pytest

from lab.emulators.fabric.cli import candidate
from lab.emulators.fabric.nxos import stages
from lab.emulators.fabric.nxos.cli import Cli
from lab.emulators.fabric.nxos.language import NXOS
from lab.emulators.fabric.nxos.lines import CLOUDSCALE
from lab.emulators.fabric.switch import Refused

CHANGE = ("configure dual-stage", "interface e1/1", "mtu 9216")
MTU = "  mtu 9216"


class Operator:
    """Types lines at a time; the switch is the state."""

    def __init__(self, state, vty="vty3"):
        self.state = state
        self.cli = Cli("admin", vty)

    def type(self, *lines, now=0.0):
        return [self.cli.run(self.state, line, now) for line in lines][-1]

    @property
    def prompt(self):
        return self.cli.prompt(self.state)


@pytest.fixture
def state():
    return stages.factory("leaf1", CLOUDSCALE, 2, "10.77.1.46")


@pytest.fixture
def admin(state):
    return Operator(state)


def lines(state):
    return NXOS.render(state["running"])


def test_lines_are_cached_until_the_commit(state, admin):
    admin.type(*CHANGE)
    assert admin.prompt == "leaf1(config-dual-stage-if)#"
    assert "mtu 9216" in admin.type("show configuration")
    assert MTU not in lines(state)
    assert "Configuration committed by user 'admin' using Commit ID : 1000000001" in admin.type("commit")
    assert (MTU in lines(state), admin.prompt) == (True, "leaf1(config-dual-stage)#")


def test_a_commit_for_a_time_goes_back_unless_it_is_confirmed(state, admin):
    before = lines(state)
    admin.type(*CHANGE)
    admin.type("commit confirmed 300", now=100)
    assert not candidate.expired(state, 399)
    assert candidate.expired(state, 400)
    candidate.go_back(state, 400, stages.link)
    assert lines(state) == before
    admin.type("exit", *CHANGE)
    admin.type("commit confirmed 300", now=500)
    assert admin.type("commit", now=600) == ""
    assert not candidate.expired(state, 900)
    assert MTU in lines(state)


def test_another_session_does_not_confirm(state, admin):
    admin.type(*CHANGE, "commit confirmed 300")
    other = Operator(state, "vty4")
    other.type("configure dual-stage", "commit")
    assert candidate.expired(state, 300)


def test_a_commit_is_old_or_new(state, admin):
    before = lines(state)
    admin.type(*CHANGE, "service-policy type qos input NONE")
    with pytest.raises(
        Refused, match=r"^Failed\. err=ERROR: policy-map NONE does not exist\ncommit verification failed$"
    ):
        admin.type("commit")
    assert lines(state) == before


def test_a_commit_adds_to_what_others_changed_meanwhile(state, admin):
    admin.type(*CHANGE)
    Operator(state, "vty4").type("configure terminal ; interface e1/2 ; description by hand ; end")
    admin.type("commit")
    assert {MTU, "  description by hand"} <= set(lines(state))


@pytest.mark.parametrize("leaves", ["abort", "end"])
def test_what_is_not_committed_is_dropped(state, admin, leaves):
    before = lines(state)
    admin.type(*CHANGE, leaves)
    assert (lines(state), state["candidates"], admin.prompt) == (before, {}, "leaf1#")


def test_a_network_qos_policy_flaps_every_port(state, admin):
    policy = ("policy-map type network-qos A", "class type network-qos c-8q-nq3", "pause pfc-cos 3")
    admin.type("configure terminal", *policy, "interface e1/2", "mtu 9000")
    assert [port["flaps"] for port in state["ports"].values()] == [0, 1]
    admin.type("system qos", "service-policy type network-qos A")
    assert [port["flaps"] for port in state["ports"].values()] == [1, 2]
    admin.type("interface e1/1", "priority-flow-control mode on", "end")
    shown = admin.type("terminal length 0", "show interface priority-flow-control")
    assert "Ethernet1/1        On   On  (8)" in shown
    assert "Ethernet1/2        Auto Off" in shown


def test_running_config_says_when_it_last_changed(admin):
    admin.type("terminal length 0", "configure", "interface e1/1", "mtu 9000", now=60)
    shown = admin.type("show running-config", now=120)
    assert "!Running configuration last done at: Thu Jan  1 00:01:00 1970\n!Time: Thu Jan  1 00:02:00 1970\n" in shown
