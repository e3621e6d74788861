# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The module with iproute2's dcb on a real kernel: from reading to reading back. No NIC is tried here."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dcb import transcript
from tests.dcb.ports import Step, run
from tests.dcb.transcript import RECORDED, Call

pytestmark = pytest.mark.live
RAILS = ["rail0", "rail1", "rail2"]
GROUP = {
    "interfaces": RAILS,
    "lossless_priorities": [3],
    "dscp_priorities": [{"dscp": 26, "priority": 3}, {"dscp": 10, "priority": 6}],
    "bandwidth": [{"priority": 3, "percent": 50}, {"priority": 6, "percent": 0}],
}
ARGS = {"groups": [GROUP], "may_flap_links": True, "slurm_node": "gpu01", "timeout_s": 120, "_ansible_diff": True}
DRIVER = "/sys/module/dcb_ports/parameters"


def shell(text: str) -> Step:
    return ["sh", "-ec", text]


def dcb(words: str) -> Step:
    return ["dcb", *words.split()]


EMPTY = "100 % for priority 0, " + ", ".join(f"0 % for priority {it}" for it in range(1, 8))
OWN = (
    "rail1: share the link: 45 % for priority 0, 1 % for priority 1, 1 % for priority 2, 50 % for priority 3,"
    " 1 % for priority 4, 1 % for priority 5, strict for priority 6, 1 % for priority 7"
)
"""Shares of a port of ice, on which each priority has a class of its own."""
COUNTS = shell(f"cat {DRIVER}/writes; cat /sys/class/net/rail[012]/carrier_changes")
STEPS: dict[str, Step] = {
    **{f"recorded {at}": call.command.split() for at, call in enumerate(RECORDED)},
    # from here on the ports are new ones
    "reload": shell(
        "rmmod dcb_ports; insmod /srv/dcb/dcb_ports.ko; for port in rail0 rail1 rail2; do ip link set $port up; done"
    ),
    "new": COUNTS,
    "predicted": {**ARGS, "_ansible_check_mode": True},
    "after the prediction": COUNTS,
    "first": ARGS,
    "after the first": COUNTS,
    "second": ARGS,
    "after the second": COUNTS,
    **{f"{what} {rail}": dcb(f"-j -N {what} show dev {rail}") for what in ("app", "ets") for rail in RAILS},
    # drifts
    "drifted": shell(
        "dcb dcbx set dev rail0 ieee; dcb app replace dev rail0 dscp-prio 26:5;"
        " dcb app del dev rail1 dscp-prio 10:6; dcb app add dev rail1 dscp-prio 10:2;"
        " dcb app add dev rail2 dscp-prio 10:2; dcb app add dev rail2 dscp-prio 46:5;"
        " dcb pfc set dev rail1 prio-pfc 3:off 5:on; dcb ets set dev rail2 tc-bw 0:60 1:40;"
        " dcb ets set dev rail1 tc-bw 0:40 1:6"
    ),
    "repaired": ARGS,
    "map": dcb("-j -N app show dev rail2"),
    "nothing left": {**ARGS, "_ansible_check_mode": True},
    # ice without its map, and with one wrong entry alone
    "emptied": dcb("app del dev rail1 dscp-prio 10:6 26:3"),
    "filled again": ARGS,
    "one wrong entry": shell(
        "dcb app add dev rail1 dscp-prio 0:0; dcb app del dev rail1 dscp-prio 10:6 26:3;"
        " dcb app add dev rail1 dscp-prio 26:2; dcb app del dev rail1 dscp-prio 0:0"
    ),
    "put right": ARGS,
    "classes": dcb("-j -N ets show dev rail1"),
    "still lossless": dcb("-j -N pfc show dev rail1"),
    "right": {**ARGS, "_ansible_check_mode": True},
    # a driver that fails
    "refusing": shell(f"dcb pfc set dev rail1 prio-pfc 3:off; echo 1 > {DRIVER}/refuse"),
    "refused": ARGS,
    "lying": shell(f"echo 0 > {DRIVER}/refuse; echo 1 > {DRIVER}/lie"),
    "lied": ARGS,
    "honest": shell(f"echo 0 > {DRIVER}/lie"),
    "at last": ARGS,
    "no DCB": {**ARGS, "groups": [{**GROUP, "interfaces": ["lo"]}]},
    "few classes": {**ARGS, "groups": [{**GROUP, "interfaces": ["rail3"]}]},
}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return run(tmp_path_factory.mktemp("dcb"), STEPS)


def counts(seen: dict[str, Any], when: str) -> list[int]:
    """Requests that set something, then how often the link of each port has changed."""
    return [int(line) for line in seen[when][1].split()]


def test_the_recorded_output_is_that_of_the_real_program(seen: dict[str, Any]) -> None:
    real = [Call(call.command, *seen[f"recorded {at}"]) for at, call in enumerate(RECORDED)]
    assert transcript.written(real) == transcript.written(RECORDED)


