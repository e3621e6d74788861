# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The module against the emulated tool, with every fault that the tool can have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.emulators.common import Device
from lab.emulators.nic.mlnx_qos import VERSIONS
from tests.unit.library.emulated import RAILS, Host, drive, with_rails, writes
from tests.unit.library.ways import ALONE, VISIT, meet_faults

GROUP = {
    "interfaces": RAILS[:2],
    "lossless_priorities": [3],
    "dscp_priorities": [{"dscp": 26, "priority": 3}, {"dscp": 48, "priority": 6}],
}
ARGS = {
    "groups": [GROUP],
    "may_flap_links": True,
    "variables": {"may_flap_links": "fabric_nic_may_flap_links"},
    "slurm_node": "gpu01",
    "timeout_s": 120,
}
TRUST = [f"{rail}: trust dscp, not pcp" for rail in RAILS[:2]]
PFC = [f"{rail}: make priority 3 lossless, not none" for rail in RAILS[:2]]

DRIFTED = ["rail1: make priority 3 lossless, not 5"]


@pytest.fixture(params=[ALONE, VISIT])
def host(request: Any, tmp_path: Path, monkeypatch: Any, capfd: Any) -> Host:
    host = with_rails(tmp_path, monkeypatch, capfd)
    host.way = request.param
    return host


@pytest.fixture
def nic(host: Host) -> Device:
    return host.device("mlnx_qos")


def flaps(nic: Device) -> list[int]:
    with nic.state() as state:
        return [state["ports"][rail]["link_flaps"] for rail in GROUP["interfaces"]]


def test_check_predicts_the_run_and_the_second_run_only_reads(host: Host, nic: Device) -> None:
    done = host.converge("mlnx_qos", "mlnx_qos", **ARGS)
    assert done["steps"] == TRUST + PFC
    assert done["link_flap"] == RAILS[:2] and flaps(nic) == [1, 1]
    assert host.run("mlnx_qos", **ARGS)["link_flap"] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_each_output_of_the_tool_leads_to_the_same_state(host: Host, nic: Device, version: str) -> None:
    with nic.state({"ports": {}}) as state:
        state["version"] = version
    assert host.run("mlnx_qos", **ARGS)["steps"] == TRUST + PFC
    assert host.run("mlnx_qos", **ARGS)["changed"] is False


def misplace(nic: Device) -> None:
    """Put DSCP 26 of rail1 into another priority."""
    with nic.state() as state:
        state["ports"]["rail1"]["apps"] = [[26, 4] if app[0] == 26 else app for app in state["ports"]["rail1"]["apps"]]


def test_a_wrong_entry_is_repaired_without_consent_when_no_job_runs(host: Host, nic: Device) -> None:
    host.run("mlnx_qos", **ARGS)
    misplace(nic)
    done = host.run("mlnx_qos", **{**ARGS, "may_flap_links": False})
    assert done["steps"] == ["rail1: put DSCP 26 into priority 3, not 4"]
    assert writes(nic)[-1] == ["mlnx_qos", "-i", "rail1", "--dscp2prio", "set,26,3"]
    assert flaps(nic) == [1, 1]


@pytest.mark.parametrize("check", [False, True], ids=["run", "check"])
def test_without_consent_nothing_is_touched_and_the_line_is_printed(host: Host, nic: Device, check: bool) -> None:
    refused = host.run("mlnx_qos", check, **{**ARGS, "may_flap_links": False})
    assert refused["failed"] and not refused["changed"]
    assert "bounces the link of rail0, rail1" in refused["msg"]
    assert refused["msg"].endswith("fabric_nic_may_flap_links: true")
    assert (refused["done"], refused["left"]) == ([], TRUST + PFC)
    assert writes(nic) == []


