# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.cluster import NodeInSlurm
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.patrol import chosen

from .pretended import IDLE

NAMES = [f"n{number}" for number in range(8)]
BUSY = NodeInSlurm("ALLOCATED", job="1")
OWN = NodeInSlurm("IDLE", frozenset({"DRAIN"}), "drawbridge: proof: slow")


@pytest.mark.parametrize(
    ("busy", "proved", "per_hour", "wanted"),
    [
        ("", {}, 0, ""),
        ("", {}, 1, "01"),
        ("", {}, 38, "0123"),
        ("", {}, 100, "01234567"),
        ("", dict.fromkeys(NAMES[:5], "2026"), 25, "56"),
        ("", {name: str(2020 - at) for at, name in enumerate(NAMES)}, 25, "67"),
        ("0134567", {}, 100, ""),
        ("013456", {}, 25, "27"),
    ],
)
def test_idle_nodes_that_were_proved_longest_ago(busy: str, proved: dict[str, str], per_hour: int, wanted: str) -> None:
    states = {name: BUSY if name[1] in busy else IDLE for name in NAMES}
    assert chosen(NAMES, states, proved, per_hour) == [f"n{it}" for it in wanted]


def test_a_drained_or_unknown_node_is_not_idle() -> None:
    assert chosen(NAMES[:4], {"n1": OWN, "n2": IDLE, "n3": IDLE}, {}, 100) == ["n2", "n3"]
