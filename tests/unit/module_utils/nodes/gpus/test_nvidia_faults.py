# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Lines in the form of public logs, of the driver's source (SXid) and of NVIDIA's Xid catalogue (154)."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.nvidia_faults import read_log
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.state import (
    REBOOT,
    REPAIR,
    LogEntry,
)

from tests.unit.module_utils.proof.transcripts import printed

RESETS = (48, 95, 109, 110, 119, 120, 136, 140, 143, 155, 156, 158)
ACTION = "GPU recovery action changed from 0x0 (None) to"


def xid(code: int, words: str = "pid=1234, name=python3") -> LogEntry:
    [entry] = read_log(f"[ 9001.2] NVRM: Xid (PCI:0000:1b:00): {code}, {words}\n")
    assert (entry.pci, entry.code, entry.part) == ("0000:1b:00.0", f"Xid {code}", "GPU")
    return entry


def test_the_log_of_a_healthy_gpu_has_no_entry_and_each_xid_counts_once() -> None:
    lines = printed("dmesg")
    assert [entry for entry in read_log(lines) if "0006" in entry.pci] == []
    assert [(entry.pci, entry.code, entry.felt, entry.ends) for entry in read_log(lines)] == [
        ("0000:1b:00.0", "Xid 31", False, ""),
        ("0000:1b:00.0", "Xid 48", True, REBOOT),
        ("0000:43:00.0", "Xid 79", True, REBOOT),
        ("0000:52:00.0", "Xid 999", True, REPAIR),
    ]


@pytest.mark.parametrize(
    ("codes", "felt", "ends", "warning"),
    [
        ((79, 46, 61, 62, *RESETS), True, REBOOT, False),
        ((54, 64, 142, 999), True, REPAIR, False),
        ((74, *range(144, 151), 157), False, "", True),
        ((8, 13, 31, 32, 43, 45, 63, 68, 69, 92, 94, 96, 105, 121, 126, 135, 137), False, "", False),
    ],
)
def test_what_ends_an_xid(codes: tuple[int, ...], felt: bool, ends: str, warning: bool) -> None:
    assert {(entry.felt, entry.ends, entry.warning) for entry in map(xid, codes)} == {(felt, ends, warning)}


@pytest.mark.parametrize(
    ("action", "ends"),
    [
        ("0x1 (GPU Reset Required)", REBOOT),
        ("0x2 (Node Reboot Required)", REBOOT),
        ("0x2 (OS Reboot)", REBOOT),
        ("0x3 (Drain P2P)", REPAIR),
        ("0x9 (something new)", REPAIR),
    ],
)
def test_xid_154_says_itself_what_it_needs(action: str, ends: str) -> None:
    entry = xid(154, f"{ACTION} {action}")
    assert (entry.felt, entry.ends, entry.meaning) == (True, ends, "the driver asks for")
    assert action.endswith(f"({entry.text})")


def test_xid_154_in_another_form_needs_a_person_and_one_that_asks_for_nothing_is_over() -> None:
    assert (xid(154, "news").ends, xid(154, "news").text) == (REPAIR, "news")
    then = "NVRM: Xid (PCI:0000:1b:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)"
    [entry] = read_log(f"NVRM: Xid (PCI:0000:1b:00): 154, {ACTION} 0x1 (GPU Reset Required)\n{then}\n")
    assert (entry.felt, entry.warning) == (False, False)


def test_sxids_of_switches() -> None:
    lines = (
        "Non-fatal, Link 44 Minion Link DLREQ interrupt",
        "Severity 0 Engine instance 44 Sub-engine instance 00",
        "Data {0x0000002b, 0x0000002b, 0x00000000, 0x0000002b}",
        "Correctable, Link 44 corrected",
        "Non-fatal, Link 45 Minion Link DLREQ interrupt",
    )
    log = "".join(f"[ 38.17] nvidia-nvswitch3: SXid (PCI:0000:04:00.0): 22013, {line}\n" for line in lines)
    log += "[ 99.00] nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 24007, Fatal, Link 30 sourcetrack timeout error\n"
    assert [(entry.pci, entry.code, entry.felt, entry.ends, entry.warning) for entry in read_log(log)] == [
        ("0000:04:00.0", "SXid 22013", False, "", True),
        ("0000:c3:00.0", "SXid 24007", True, REBOOT, False),
    ]
    assert {entry.part for entry in read_log(log)} == {"switch"}
    assert read_log(log)[0].text.startswith("Link 45 ")