def test_links_of_a_busy_node_stay_up(host: Host, nic: Device) -> None:
    """A job is on the node: trust moves its traffic and PFC bounces links, so both wait for the next run."""
    host.program("squeue", "echo 7")
    done = host.run("mlnx_qos", **ARGS)
    assert (done["steps"], done["link_flap"], flaps(nic), writes(nic)) == ([], [], [0, 0], [])
    assert [text.partition(": Slurm job 7 is on this node")[0] for text in done["pending"]] == TRUST + PFC
    host.program("squeue", "")
    assert host.run("mlnx_qos", **ARGS)["steps"] == TRUST + PFC
    host.program("squeue", "echo 7")
    misplace(nic)
    [waits] = host.run("mlnx_qos", **ARGS)["pending"]
    assert waits.startswith("rail1: put DSCP 26 into priority 3, not 4: Slurm job 7")


def test_a_hanging_read_is_bounded_and_has_changed_nothing(host: Host, nic: Device) -> None:
    nic.add_fault("mlnx_qos", "hang")
    result = host.run("mlnx_qos", **{**ARGS, "timeout_s": 1})
    assert result["failed"] and not result["changed"]
    assert "no answer within 1 s" in result["msg"]


def test_a_port_that_is_not_there_or_no_rdma_port(host: Host) -> None:
    missing = host.run("mlnx_qos", **{**ARGS, "groups": [{**GROUP, "interfaces": ["rail0", "rail9"]}]})
    assert "but this host has no rail9; correct nics.netdev" in missing["msg"]
    host.program("ip", """echo '[{"ifname": "eth0", "operstate": "UP"}]'""")
    (host.root / "sys/class/net/eth0").mkdir()
    use_dcb(host)
    for _tool in ("mlnx_qos", "dcb"):
        other = host.run("mlnx_qos", **{**ARGS, "groups": [{**GROUP, "interfaces": ["eth0"]}]})
        assert "interfaces has eth0, but its driver has no DCB" in other["msg"]
        (host.bin / "mlnx_qos").unlink(missing_ok=True)


def use_dcb(host: Host) -> None:
    """The host has the kernel's tool, and lldpad does not run."""
    host.install("dcb")
    host.program("pgrep", "exit 1")


SHARED = {**ARGS, "groups": [{**GROUP, "bandwidth": [{"priority": 3, "percent": 50}, {"priority": 6, "percent": 0}]}]}


def test_without_mlnx_qos_the_kernels_tool_makes_the_same(host: Host, nic: Device) -> None:
    use_dcb(host)
    with_both = host.run("mlnx_qos", check=True, **SHARED)
    assert with_both["backends"] == dict.fromkeys(RAILS[:2], "mlnx_qos")
    (host.bin / "mlnx_qos").unlink()
    done = host.converge("mlnx_qos", "mlnx_qos", **SHARED)
    assert (done["steps"], done["backends"]) == (with_both["steps"], dict.fromkeys(RAILS[:2], "dcb"))
    assert flaps(nic) == [1, 1]


ICE_STEPS = [
    f"{rail}: {step}"
    for step in (
        "let the operating system control DCBX, not the firmware",
        "trust dscp, not pcp",
        "share the link: 45 % for priority 0, 1 % for priority 1, 1 % for priority 2, 50 % for priority 3, 1 % for"
        " priority 4, 1 % for priority 5, strict for priority 6, 1 % for priority 7, not 100 % for priority 0, 0 % for"
        " priority 1, 0 % for priority 2, 0 % for priority 3, 0 % for priority 4, 0 % for priority 5, 0 % for"
        " priority 6, 0 % for priority 7",
        "make priority 3 lossless, not none",
    )
    for rail in RAILS[:2]
]


@pytest.fixture
def ice(host: Host, nic: Device, monkeypatch: Any) -> Device:
    """The ports are those of an E810 as it leaves its vendor: the LLDP agent of its firmware runs."""
    use_dcb(host)
    host.install("ethtool")
    drive(host, monkeypatch, "ice", *RAILS[:2])
    return nic


