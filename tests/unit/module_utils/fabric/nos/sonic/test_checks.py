# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.dialect import DialectError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.sonic.checks import (
    unfit,
    unproven,
)

from tests.unit.module_utils.fabric.nos.sonic.test_text import LEAF, database, hardware


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"CABLE_LENGTH": {"AZURE": {"Ethernet0": "0m"}}}, "Ethernet0 has no cable length"),
        ({"SWITCH_HASH": {"GLOBAL": {"ecmp_hash": ["SRC_IP", "DST_IP"]}}}, "leaves L4_SRC_PORT out"),
        ({"DEVICE_METADATA": {"localhost": {"buffer_model": "dynamic"}}}, "no lossless buffer for priority 3"),
        (
            {"PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet0": {}}, "PORTCHANNEL": {"PortChannel1": {"mtu": "9100"}}},
            "Ethernet0 is in PortChannel1, which has the MTU; add PortChannel1 to channels",
        ),
        ({"DEVICE_METADATA": {"localhost": {"switch_type": "voq"}}}, "it has the switch_type voq, as chassis"),
    ],
)
def test_what_a_change_can_not_repair_is_refused(tables: dict[str, Any], words: str) -> None:
    (sentence,) = unfit(database(**tables), LEAF)
    assert words in sentence


def test_a_switch_with_several_asics_is_refused_for_them_and_not_for_its_ports() -> None:
    config = database()
    del config["PORT"]
    assert list(unfit(config, LEAF)) == [
        "it has no ports in its own ConfigDB, as chassis and switches with several ASICs have; Drawbridge configures"
        " switches with one"
    ]


def test_hardware_that_pauses_another_priority_is_not_proven() -> None:
    assert list(unproven(hardware(8), LEAF)) == []
    assert list(unproven(hardware(24), LEAF)) == ["Ethernet0 does not pause priority 3 alone (priorities 3,4)"]


def test_a_database_that_gives_no_json_is_an_error_with_what_it_said() -> None:
    with pytest.raises(DialectError, match="no JSON of its hardware, but 'redis is not running'"):
        list(unproven("redis is not running", LEAF))
