# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.dialect import DialectError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nxos.checks import (
    over,
    refuse,
    unproven,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nxos.lines import tree_of

from tests.unit.emulated_switch import profile

LEAF = profile("nxos", 1)
RELEASE = "version 10.3(8) Bios:version 01.05"
DONE = "!Running configuration last done at: Wed Nov  4 09:59:00 2026"


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([RELEASE, "interface Ethernet1/2"], r"it has no Ethernet1/1, which drawbridge_fabric\.switches lists"),
        (
            [RELEASE, "interface Ethernet1/1"],
            "Ethernet1/1 is a layer 2 port, which takes an MTU of 1500 or 9216",
        ),
    ],
)
def test_what_no_line_can_change_is_refused(lines: list[str], says: str) -> None:
    with pytest.raises(DialectError, match=says):
        refuse(tree_of(lines), LEAF)


@pytest.mark.parametrize("routed", ["  no switchport", "no system default switchport"])
def test_a_routed_port_takes_any_mtu(routed: str) -> None:
    refuse(tree_of([RELEASE, "interface Ethernet1/1", routed]), LEAF)


def test_a_layer_2_port_takes_jumbo_frames() -> None:
    refuse(tree_of([RELEASE, "interface Ethernet1/1"]), replace(LEAF, mtu_bytes=9216))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (f"{DONE}\n!Time: Wed Nov  4 10:06:00 2026", False),
        (f"{DONE}\n!Time: Wed Nov  4 10:06:01 2026\n", True),
        (DONE, False),
        ("!Running configuration last done at: never\n!Time: Wed Nov  4 10:06:01 2026", False),
    ],
)
def test_a_change_is_there_to_stay_when_its_time_is_over_for_a_minute(text: str, answer: bool) -> None:
    assert over(text, timedelta(seconds=360)) is answer


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("Ethernet1/1        On   On  (8)       4088353    1890", None),
        ("Ethernet1/1        On   On  (0)       0          12", "(PFC On, priorities none)"),
        ("Ethernet1/1        On   On  (18)      0          12", "(PFC On, priorities 3, 4)"),
        ("Ethernet1/1        Auto Off           0          0", "(PFC Auto, priorities none)"),
        ("Ethernet1/10       On   On  (8)       0          0", "(PFC not listed, priorities none)"),
    ],
)
def test_hardware_pauses_exactly_the_lossless_priorities(row: str, sentence: str | None) -> None:
    expected = [f"Ethernet1/1 does not pause priority 3 alone {sentence}"] if sentence else []
    assert list(unproven(f"Port               Mode Oper(VL bmap)  RxPPP      TxPPP\n{row}\n", LEAF)) == expected
