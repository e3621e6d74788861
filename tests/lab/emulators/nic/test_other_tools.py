# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""dcb, ethtool, setpci and lspci against what the real ones said, and what a boot loses."""

import json

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.tools import ethtool_text

from tests.dcb import transcript
from tests.dcb.transcript import RECORDED
from tests.emulated_nic import drive

BDF = "0000:18:00.0"
REGISTER = "CAP_EXP+08.w"


def read(host, tool, *arguments):
    return json.loads(host.run(tool, *arguments).stdout)


def test_dcb_says_what_iproute2_did_on_a_real_kernel(host):
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


def test_dcb_shows_what_mlnx_qos_set_and_the_other_way_round(host):
    host.run("mlnx_qos", "-i", "rail0", "--pfc", "0,0,0,1,0,0,0,0")
    assert read(host, "dcb", "-j", "pfc", "show", "dev", "rail0")["prio_pfc"] == [False] * 3 + [True] + [False] * 4
    host.run("dcb", "pfc", "set", "dev", "rail0", "prio-pfc", "3:off", "5:on")
    assert "enabled     0   0   0   0   0   1   0   0" in host.run("mlnx_qos", "-i", "rail0").stdout


def test_entries_of_dcb_have_no_blank_in_6_1(host):
    host.run("dcb", "app", "replace", "dev", "rail0", "dscp-prio", "26:3")
    with host.device("mlnx_qos").state() as state:
        state["iproute2"] = "6.1"
    assert read(host, "dcb", "-j", "-N", "app", "show", "dev", "rail0") == {"dscp_prio": [[26, 3]]}


def test_bnxts_firmware_loses_a_dscp_that_dcb_replaces(host):
    drive(host.directory / "sys", "rail0", "bnxt_en")
    for entry in ("48:6", "48:7"):
        host.run("dcb", "app", "replace", "dev", "rail0", "dscp-prio", entry)
    with host.device("mlnx_qos").state() as state:
        port = state["ports"]["rail0"]
    assert (port["apps"], port["dscp2prio"][48]) == ([[48, 7]], 0)


