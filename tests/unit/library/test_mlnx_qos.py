# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The module against the emulated tool, with every fault that the tool can have."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from lab.emulators.common import Device
from tests.unit.library.emulated import RAILS, Host, with_rails, writes
from tests.unit.library.ways import ALONE, VISIT

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
    predicted = host.run("mlnx_qos", check=True, **ARGS)
    assert writes(nic) == []
    done = host.run("mlnx_qos", **ARGS)
    for key in ("changed", "steps", "diff", "link_flap"):
        assert predicted[key] == done[key]
    assert done["steps"] == TRUST + PFC
    assert done["link_flap"] == RAILS[:2] and flaps(nic) == [1, 1]
    written = len(writes(nic))
    again = host.run("mlnx_qos", **ARGS)
    assert (again["changed"], again["steps"], again["link_flap"]) == (False, [], [])
    assert len(writes(nic)) == written and flaps(nic) == [1, 1]


def test_a_wrong_entry_is_repaired_without_consent_when_no_job_runs(host: Host, nic: Device) -> None:
    host.run("mlnx_qos", **ARGS)
    with nic.state() as state:
        state["ports"]["rail1"]["apps"] = [[26, 4] if app[0] == 26 else app for app in state["ports"]["rail1"]["apps"]]
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
    squeue = host.bin / "squeue"
    squeue.write_text("#!/bin/sh\necho 7\n")
    squeue.chmod(0o755)
    done = host.run("mlnx_qos", **ARGS)
    assert (done["steps"], done["link_flap"], flaps(nic), writes(nic)) == ([], [], [0, 0], [])
    assert [text.partition(": Slurm job 7 is on this node")[0] for text in done["pending"]] == TRUST + PFC
    squeue.write_text("#!/bin/sh\n")
    assert host.run("mlnx_qos", **ARGS)["steps"] == TRUST + PFC
    squeue.write_text("#!/bin/sh\necho 7\n")
    with nic.state() as state:
        state["ports"]["rail1"]["apps"] = [[26, 4] if app[0] == 26 else app for app in state["ports"]["rail1"]["apps"]]
    [waits] = host.run("mlnx_qos", **ARGS)["pending"]
    assert waits.startswith("rail1: put DSCP 26 into priority 3, not 4: Slurm job 7")


@pytest.mark.parametrize(
    ("effect", "message", "changed", "done", "left"),
    [
        ("refuse", f"{PFC[1]}: mlnx_qos failed: Netlink error: Bad value. see dmesg.", True, TRUST + PFC[:1], PFC[1:]),
        ("lie", "RDMA ports .*: rail1: make", True, TRUST + PFC[:1], PFC[1:]),
        ("hang", "mlnx_qos gave no answer within [0-9]+ s and was killed", True, TRUST + PFC[:1], PFC[1:]),
        ("die", "mlnx_qos failed: no output", True, TRUST + PFC, []),
        ("drift", "RDMA ports .*: rail1: make", True, TRUST + PFC[:1], DRIFTED),
    ],
)
def test_faults(host: Host, effect: str, message: str, changed: bool, done: list[str], left: list[str]) -> None:
    host.arm("mlnx_qos", "mlnx_qos", effect, "rail1 --pfc")
    start = time.monotonic()
    result = host.run("mlnx_qos", **ARGS)
    assert time.monotonic() - start < 600
    assert result["failed"] and result["changed"] is changed
    assert re.search(message, result["msg"])
    assert (result["steps"], result["done"], result["left"]) == (TRUST + PFC, done, left)
    again = host.run("mlnx_qos", **ARGS)
    assert again["steps"] == left, "the next run makes what is left, and no more"


def test_a_hanging_read_is_bounded_and_has_changed_nothing(host: Host, nic: Device) -> None:
    nic.add_fault("mlnx_qos", "hang")
    result = host.run("mlnx_qos", **{**ARGS, "timeout_s": 1})
    assert result["failed"] and not result["changed"]
    assert "no answer within 1 s" in result["msg"]


