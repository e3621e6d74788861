# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Storage
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.dialect import DialectError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nvue.lines import ports_of
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nvue.text import parse, render
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import Config

from tests.unit.emulated_cumulus import profile

LEAF = profile(ports=1)
STATUS = {
    "congestion-control": {"min-threshold": "156.00 KB", "max-threshold": "1.43 MB", "enabled-tc": "0,3"},
    "pfc": {"pfc-priority": "3", "rx-enabled": "yes", "tx-enabled": "yes"},
}
"""Keys and values of `nv show interface swp16 qos roce status`, NVIDIA's page on RoCE."""


def parsed(
    tree: Any = None, status: Any = STATUS, revisions: Any = None, header: str = "Cumulus Linux 5.11.0"
) -> Config:
    shown = json.dumps([{"header": {"version": header}}, {"set": tree or {}}])
    ports = {"swp1": {"qos": {"roce": {"status": status}}}}
    return parse((shown, shown, json.dumps(revisions or {}), json.dumps(ports)), LEAF)


def test_ports_of_a_key() -> None:
    assert ports_of("swp1-3,5") == ports_of("swp1-3,swp5") == ["swp1", "swp2", "swp3", "swp5"]
    assert ports_of("swp1s0-1,lo") == ["swp1s0", "swp1s1", "lo"]


def test_a_port_has_what_several_keys_say() -> None:
    tree = {"interface": {"swp1-4": {"link": {"mtu": 9214}}, "swp1": {"qos": {"pfc-watchdog": {"state": "enabled"}}}}}
    have, want = dict(parsed(tree).sections), dict(render(LEAF).sections)
    assert have["interface swp1"] == want["interface swp1"]


def test_a_port_without_a_line_has_the_default_mtu() -> None:
    assert "   link mtu 9216" in parsed().lines()


def test_storage_has_a_share_of_its_own_and_other_traffic_the_rest() -> None:
    lines = render(replace(LEAF, storage=Storage(priority=4, dscp=34, bandwidth_percent=30))).lines()
    assert "qos mapping default-global dscp 34 switch-priority 4" in lines
    assert "qos egress-scheduler default-global traffic-class 4 bw-percent 30" in lines
    assert "qos egress-scheduler default-global traffic-class 0 bw-percent 20" in lines


def test_hardware_that_rounds_thresholds_to_its_cells_is_proven() -> None:
    assert parsed().unproven == ()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"pfc": {}}, "swp1 does not pause priority 3 alone (priorities none, rx none, tx none)"),
        ({"pfc": {**STATUS["pfc"], "pfc-priority": "3,5"}}, "(priorities 3,5, rx yes, tx yes)"),
        ({"pfc": {**STATUS["pfc"], "tx-enabled": "no"}}, "(priorities 3, rx yes, tx no)"),
        (
            {"congestion-control": {**STATUS["congestion-control"], "min-threshold": "200.00 KB"}},
            "swp1 marks at a min-threshold of 200.00 KB, not at 150000 bytes",
        ),
        ({"congestion-control": {}}, "swp1 marks at a min-threshold of none"),
    ],
)
def test_hardware_that_does_not_follow_is_not_proven(changed: dict[str, Any], sentence: str) -> None:
    assert sentence in parsed(status={**STATUS, **changed}).unproven[0]


def test_revisions_that_wait_are_ours_by_their_message() -> None:
    config = parsed(revisions={"4": {"state": "confirm", "message": "drawbridge-a"}, "3": {"state": "pending"}})
    assert (config.waiting, config.foreign) == ("drawbridge-a", ())
    config = parsed(revisions={"4": {"state": "confirm", "message": "upgrade"}})
    assert (config.waiting, config.foreign) == ("", ("4 (upgrade)",))


def test_a_port_that_the_switch_lacks_is_named() -> None:
    with pytest.raises(DialectError, match=r"it has no swp9, which drawbridge_fabric\.switches lists"):
        parse(("[]", "[]", "{}", "{}"), replace(LEAF, ports=("swp9",)))


def test_no_json_is_an_error_with_what_was_printed() -> None:
    with pytest.raises(DialectError, match="it printed no JSON, but 'nvued is not running'"):
        parse(("nvued is not running", "[]", "{}", "{}"), LEAF)