def test_ice_gives_each_priority_its_own_class_with_the_same_shares(host: Host, ice: Device) -> None:
    host.run("mlnx_qos", check=True, **SHARED)
    assert writes(host.device("ethtool")) == []
    done = host.converge("mlnx_qos", "mlnx_qos", **SHARED)
    assert (done["steps"], done["link_flap"]) == (ICE_STEPS, RAILS[:2])
    assert done["backends"] == dict.fromkeys(RAILS[:2], "dcb"), "although mlnx_qos is there too"
    with ice.state() as state:
        port = state["ports"]["rail1"]
        assert (port["prio_tc"], port["tcbw"]) == ([*range(8)], [45, 1, 1, 50, 1, 1, 0, 1])
        assert port["pfc"] == [0, 0, 0, 1, 0, 0, 0, 0]
    bounced, with_cable = flaps(ice), {**SHARED, "groups": [{**SHARED["groups"][0], "cable_m": 50}]}
    assert (host.run("mlnx_qos", **with_cable)["steps"], flaps(ice)) == ([], bounced), "a cable's length is no change"


@pytest.mark.parametrize("tool", ["mlnx_qos", "dcb"])
def test_each_change_of_another_takes_one_run_and_one_bounce(host: Host, nic: Device, tool: str) -> None:
    """CNPs have another mark, priority 4 is paused on every port, and firmware controls DCBX."""
    use_dcb(host)
    if tool == "dcb":
        (host.bin / "mlnx_qos").unlink()
    host.run("mlnx_qos", **SHARED)
    with nic.state() as state:
        for rail in RAILS[:2]:
            apps = [[26, 4], [48, 0], *([it, 1] for it in range(8))]
            state["ports"][rail] |= {"pfc": [0, 0, 0, 1, 1, 0, 0, 0], "dcbx": "fw", "apps": apps, "cable_len": 100}
    cabled = {**SHARED, "groups": [{**SHARED["groups"][0], "cable_m": 30}]}
    assert host.converge("mlnx_qos", "mlnx_qos", **cabled)["link_flap"] == RAILS[:2]
    assert flaps(nic) == [2, 2]


def test_ports_of_two_makers_have_a_tool_each_and_a_boot_takes_all_from_both(
    host: Host, nic: Device, monkeypatch: Any
) -> None:
    use_dcb(host)
    host.install("ethtool")
    drive(host, monkeypatch, "ice", "rail1")
    done = host.converge("mlnx_qos", "mlnx_qos", **SHARED)
    assert done["backends"] == {"rail0": "mlnx_qos", "rail1": "dcb"} and ICE_STEPS[7] in done["steps"]
    (host.root / "proc/sys/kernel/random/boot_id").write_text("another")
    again = host.converge("mlnx_qos", "mlnx_qos", **SHARED)
    assert again["steps"] == done["steps"][1:], "the firmware's agent stays off"


@pytest.mark.parametrize(
    ("drift", "steps"),
    [
        ({"apps": [[26, 2], [48, 6]]}, ["rail1: put DSCP 26 into priority 3, not 2"]),
        (
            {"apps": [[26, 2]]},
            [f"rail1: put DSCP {it}" for it in ("26 into priority 3, not 2", "48 into priority 6, not none")],
        ),
        ({"tcbw": [40, 2, 2, 50, 2, 2, 0, 2]}, [ICE_STEPS[5].partition(", not ")[0]]),
        ({"pfc": [0] * 8}, ["rail1: make priority 3 lossless, not none"]),
        (
            {"apps": [], "prio_tc": [0] * 8, "tcbw": [100, *[0] * 7], "tsa": ["ets", *["strict"] * 7], "pfc": [0] * 8},
            ICE_STEPS[3::2],
        ),
    ],
    ids=["one entry", "the only entry", "shares", "PFC", "no map"],
)
@meet_faults("host")
def test_each_drift_of_ice_takes_one_run(host: Host, ice: Device, drift: dict[str, Any], steps: list[str]) -> None:
    host.run("mlnx_qos", **SHARED)
    with ice.state() as state:
        state["ports"]["rail1"] |= drift
    predicted = host.run("mlnx_qos", check=True, **SHARED)["steps"]
    assert [found.startswith(said) for found, said in zip(predicted, steps)] == [True] * len(predicted) != []
    assert len(predicted) == len(steps)
    done = host.run("mlnx_qos", **SHARED)
    assert (done.get("msg"), done["steps"], host.run("mlnx_qos", **SHARED)["steps"]) == (None, predicted, [])


