# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""dcb against what iproute2 6.15 and 6.1 said on a test device of the kernel's DCB interface."""

import json

import pytest


def shown(host, what):
    return json.loads(host.run("dcb", "-j", "-N", what, "show", "dev", "rail0").stdout)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("pfc", "show", "dev", "nosuch0"), "Attribute read: No such device\n"),
        (("pfc", "show", "dev", "eth0"), "Attribute read: Operation not supported\n"),
        (("app", "del", "dev", "rail0", "dscp-prio", "26:3"), "Attribute write: No such file or directory\n"),
        (
            ("app", "add", "dev", "rail0", "dscp-prio", "64:3"),
            "In DSCP:PRIO mapping, DSCP is expected to be 0..63\nInvalid mapping 64\n",
        ),
        (
            ("ets", "set", "dev", "rail0", "tc-tsa", "0:ets", "tc-bw", "0:90"),
            "Bandwidth percentages in tc-bw sum to 90%, expected 100%\n",
        ),
    ],
)
def test_refusals(host, arguments, text):
    done = host.run("dcb", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", text)


def test_it_shows_what_mlnx_qos_set_and_the_other_way_round(host):
    host.run("mlnx_qos", "-i", "rail0", "--pfc", "0,0,0,1,0,0,0,0")
    assert shown(host, "pfc")["prio_pfc"] == [False] * 3 + [True] + [False] * 4
    host.run("dcb", "pfc", "set", "dev", "rail0", "prio-pfc", "3:off", "5:on")
    assert "enabled     0   0   0   0   0   1   0   0" in host.run("mlnx_qos", "-i", "rail0").stdout


def test_entries_have_a_blank_in_6_15_and_an_empty_table_has_no_key(host):
    assert shown(host, "app") == {}
    host.run("dcb", "app", "replace", "dev", "rail0", "dscp-prio", "26:3")
    assert shown(host, "app") == {"dscp_prio": [[26, 3, " "]]}
    with host.device("mlnx_qos").state() as state:
        state["iproute2"] = "6.1"
    assert shown(host, "app") == {"dscp_prio": [[26, 3]]}


def test_ice_takes_no_second_priority_and_few_classes(host):
    host.run("dcb", "app", "add", "dev", "rail0", "dscp-prio", "26:2")
    with host.device("mlnx_qos").state() as state:
        state["ports"]["rail0"].update(driver="ice", ets_cap=4)
    for words in (
        ("app", "replace", "dev", "rail0", "dscp-prio", "26:3"),
        ("ets", "set", "dev", "rail0", "prio-tc", "6:6"),
    ):
        done = host.run("dcb", *words)
        assert (done.returncode, done.stderr) == (1, "Attribute write: Invalid argument\n")
    assert shown(host, "ets")["ets_cap"] == 4


def test_the_first_entry_and_the_bounce_are_the_kernels(host):
    host.run("dcb", "pfc", "set", "dev", "rail0", "prio-pfc", "3:on")
    host.run("dcb", "pfc", "set", "dev", "rail0", "prio-pfc", "3:on")
    with host.device("mlnx_qos").state() as state:
        assert state["ports"]["rail0"]["link_flaps"] == 1
