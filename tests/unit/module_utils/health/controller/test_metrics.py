# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Families and samples agree; test_tend_io has the values of whole looks."""

from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.metrics import (
    samples,
    silent,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.decide import Seen
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import REASON, Finding
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.exposition import text
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.families import (
    FAMILIES,
    HEALTH,
)

OWN = {name for name, family in FAMILIES.items() if family.file == HEALTH}
KEPT = "drawbridge health: a: b {kept: breaker site is open}"
NODES = [
    Seen("n1", "IDLE", frozenset({"DRAIN"}), f"{REASON}[node repair] a: b; c: d"),
    Seen("n2", "IDLE", comment=KEPT),
    Seen("n3", "IDLE", comment="drawbridge health: {kept: breaker site is open}"),
    Seen("n4", "IDLE", frozenset({"DRAIN"}), "fan", KEPT),
]


def test_all_families_have_samples() -> None:
    found = samples(NODES, {"n2": [Finding("a: b")]}, ["site"], {"old unit"}, {"n1": (1.0, 2.0)}, 3, 9)
    assert {it.family for it in found} == OWN
    assert {it.family for it in silent(["site"], {}, 9)} <= OWN


def test_numbers_of_a_look() -> None:
    found = {"n2": [Finding("a: b"), Finding("c", "user")], "n4": [Finding("a: b")]}
    lines = text(samples(NODES, found, ["site"], {"old unit"}, {"n1": (1.0, 2.0)}, 3, 9)).splitlines()
    values = [line.replace("drawbridge_health_", "") for line in lines if line[0] != "#"]
    assert values == [
        "up 1",
        "look_timestamp_seconds 9",
        'breaker_open{breaker="site"} 0',
        'breaker_open{breaker="old unit"} 1',
        *('findings{fault="node"} 2', 'findings{fault="user"} 1', 'findings{fault="fabric"} 0'),
        *('drained_nodes{ends="heals"} 0', 'drained_nodes{ends="reboot"} 0', 'drained_nodes{ends="repair"} 1'),
        "kept_nodes 1",
        'node_reboots{node="n1"} 2',
        "refused_changes 3",
    ]


def test_open_breakers_stay_while_slurmctld_is_silent() -> None:
    lines = text(silent(["site", "leaf1"], {"site"}, 9)).splitlines()
    assert [line.replace("drawbridge_health_", "") for line in lines if line[0] != "#"] == [
        "up 0",
        "look_timestamp_seconds 9",
        'breaker_open{breaker="site"} 1',
        'breaker_open{breaker="leaf1"} 0',
    ]