def test_check_predicts_the_run_and_writes_nothing(seen: dict[str, Any]) -> None:
    assert [seen["predicted"][key] for key in ("steps", "diff")] == [seen["first"][key] for key in ("steps", "diff")]
    assert counts(seen, "after the prediction") == counts(seen, "new")


def test_ports_of_three_kinds_of_driver_become_the_same(seen: dict[str, Any]) -> None:
    first = seen["first"]
    assert first.get("msg") is None, first
    assert first["backends"] == dict.fromkeys(RAILS, "dcb")
    shares = "share the link: 50 % for priority 0 1 2 4 5 7, 50 % for priority 3, strict for priority 6"
    assert [step.partition(", not vendor")[0] for step in first["steps"]] == [
        *(f"{rail}: let the operating system control DCBX, not the firmware" for rail in RAILS[1:]),
        *(f"{rail}: trust dscp, not pcp" for rail in RAILS),
        *(f"rail0: {shares}", f"{OWN}, not {EMPTY}", f"rail2: {shares}"),
        *(f"{rail}: make priority 3 lossless, not none" for rail in RAILS),
    ]
    for rail in RAILS:
        assert '"dscp_prio":[[10,6' in seen[f"app {rail}"][1] and "[10,1" not in seen[f"app {rail}"][1]
        classes = "0,1,2,3,4,5,6,7" if rail == "rail1" else "0,0,0,1,0,0,2,0"
        assert f'"prio_tc":[{classes}]' in seen[f"ets {rail}"][1]
    assert '"tc_bw":[45,1,1,50,1,1,0,1]' in seen["ets rail1"][1]


def test_each_link_bounces_once_and_ices_at_each_change_and_the_second_run_only_reads(seen: dict[str, Any]) -> None:
    before, after = counts(seen, "new"), counts(seen, "after the first")
    assert [now - then for now, then in zip(after[1:], before[1:], strict=True)] == [2, 10, 2]
    assert seen["first"]["link_flap"] == ["rail1", "rail0", "rail2"]
    assert (seen["second"]["changed"], seen["second"]["steps"]) == (False, [])
    assert counts(seen, "after the second") == after


def test_each_drift_is_named_and_repaired(seen: dict[str, Any]) -> None:
    [own, shares] = [step for step in seen["repaired"]["steps"] if "share the link" in step]
    assert own.startswith(f"{OWN}, not 40 % for priority 0, 6 % for priority 1, ")
    old = "not 60 % for priority 0 1 2 4 5 7, 40 % for priority 3, strict for priority 6"
    assert shares.startswith("rail2: ") and shares.endswith(old)
    assert [step for step in seen["repaired"]["steps"] if step not in (own, shares)] == [
        "rail0: let the operating system control DCBX, not the firmware",
        "rail0: put DSCP 26 into priority 3, not 5",
        "rail1: put DSCP 10 into priority 6, not 2",
        "rail2: put DSCP 10 into priority 6, not 2",
        "rail1: make priority 3 lossless, not 5",
    ]
    assert seen["nothing left"]["steps"] == []


def test_entries_of_others_stay(seen: dict[str, Any]) -> None:
    assert [it in seen["map"][1] for it in ("[10,6", "[26,3", "[46,5", "[10,2")] == [True, True, True, False]


def test_a_driver_that_refuses_or_lies_is_an_error_with_the_port(seen: dict[str, Any]) -> None:
    left = ["rail1: make priority 3 lossless, not none"]
    assert f"{left[0]}: dcb failed: Attribute write: Invalid argument" in seen["refused"]["msg"]
    assert f"not in effect: {left[0]}" in seen["lied"]["msg"]
    assert seen["refused"]["left"] == seen["lied"]["left"] == seen["at last"]["steps"] == left


def test_ice_gets_its_shares_again_with_the_first_entry(seen: dict[str, Any]) -> None:
    assert seen["filled again"]["steps"] == [
        "rail1: trust dscp, not pcp",
        f"{OWN}, not {EMPTY}",
        "rail1: make priority 3 lossless, not none",
    ]


def test_ice_keeps_shares_and_pfc_while_its_only_entry_changes(seen: dict[str, Any]) -> None:
    assert seen["put right"]["steps"] == [
        "rail1: put DSCP 10 into priority 6, not none",
        "rail1: put DSCP 26 into priority 3, not 2",
    ]
    assert '"tc_bw":[45,1,1,50,1,1,0,1]' in seen["classes"][1]
    assert "[false,false,false,true,false,false,false,false]" in seen["still lossless"][1]
    assert seen["right"]["steps"] == []


def test_a_port_of_ice_with_few_classes_is_refused(seen: dict[str, Any]) -> None:
    done = seen["few classes"]
    assert "interfaces has rail3, which ice gives 4 of 8 classes and no RDMA" in done["msg"]
    assert not done["changed"]


def test_a_device_without_dcb_is_named(seen: dict[str, Any]) -> None:
    assert "interfaces has lo, but its driver has no DCB" in seen["no DCB"]["msg"]
