# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of others' metrics; tests/conformance/test_alerts.py compares it with the rules."""

from __future__ import annotations

import re

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases import dcgm
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.others import (
    DCGM,
    EXPORTERS,
    NODE_EXPORTER,
    QUEUE,
    Exporter,
)


@pytest.mark.parametrize("exporter", EXPORTERS.values(), ids=EXPORTERS)
def test_each_name_stands_once_and_is_a_name(exporter: Exporter) -> None:
    assert len(exporter.names) == len(set(exporter.names))
    assert all(re.fullmatch(r"[A-Za-z_]\w*(\[0-7\]\w*)?", name) for name in exporter.names)
    assert all(metric.about.endswith(".") for metric in exporter.metrics)
    assert re.search(r"\d", exporter.source)


def test_names_with_a_priority_are_series_of_a_priority() -> None:
    for metric in EXPORTERS[NODE_EXPORTER].metrics:
        assert ("[0-7]" in metric.name) == (metric.unit == QUEUE), metric.name


def test_counters_that_drawbridge_adds_to_nvidias_exporter_are_read() -> None:
    added = {line.partition(",")[0] for line in dcgm.counters().splitlines()}
    read = {metric.name for metric in EXPORTERS[DCGM].metrics}
    assert read <= added
