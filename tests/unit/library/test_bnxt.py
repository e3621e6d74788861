# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""mlnx_qos on ports of Broadcom's Thor 2. Its firmware has one entry for each DSCP, and not always the kernel's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.emulators.common import Device
from tests.unit.library.emulated import Host, drive, with_rails, writes

GROUP = {
    "interfaces": ["rail0"],
    "lossless_priorities": [3],
    "dscp_priorities": [{"dscp": 26, "priority": 3}, {"dscp": 48, "priority": 7}],
    "bandwidth": [{"priority": 3, "percent": 50}, {"priority": 7, "percent": 0}],
    "cable_m": 30,
}
ARGS = {"groups": [GROUP], "may_flap_links": True, "slurm_node": "gpu01", "timeout_s": 120}
STEPS = [
    "rail0: trust dscp, not pcp",
    "rail0: share the link: 50 % for priority 0 1 2 4 5 6, 50 % for priority 3, strict for priority 7, not strict for"
    " priority 0 1 2 3 4 5 6 7",
    "rail0: make priority 3 lossless, not none",
]


@pytest.fixture
def host(tmp_path: Path, monkeypatch: Any, capfd: Any) -> Host:
    host = with_rails(tmp_path, monkeypatch, capfd)
    (host.bin / "mlnx_qos").unlink()
    host.install("dcb")
    host.program("pgrep", "exit 1")
    drive(host, monkeypatch, "bnxt_en", "rail0")
    return host


@pytest.fixture
def nic(host: Host) -> Device:
    return host.device("mlnx_qos")


def firmware(nic: Device, dscp: int) -> int:
    """The priority that the firmware gives to a DSCP."""
    with nic.state() as state:
        return state["ports"]["rail0"]["dscp2prio"][dscp]


def test_a_new_port_gets_the_wanted_map_at_once(host: Host, nic: Device) -> None:
    done = host.converge("mlnx_qos", "mlnx_qos", **ARGS)
    assert (done["steps"], done["link_flap"]) == (STEPS, ["rail0"])
    assert [argv[-2:] for argv in writes(nic) if argv[1] == "app"] == [["26:3", "48:7"]]
    assert (firmware(nic, 26), firmware(nic, 48)) == (3, 7)
    with nic.state() as state:
        port = state["ports"]["rail0"]
    assert (port["prio_tc"], port["tcbw"][:3]) == ([0, 0, 0, 1, 0, 0, 0, 2], [50, 50, 0])
    assert (port["pfc"], port["link_flaps"]) == ([0, 0, 0, 1, 0, 0, 0, 0], 2)


@pytest.mark.parametrize(
    ("entries", "steps"),
    [
        ([[26, 3], [48, 6]], ["rail0: put DSCP 48 into priority 7, not 6"]),
        ([[26, 3], [48, 6], [48, 7]], ["rail0: put DSCP 48 into priority 7, not 6"]),
        ([[48, 6]], ["rail0: put DSCP 26 into priority 3, not none", "rail0: put DSCP 48 into priority 7, not 6"]),
        ([[26, 3]], ["rail0: put DSCP 48 into priority 7, not none"]),
    ],
    ids=["another priority", "a second priority", "the only entry", "no entry"],
)
def test_the_firmware_has_the_entry_that_the_kernel_lists(
    host: Host, nic: Device, entries: list[list[int]], steps: list[str]
) -> None:
    host.run("mlnx_qos", **ARGS)
    with nic.state() as state:
        state["ports"]["rail0"]["apps"] = [*entries, [46, 5]]
        state["ports"]["rail0"]["dscp2prio"][46] = 5
    assert host.converge("mlnx_qos", "mlnx_qos", **{**ARGS, "may_flap_links": False})["steps"] == steps
    assert (firmware(nic, 26), firmware(nic, 48), firmware(nic, 46)) == (3, 7, 5)


def test_a_change_of_shares_bounces_the_link_and_needs_consent(host: Host, nic: Device) -> None:
    host.run("mlnx_qos", **ARGS)
    with nic.state() as state:
        state["ports"]["rail0"] |= {"prio_tc": [0] * 8, "link_flaps": 0}
    before = writes(nic)
    refused = host.run("mlnx_qos", **{**ARGS, "may_flap_links": False})
    assert "a change of QoS bounces the link of rail0" in refused["msg"] and writes(nic) == before
    assert host.run("mlnx_qos", **ARGS)["link_flap"] == ["rail0"]
    with nic.state() as state:
        assert state["ports"]["rail0"]["link_flaps"] == 1


def test_lldpad_is_looked_for_once(host: Host) -> None:
    looks = host.root / "looks"
    host.program("pgrep", f"echo >> {looks}; exit 1")
    host.run("mlnx_qos", True, **{**ARGS, "groups": [{**GROUP, "interfaces": ["rail0", "rail1", "rail2"]}]})
    assert looks.read_text() == "\n"
