# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.plan import NicPortQos, NicQos
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.text import UnreadableReport, parse

TRANSCRIPTS = Path(__file__).resolve().parents[3] / "transcripts/nic/mlnx_qos"


def report(name: str) -> str:
    return (TRANSCRIPTS / f"{name}.txt").read_text()


def test_a_factory_port_trusts_pcp_and_maps_nothing() -> None:
    assert parse(report("factory"), [26, 48]) == NicPortQos("pcp", {}, frozenset())


def test_a_map_is_read_in_any_order_and_only_what_is_asked_for() -> None:
    port = parse(report("profile"), [48, 26, 0])
    assert port == NicPortQos("dscp", {0: 0, 26: 4, 48: 6}, frozenset({3}))
    assert list(port.dscp_priority) == [0, 26, 48]


def test_a_priority_may_have_several_lines() -> None:
    assert parse(report("profile"), [39, 32]).dscp_priority == {32: 4, 39: 4}


def test_older_releases_say_more() -> None:
    older = (
        report("profile").replace("Cable len", "default priority:\nCable len").replace("max_buffer_size", "total_size")
    )
    assert parse(older, [26]) == parse(report("profile"), [26])


def test_firmware_that_controls_dcbx_is_seen() -> None:
    assert parse(report("factory").replace("OS controlled", "Firmware controlled"), []).dcbx == "fw"


@pytest.mark.parametrize(
    ("cut", "missing"),
    [("DCBX mode", "DCBX mode"), ("Priority trust state", "trust state"), ("\tenabled", "PFC configuration")],
)
def test_half_a_report_is_no_report(cut: str, missing: str) -> None:
    text = "".join(line for line in report("factory").splitlines(keepends=True) if not line.startswith(cut))
    with pytest.raises(UnreadableReport, match=f"printed no {missing}"):
        parse(text, [])


def test_lldpad_is_refused() -> None:
    warning = "****** WARNING: lldpad service is running and may overwrite your settings ******\n\n"
    with pytest.raises(UnreadableReport, match="stop and disable lldpad"):
        parse(warning + report("factory"), [])


def test_lines_are_the_tools_own_options() -> None:
    state = NicQos({"rail0": NicPortQos("dscp", {26: 3}, frozenset({3}))})
    assert state.lines() == [
        "-i rail0 -d os",
        "-i rail0 --trust dscp",
        "-i rail0 --dscp2prio set,26,3",
        "-i rail0 --pfc 0,0,0,1,0,0,0,0",
    ]
