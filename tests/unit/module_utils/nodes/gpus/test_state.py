# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health import finding
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.state import (
    REBOOT,
    REPAIR,
    StateReader,
    ends_of,
)


def test_a_reader_without_links_reads_none() -> None:
    assert StateReader((), lambda outputs, files: [], frozenset()).read_links("") == {}


def test_programs_run_for_all_values_or_for_those_that_no_file_has() -> None:
    reader = StateReader((("smi",),), lambda outputs, files: [], frozenset())
    assert reader.calls(("product",)) == reader.calls(("errors",)) == (("smi",),)
    reader = replace(reader, files=("/sys/*",), by_programs=frozenset(("product",)))
    assert (reader.calls(("errors", "product")), reader.calls(("errors",))) == ((("smi",),), ())


def test_ends_are_those_of_findings() -> None:
    assert (REBOOT, REPAIR) == (finding.REBOOT, finding.REPAIR)


@pytest.mark.parametrize(
    ("advice", "ends"),
    [
        *((words, REBOOT) for words in ("Reset", "Reboot", "GPU Reset Required", "Node Reboot Required", "OS Reboot")),
        ("PF FLR", REBOOT),
        *((words, REPAIR) for words in ("Drain P2P", "Drain and Reset", "new words", "")),
    ],
)
def test_a_drivers_advice(advice: str, ends: str) -> None:
    assert ends_of(advice) == ends
