# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of metrics, by Prometheus' conventions; promtool sees its text in tests/alerts."""

from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.families import (
    COUNTER,
    FAMILIES,
    GAUGE,
)


def test_names_kinds_and_units_follow_the_conventions() -> None:
    for name, family in FAMILIES.items():
        assert name.startswith(("drawbridge_", "gpfs_")), name
        assert family.kind == (COUNTER if name.endswith("_total") else GAUGE), name
        assert name.islower() and not name.endswith(("_ms", "_milliseconds", "_kb", "_percent")), name
        assert family.about.endswith(".") and len(set(family.labels)) == len(family.labels), name
        assert family.file.endswith(".prom"), name
