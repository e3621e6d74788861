# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""dcb against what iproute2 6.15 said on a real kernel (tests/dcb), and what differs in 6.1."""

import json

from tests.dcb import transcript
from tests.dcb.transcript import RECORDED
from tests.emulated_nic import drive


def shown(host, what):
    return json.loads(host.run("dcb", "-j", "-N", what, "show", "dev", "rail0").stdout)


def test_it_says_what_the_real_one_does(host):
    (host.directory / "sys/class/net/lo").mkdir()
    for rail in ("rail1", "rail3"):
        drive(host.directory / "sys", rail, "ice")
    for rail in ("rail2", "rail3"):
        host.run("dcb", "-j", "pfc", "show", "dev", rail)
    with host.device("mlnx_qos").state() as state:
        state["ports"]["rail2"].update(ets_cap=4, prio_tc=[1, 0, 2, 3, 0, 1, 2, 3])
        state["ports"]["rail3"].update(ets_cap=4, dcbx="os")
    for call in RECORDED:
        done = host.run(*call.command.split())
        assert transcript.Call(call.command, done.returncode, done.stdout, done.stderr) == call


def test_it_shows_what_mlnx_qos_set_and_the_other_way_round(host):
    host.run("mlnx_qos", "-i", "rail0", "--pfc", "0,0,0,1,0,0,0,0")
    assert shown(host, "pfc")["prio_pfc"] == [False] * 3 + [True] + [False] * 4
    host.run("dcb", "pfc", "set", "dev", "rail0", "prio-pfc", "3:off", "5:on")
    assert "enabled     0   0   0   0   0   1   0   0" in host.run("mlnx_qos", "-i", "rail0").stdout


def test_entries_have_no_blank_in_6_1(host):
    host.run("dcb", "app", "replace", "dev", "rail0", "dscp-prio", "26:3")
    with host.device("mlnx_qos").state() as state:
        state["iproute2"] = "6.1"
    assert shown(host, "app") == {"dscp_prio": [[26, 3]]}


def test_the_first_entry_and_the_bounce_are_the_kernels(host):
    host.run("dcb", "pfc", "set", "dev", "rail0", "prio-pfc", "3:on")
    host.run("dcb", "pfc", "set", "dev", "rail0", "prio-pfc", "3:on")
    with host.device("mlnx_qos").state() as state:
        assert state["ports"]["rail0"]["link_flaps"] == 1