def test_bnxt_takes_neither_pfc_nor_a_delay_before_shares(host):
    drive(host.directory / "sys", "rail0", "bnxt_en")
    for words in (["prio-pfc", "3:on"], ["delay", "7"]):
        done = host.run("dcb", "pfc", "set", "dev", "rail0", *words)
        assert (done.returncode, done.stderr) == (1, "Attribute write: Invalid argument\n")
    again = host.run("dcb", "app", "add", "dev", "rail0", "dscp-prio", "26:3", "26:3")
    assert (again.returncode, again.stderr) == (1, "Attribute write: File exists\n")


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("-S", "nosuch0"), 1, "netlink error: no device matches name (offset 24)\n"),
        (("-S", "eth0"), 1, "netlink error: Operation not supported\n"),
        (("--json", "-S", "rail0"), 1, "ethtool: parameter '--json' can be used only with netlink\n"),
        (("-G", "rail0", "rx", "9000"), 81, "netlink error: requested ring size exceeds maximum\n"),
    ],
)
def test_what_ethtool_refuses(host, arguments, code, text):
    done = host.run("ethtool", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", text)


def test_counters_are_text_settings_are_json_and_a_boot_brings_global_pause_back(host):
    assert host.run("ethtool", "-S", "rail0").stdout.startswith("NIC statistics:\n     rx_prio0_bytes: 0\n")
    factory = {"ifname": "rail0", "autonegotiate": False, "rx": True, "tx": True}
    assert read(host, "ethtool", "--json", "-a", "rail0") == [factory]
    assert host.run("ethtool", "-A", "rail0", "rx", "off", "tx", "off").returncode == 0
    assert read(host, "ethtool", "--json", "-a", "rail0") == [{**factory, "rx": False, "tx": False}]
    host.boot("second")
    assert read(host, "ethtool", "--json", "-a", "rail0") == [factory]


@pytest.mark.parametrize("release", ["5.16", "6.1"])
def test_before_6_2_json_lies_about_booleans_and_text_does_not(host, release):
    with host.device("ethtool").state({"ports": {}, "version": release}):
        pass
    host.run("ethtool", "-A", "rail0", "rx", "off", "tx", "off")
    [pause] = read(host, "ethtool", "--json", "-a", "rail0")
    assert (pause["rx"], pause["tx"]) == (True, True)
    shown = host.run("ethtool", "-a", "rail0").stdout
    assert shown == "Pause parameters for rail0:\nAutonegotiate:\toff\nRX:\t\toff\nTX:\t\toff\n"
    refused = host.run("ethtool", "--json", "-g", "rail0")
    assert (refused.returncode, refused.stderr.splitlines()[0]) == (1, "ethtool: bad command line argument(s)")
    assert "Current hardware settings:\nRX:\t\t1024\n" in host.run("ethtool", "-g", "rail0").stdout


def test_rings_change_and_a_lie_keeps_them(host):
    host.run("ethtool", "-G", "rail0", "rx", "4096")
    host.device("ethtool").add_fault("ethtool", "lie")
    assert host.run("ethtool", "-G", "rail0", "rx", "8192").returncode == 0
    [rings] = read(host, "ethtool", "--json", "-g", "rail0")
    assert (rings["rx"], rings["tx"], rings["rx-max"]) == (4096, 1024, 8192)


@pytest.fixture
def pci(host):
    """Run setpci or lspci on a host with one PCI device; return exit code, and what it printed."""
    device = host.directory / f"sys/devices/{BDF}"
    device.mkdir(parents=True)
    (host.directory / "sys/class/net/rail0/device").symlink_to(device)

    def run(*arguments, tool="setpci", **quirks):
        with host.device("pciutils").state({"devices": {}}) as state:
            state.update(quirks)
        done = host.run(tool, *arguments)
        return done.returncode, f"{done.stdout}{done.stderr}".strip()

    return run


def test_setpci_changes_the_bits_of_its_mask_until_a_boot(host, pci):
    assert pci("-s", BDF, REGISTER) == (0, "2910")
    assert pci("-s", "18:00.0", f"{REGISTER}=5000:f000") == (0, "")
    assert pci("-s", BDF, REGISTER) == (0, "5910")
    assert "RlxdOrd+ ExtTag+" in pci("-vv", tool="lspci")[1]
    assert pci("-vv", "-s", BDF, tool="lspci")[1].endswith("MaxReadReq 4096 bytes")
    host.boot("two")
    assert pci("-s", BDF, REGISTER) == (0, "2910")


def test_setpci_warns_and_succeeds_or_finds_no_capability(host, pci):
    missing = "setpci: Warning: No devices selected for operation group 2."
    assert pci("-s", BDF, REGISTER, "-s", "99:00.0", REGISTER) == (0, f"2910\n{missing}")
    host.device("pciutils").add_fault("setpci", "refuse")
    refused = "pcilib: sysfs_write: write failed: Operation not permitted"
    assert pci("-s", BDF, f"{REGISTER}=5000:f000") == (0, refused)
    assert pci("-s", BDF, f"{REGISTER}=5000:f000", stubborn=[BDF]) == (0, "")
    assert pci("-s", BDF, REGISTER) == (0, "2910")
    code, told = pci("-s", BDF, REGISTER, plain=[BDF])
    assert (code, "Instance #0 of Capability 0010 not found" in told) == (1, True)


def test_a_module_has_light_and_lost_blocks_are_counted(host):
    def said():
        module = ethtool_text.module(host.run("ethtool", "-m", "rail0").stdout)
        blocks = ethtool_text.uncorrectable_blocks(host.run("ethtool", "-I", "--show-fec", "rail0").stdout)
        return module.optics, module.alarms, blocks

    assert said() == (True, (), 0)
    with host.device("ethtool").state() as state:
        state["ports"]["rail0"].update(rx_dbm=-14.2, lost_blocks=20000)
    assert said() == (True, ("Laser rx power low in channels 1, 2, 3, 4",), 20000)
