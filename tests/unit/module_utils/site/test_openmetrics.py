# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lines of slurmctld's metrics; refused.yml has the refused intents."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.openmetrics import openmetrics
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.view import controller_files
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.model import Slurm
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.model import (
    SlurmMetrics,
    Telemetry,
)

from tests.unit.module_utils.site.test_refused import patched, site

SITE = load(site("lab"))
ON = SlurmMetrics(openmetrics=True)
OPEN = SlurmMetrics(openmetrics=True, everyone=True)
CLOSED = SlurmMetrics(openmetrics=True, readers=("prometheus", "grafana"))
TYPE = ["MetricsType=metrics/openmetrics"]


def slurm(version: str, **settings: str) -> Slurm:
    return replace(SITE.slurm, version=version, settings={**SITE.slurm.settings, **settings})


def rendered(slurm: Slurm, metrics: SlurmMetrics) -> list[str]:
    """Lines of slurm.conf about metrics."""
    files = controller_files(openmetrics(slurm, Telemetry(slurm=metrics)), SITE.nodes, cgroups=True)
    return [line for line in files["slurm.conf"].splitlines() if line.startswith("Metrics")]


@pytest.mark.parametrize(
    ("version", "metrics", "lines"),
    [
        ("26.05", SlurmMetrics(), []),
        ("26.05", ON, TYPE),
        ("26.05", OPEN, [*TYPE, "MetricsParameters=ignore_private_data"]),
        ("26.05", CLOSED, [*TYPE, "MetricsAuthUsers=prometheus,grafana"]),
        ("25.11", ON, TYPE),
        ("25.11", OPEN, TYPE),
        ("25.05", CLOSED, []),
    ],
)
def test_a_release_gets_the_lines_that_it_knows(version: str, metrics: SlurmMetrics, lines: list[str]) -> None:
    assert rendered(slurm(version), metrics) == lines


def test_a_line_of_the_sites_own_stays() -> None:
    assert rendered(slurm("26.05", MetricsType="metrics/own"), OPEN) == [
        "MetricsType=metrics/own",
        "MetricsParameters=ignore_private_data",
    ]


def test_a_site_without_them_is_not_changed() -> None:
    assert openmetrics(SITE.slurm, Telemetry()) is SITE.slurm


@pytest.mark.parametrize(
    ("version", "metrics", "settings"),
    [
        ("25.11", {"everyone": True}, {"PrivateData": "none"}),
        ("26.05", {"everyone": True}, {"PrivateData": "all"}),
        ("26.05", {"readers": ["ada"]}, {"PrivateData": "all", "SlurmctldHttpAuthParameters": "jwks=/etc/slurm/jwks"}),
    ],
)
def test_metrics_that_have_a_reader_are_accepted(
    version: str, metrics: dict[str, Any], settings: dict[str, str]
) -> None:
    found = load(
        patched(
            {
                "drawbridge_slurm.version": version,
                "drawbridge_slurm.packages": "schedmd_deb",
                "drawbridge_telemetry.slurm": {"openmetrics": True, **metrics},
                **{f"drawbridge_slurm.settings.{key}": value for key, value in settings.items()},
            }
        )
    )
    assert found.slurm.settings["MetricsType"] == "metrics/openmetrics"