def test_while_the_only_entry_of_ice_changes_pfc_stays(host: Host, ice: Device) -> None:
    """Without an entry the driver would make no priority lossless, and give all priorities one class."""
    host.run("mlnx_qos", **SHARED)
    with ice.state() as state:
        state["ports"]["rail1"]["apps"] = [[26, 2]]
    before = len(writes(ice))
    host.run("mlnx_qos", **SHARED)
    changes = [" ".join([argv[2], argv[-1]]) for argv in writes(ice)[before:]]
    assert changes == ["add 0:0", "del 26:2", "add 26:3", "del 0:0", "add 48:6"]


def test_ice_without_consent_or_with_a_job_is_not_touched(host: Host, ice: Device) -> None:
    refused = host.run("mlnx_qos", **{**SHARED, "may_flap_links": False})
    assert "a change of QoS bounces the link of rail0, rail1" in refused["msg"]
    host.program("squeue", "echo 7")
    done = host.run("mlnx_qos", **SHARED)
    assert (done["steps"], len(done["pending"]), writes(ice)) == ([], len(ICE_STEPS), [])


def test_a_port_of_ice_with_few_classes_is_refused_before_any_change(host: Host, ice: Device) -> None:
    host.run("mlnx_qos", check=True, **SHARED)
    with ice.state() as state:
        state["ports"]["rail1"]["ets_cap"] = 4
    done = host.run("mlnx_qos", **SHARED)
    assert done["failed"] and writes(ice) == []
    assert "interfaces has rail1, which ice gives 4 of 8 classes and no RDMA" in done["msg"]


def test_ice_without_dcb_names_the_package_to_install(host: Host, ice: Device) -> None:
    (host.bin / "dcb").unlink()
    assert "ice; install iproute2's dcb" in host.run("mlnx_qos", **SHARED)["msg"]


def test_a_port_that_crashes_mlnx_qos_is_set_by_dcb_and_the_others_are_not(host: Host, nic: Device) -> None:
    use_dcb(host)
    host.run("mlnx_qos", check=True, **ARGS)
    with nic.state() as state:
        state["ports"]["rail1"]["buffers"] = False
    done = host.run("mlnx_qos", **ARGS)
    assert done["backends"] == {"rail0": "mlnx_qos", "rail1": "dcb"}
    assert (done["steps"], host.run("mlnx_qos", **ARGS)["steps"]) == (TRUST + PFC, [])


LAST = (TRUST + PFC[:1], PFC[1:])


@pytest.mark.parametrize(
    ("tool", "effect", "message", "ends"),
    [
        ("mlnx_qos", "refuse", f"{PFC[1]}: mlnx_qos failed: Netlink error: Bad value. see dmesg.", LAST),
        ("mlnx_qos", "lie", "RDMA ports .*: rail1: make", LAST),
        ("mlnx_qos", "hang", "mlnx_qos gave no answer within [0-9]+ s and was killed", LAST),
        ("mlnx_qos", "die", "mlnx_qos failed: no output", (TRUST + PFC, [])),
        ("mlnx_qos", "drift", "RDMA ports .*: rail1: make", (LAST[0], DRIFTED)),
        ("dcb", "refuse", f"{PFC[1]}: dcb failed: Attribute write: Invalid argument", LAST),
        ("dcb", "lie", "not in effect: rail1: make", LAST),
        ("dcb", "hang", "dcb gave no answer within", LAST),
        ("dcb", "die", "dcb failed: no output", LAST),
        ("dcb", "drift", "not in effect: rail1: make", (LAST[0], DRIFTED)),
    ],
)
@meet_faults("host")
def test_faults(host: Host, tool: str, effect: str, message: str, ends: tuple[list[str], list[str]]) -> None:
    use_dcb(host)
    if tool == "dcb":
        (host.bin / "mlnx_qos").unlink()
    host.arm("mlnx_qos", tool, effect, {"mlnx_qos": "rail1 --pfc", "dcb": "pfc set dev rail1"}[tool])
    result = host.fail("mlnx_qos", message, **ARGS)
    assert (result["changed"], result["steps"], (result["done"], result["left"])) == (True, TRUST + PFC, ends)
