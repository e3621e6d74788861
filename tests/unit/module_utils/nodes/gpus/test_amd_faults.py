# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Lines are made from the format strings of Linux 6.12, amdgpu_ras.c."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.amd_faults import read_log
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.state import REBOOT

AT = "[  812.1] amdgpu 0000:05:00.0: amdgpu: "
COUNTED = "socket: 0, die: 1, {} hardware errors detected in {} block\n"


@pytest.mark.parametrize(
    ("line", "code", "felt", "ends"),
    [
        (COUNTED.format("2 new uncorrectable", "umc"), "RAS umc, uncorrectable", True, REBOOT),
        ("{1}" + COUNTED.format("2 new uncorrectable", "gfx"), "RAS gfx, uncorrectable", True, REBOOT),
        (COUNTED.format("1 new deferred", "umc"), "RAS umc, deferred", False, ""),
        ("uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) detected!\n", "RAS fatal", True, REBOOT),
        ("GPU reset for gfx RAS poison consumption is issued!\n", "RAS poison", False, ""),
    ],
)
def test_a_fault_has_its_gpu_and_what_ends_it(line: str, code: str, felt: bool, ends: str) -> None:
    (entry,) = read_log(AT + line)
    assert (entry.pci, entry.code, entry.felt, entry.ends, entry.warning) == (
        "0000:05:00.0",
        code,
        felt,
        ends,
        not felt,
    )


@pytest.mark.parametrize(
    "line",
    [
        COUNTED.format("9 new correctable", "umc"),
        COUNTED.format("0 new uncorrectable", "umc"),
        "2 uncorrectable hardware errors detected in total in umc block\n",
        "Poison is created\n",
    ],
)
def test_corrected_errors_and_totals_are_no_faults(line: str) -> None:
    assert read_log(AT + line) == []


def test_a_fault_that_repeats_is_one_with_its_last_line() -> None:
    lines = [AT + COUNTED.format(f"{count} new uncorrectable", "umc") for count in (1, 3)]
    (entry,) = read_log("".join(lines))
    assert "3 new uncorrectable" in entry.text
