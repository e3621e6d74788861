# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""ethtool against what ethtool 6.14 said: its forms, its exit codes, and what a boot loses."""

import json

import pytest


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("-S", "nosuch0"), 1, "netlink error: no device matches name (offset 24)\n"),
        (("-S", "eth0"), 1, "netlink error: Operation not supported\n"),
        (("--json", "-S", "rail0"), 1, "ethtool: parameter '--json' can be used only with netlink\n"),
        (("-G", "rail0", "rx", "9000"), 81, "netlink error: requested ring size exceeds maximum\n"),
    ],
)
def test_refusals(host, arguments, code, text):
    done = host.run("ethtool", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", text)


def test_counters_are_text_and_settings_are_json(host):
    printed = host.run("ethtool", "-S", "rail0").stdout
    assert printed.startswith("NIC statistics:\n     rx_prio0_bytes: 0\n")
    [pause] = json.loads(host.run("ethtool", "--json", "-a", "rail0").stdout)
    assert pause == {"ifname": "rail0", "autonegotiate": False, "rx": True, "tx": True}


def test_a_boot_brings_global_pause_back(host):
    assert host.run("ethtool", "-A", "rail0", "rx", "off", "tx", "off").returncode == 0
    [pause] = json.loads(host.run("ethtool", "--json", "-a", "rail0").stdout)
    assert (pause["rx"], pause["tx"]) == (False, False)
    host.boot("second")
    [pause] = json.loads(host.run("ethtool", "--json", "-a", "rail0").stdout)
    assert (pause["rx"], pause["tx"]) == (True, True)


def test_rings_change_and_a_lie_keeps_them(host):
    host.run("ethtool", "-G", "rail0", "rx", "4096")
    host.device("ethtool").add_fault("ethtool", "lie")
    assert host.run("ethtool", "-G", "rail0", "rx", "8192").returncode == 0
    [rings] = json.loads(host.run("ethtool", "--json", "-g", "rail0").stdout)
    assert (rings["rx"], rings["tx"], rings["rx-max"]) == (4096, 1024, 8192)