def test_a_port_that_is_not_there_or_no_rdma_port(host: Host) -> None:
    missing = host.run("mlnx_qos", **{**ARGS, "groups": [{**GROUP, "interfaces": ["rail0", "rail9"]}]})
    assert "but this host has no rail9; correct nics.netdev" in missing["msg"]
    links = json.dumps([{"ifname": "eth0", "operstate": "UP"}])
    (host.bin / "ip").write_text(f"#!/bin/sh\necho '{links}'\n")
    (host.root / "sys/class/net/eth0").mkdir()
    assert (
        "interfaces has eth0, but its driver has no DCB"
        in host.run("mlnx_qos", **{**ARGS, "groups": [{**GROUP, "interfaces": ["eth0"]}]})["msg"]
    )


def use_dcb(host: Host) -> None:
    """The host has the kernel's tool, and lldpad does not run."""
    host.install("dcb")
    (host.bin / "pgrep").write_text("#!/bin/sh\nexit 1\n")
    (host.bin / "pgrep").chmod(0o755)


SHARED = {**ARGS, "groups": [{**GROUP, "bandwidth": [{"priority": 3, "percent": 50}, {"priority": 6, "percent": 0}]}]}


@pytest.mark.parametrize("driver", [{}, {"driver": "ice", "ets_cap": 4}], ids=["mlx5", "ice"])
def test_without_mlnx_qos_the_kernels_tool_makes_the_same(host: Host, nic: Device, driver: dict[str, Any]) -> None:
    use_dcb(host)
    with_both = host.run("mlnx_qos", check=True, **SHARED)
    assert with_both["backends"] == dict.fromkeys(RAILS[:2], "mlnx_qos")
    (host.bin / "mlnx_qos").unlink()
    with nic.state() as state:
        for rail in RAILS[:2]:
            state["ports"][rail].update(driver)
    predicted = host.run("mlnx_qos", check=True, **SHARED)
    assert (predicted["steps"], writes(nic)) == (with_both["steps"], [])
    done = host.run("mlnx_qos", **SHARED)
    assert [predicted[key] for key in ("steps", "diff")] == [done[key] for key in ("steps", "diff")]
    assert (done["backends"], flaps(nic)) == (dict.fromkeys(RAILS[:2], "dcb"), [1, 1])
    written = len(writes(nic))
    assert (host.run("mlnx_qos", **SHARED)["steps"], len(writes(nic)), flaps(nic)) == ([], written, [1, 1])


def test_a_port_that_crashes_mlnx_qos_is_set_by_dcb_and_the_others_are_not(host: Host, nic: Device) -> None:
    use_dcb(host)
    host.run("mlnx_qos", check=True, **ARGS)
    with nic.state() as state:
        state["ports"]["rail1"]["buffers"] = False
    done = host.run("mlnx_qos", **ARGS)
    assert done["backends"] == {"rail0": "mlnx_qos", "rail1": "dcb"}
    assert (done["steps"], host.run("mlnx_qos", **ARGS)["steps"]) == (TRUST + PFC, [])


@pytest.mark.parametrize(
    ("effect", "message"),
    [
        ("refuse", f"{PFC[1]}: dcb failed: Attribute write: Invalid argument"),
        ("lie", "not in effect: rail1: make"),
        ("hang", "dcb gave no answer within"),
        ("die", "dcb failed: no output"),
        ("drift", "not in effect: rail1: make"),
    ],
)
def test_faults_of_dcb(host: Host, effect: str, message: str) -> None:
    use_dcb(host)
    (host.bin / "mlnx_qos").unlink()
    host.arm("mlnx_qos", "dcb", effect, "pfc set dev rail1")
    result = host.run("mlnx_qos", **ARGS)
    assert result["failed"] and message in result["msg"]
    left = DRIFTED if effect == "drift" else PFC[1:]
    assert result["left"] == left == host.run("mlnx_qos", **ARGS)["steps"]
