# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.section import (
    Lines,
    changes_of,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.traffic import Traffic
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.use import ClusterUse

USE = ClusterUse(frozenset({"gpu01"}), {}, "")
TRAFFIC = Traffic({"e1": ["gpu01"], "e2": ["gpu02"]}, frozenset({"e2"}), USE)


def stops(section: str, have: Lines, want: Lines) -> str:
    del section, have
    return "{ports} stop" if "stop" in want else ""


def test_a_change_of_the_switch_concerns_all_ports_and_ports_wait_for_it() -> None:
    want = {"mode": ("stop",), "map": ("quiet",), "interface e1": ("stop",)}
    found = changes_of(lambda have, want: list(want), stops, {}, want, TRAFFIC)
    assert (found["mode"].used, found["map"].interrupts, found["interface e1"].used) == (True, False, False)
    assert found["interface e1"].after == "mode"
    assert found["interface e1"].waits(["interface e1"], {}, TRAFFIC) == "it needs the change of mode, which waits"
