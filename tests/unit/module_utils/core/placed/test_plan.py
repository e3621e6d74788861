# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.placed.plan import (
    LeftState,
    plan,
    unit,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.placed.text import (
    BLOCK,
    FILE,
    TREE,
    Item,
    items,
)

UNITS = "/etc/systemd/system"
LEFT = [
    *items(FILE, ["/etc/drawbridge/slurm/health.d/20-nic", f"{UNITS}/slurmd.service.d/40-nic.conf"]),
    *items(FILE, [f"{UNITS}/drawbridge-nic.service", f"{UNITS}/drawbridge-nic@.service"]),
    *items(FILE, ["/etc/drawbridge/nic.json"]),
    Item(BLOCK, "/etc/nccl.conf"),
    Item(TREE, "/usr/local/lib/drawbridge-nic"),
]


def test_what_refers_to_others_goes_first_and_programs_last() -> None:
    steps = plan(LeftState(frozenset(LEFT)), LeftState())
    assert [step.payload for step in steps] == LEFT
    assert steps[0].reason == "remove /etc/drawbridge/slurm/health.d/20-nic"
    assert [step.reason for step in steps[-2:]] == [
        "remove the block in /etc/nccl.conf",
        "remove directory /usr/local/lib/drawbridge-nic",
    ]
    assert plan(LeftState(), LeftState()) == []


def test_hooks_of_slurm_wait_for_a_script_that_runs() -> None:
    steps = plan(LeftState(frozenset(LEFT)), LeftState())
    assert [step.payload for step in steps if step.disturbs] == LEFT[:1]


def test_units_are_known_by_their_paths() -> None:
    names = {item.path: unit(item) for item in LEFT}
    assert [name for name in names.values() if name] == ["drawbridge-nic.service", "drawbridge-nic@.service"]
