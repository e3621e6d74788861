# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nvue.lines import ports_of


def test_ports_of_a_key() -> None:
    assert ports_of("swp1-3,5") == ports_of("swp1-3,swp5") == ["swp1", "swp2", "swp3", "swp5"]
    assert ports_of("swp1s0-1,lo") == ["swp1s0", "swp1s1", "lo"]


def test_ports_of_breakouts_and_of_bonds_with_free_names() -> None:
    assert ports_of("swp1-2s0-1,swp9") == ["swp1s0", "swp1s1", "swp2s0", "swp2s1", "swp9"]
    assert ports_of("bond-worker1-2,peerlink,spine_bond") == ["bond-worker1", "bond-worker2", "peerlink", "spine_bond"]
