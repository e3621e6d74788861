# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import Output
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.state_ports import (
    PORT_CHECKS,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import (
    Found,
    Missing,
    Remark,
)

from tests.unit.module_utils.proof.checks import healthy
from tests.unit.module_utils.proof.checks.healthy import NODE, OUTPUTS
from tests.unit.module_utils.proof.transcripts import changed, printed

CHECKS = {check.name: check for check in PORT_CHECKS}
NET, RDMA = "/sys/class/net/rail1", "/sys/class/infiniband/mlx5_1"
PORT = f"{RDMA}/ports/1"
NOT_SUPPORTED = Output("", "netlink error: Operation not supported\n", 1)


def tool(*words: str) -> tuple[str, ...]:
    return ("ethtool", *words, "rail1")


@pytest.mark.parametrize("name", CHECKS)
def test_a_healthy_port_has_no_finding(name: str) -> None:
    assert CHECKS[name].applies(NODE) and healthy.found(CHECKS[name]) == []


@pytest.mark.parametrize("text", [None, "", "new words"])
@pytest.mark.parametrize("path", [f"{NET}/carrier_down_count", "/proc/uptime"])
def test_a_file_without_a_known_text_is_no_pass(path: str, text: str | None) -> None:
    [found] = healthy.found(CHECKS["rail errors"], texts={path: text})
    assert isinstance(found, Missing) and found.where == ("gpu01" if path == "/proc/uptime" else "gpu01 rail1")


def test_a_network_of_the_site_has_no_lossless_priority() -> None:
    assert not CHECKS["rail drops"].applies(replace(NODE, priority=-1))


@pytest.mark.parametrize(
    ("name", "path", "text", "why"),
    [
        ("rail errors", f"{NET}/carrier_down_count", "11", "went down 11 times, 10 hours after boot at most 10"),
        ("rail errors", f"{PORT}/counters/symbol_error", "11201", "symbol_error is 11201, 10 hours after boot"),
        ("rail drops", f"{PORT}/hw_counters/rp_cnp_ignored", "5", "rp_cnp_ignored is 5 since boot, not 0"),
    ],
)
def test_a_count_is_named_with_its_rail(name: str, path: str, text: str, why: str) -> None:
    [found] = healthy.found(CHECKS[name], texts={path: text})
    assert isinstance(found, Remark) and (found.name, found.where) == (name, "gpu01 rail1") and why in found.why


def test_counts_of_the_installation_are_allowed_and_grow_with_the_time_since_boot() -> None:
    texts = {f"{PORT}/counters/symbol_error": "11200", f"{NET}/carrier_down_count": "10"}
    assert healthy.found(CHECKS["rail errors"], texts=texts) == []
    later = {f"{PORT}/counters/symbol_error": "12401", "/proc/uptime": "72000.0 1"}
    assert len(healthy.found(CHECKS["rail errors"], texts=later)) == 1
    without = {f"{NET}/carrier_down_count": None, f"{PORT}/counters/link_downed": "12"}
    assert [one.where for one in healthy.found(CHECKS["rail errors"], texts=without)] == ["gpu01 rail1"]


def optics(output: str | Output) -> list[Found]:
    return healthy.found(CHECKS["optics"], outputs={tool("-m"): output})


def test_an_alarm_of_a_module_counts_and_a_warning_warns() -> None:
    text = printed("ethtool_optics")
    alarm = changed(text, "rx power low alarm    (Channel 2)   : Off", "rx power low alarm    (Channel 2)   : On")
    assert optics(alarm) == [Remark("optics", "gpu01 rail1", "alarm of the module: Laser rx power low in channels 2")]
    hot = changed(text, "temperature high warning           : Off", "temperature high warning : On")
    [note] = optics(hot)
    assert note == Remark("optics", "gpu01 rail1", "warning of the module: Module temperature high", warning=True)


def test_ports_without_optics_are_said_once_for_the_class() -> None:
    [note] = optics(printed("ethtool_copper"))
    assert note == Remark("optics", "class h100", "rails 1: copper has no optics", warning=True)
    [note] = optics(NOT_SUPPORTED)
    assert note == Remark("optics", "class h100", "rails 1: the driver can't read the module", warning=True)


@pytest.mark.parametrize(
    "output", [Output("", "", 127), "", "new words", Output("", "netlink error: No such device", 1)]
)
@pytest.mark.parametrize(
    ("name", "words"),
    [("optics", ("-m",)), ("rail errors", ("-S",)), ("rail errors", ("-I", "--show-fec")), ("rail drops", ("-S",))],
)
def test_a_tool_without_a_known_text_is_no_pass(name: str, words: tuple[str, ...], output: str | Output) -> None:
    [found] = healthy.found(CHECKS[name], outputs={tool(*words): output})
    assert isinstance(found, Missing) and (found.name, found.where) == (name, "gpu01 rail1")


def test_blocks_beyond_repair_count_and_a_cable_without_correction_does_not() -> None:
    fec = changed(printed("ethtool_fec"), "uncorrectable_blocks: 0", "uncorrectable_blocks: 20000")
    [found] = healthy.found(CHECKS["rail errors"], outputs={tool("-I", "--show-fec"): fec})
    assert isinstance(found, Remark) and found.why.startswith("uncorrectable_blocks is 20000, 10 hours")
    assert healthy.found(CHECKS["rail errors"], outputs={tool("-I", "--show-fec"): NOT_SUPPORTED}) == []


def test_a_drop_of_the_lossless_priority_counts_and_one_of_another_does_not() -> None:
    said = {tool("-S"): changed(OUTPUTS[tool("-S")], "prio3_buf_discard: 0", "prio3_buf_discard: 1")}
    [found] = healthy.found(CHECKS["rail drops"], outputs=said)
    assert found == Remark("rail drops", "gpu01 rail1", "rx_buf_discard of priority 3 is 1 since boot, not 0")
    without = {tool("-S"): OUTPUTS[tool("-S")].replace("rx_prio3", "rx_priority_3")}
    [note] = healthy.found(CHECKS["rail drops"], outputs=without)
    why = "rails 1: the driver does not count drops of priority 3"
    assert note == Remark("not counted", "class h100", why, warning=True)
