# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Every line that a plan would type for NICs of three makers has its source in sources.yml."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site import artefacts_view
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.network_view import nic

from tests.unit.module_utils.site.test_refused import site

SOURCES = yaml.safe_load(Path(__file__).with_name("sources.yml").read_text())
DRIVERS = {"mlx5_core": "15b3:1021", "bnxt_en": "14e4:1760", "ice": "8086:1592"}
"""Drivers with the PCI vendor and device of one of their NICs."""


def lines(device: str) -> list[str]:
    """The lines for a node of example-rails, whose rails and storage ports use every key that NICs have."""
    raw = site("example-rails")
    for nics in raw["drawbridge_nodes"]["classes"]["h100"]["nics"]:
        nics |= {"device": device, "ring_size": 8192}
        if not device.startswith("15b3"):
            nics.pop("firmware", None)
    intent = load(raw)
    view = nic(intent.fabric, intent.nodes, "gpu001")
    roce = view["roce"]
    return [
        *artefacts_view.mlnx_qos(view["qos"]["groups"]).lines,
        *artefacts_view.nic_link(view["mtu"]["groups"]).lines,
        *artefacts_view.nic_roce(roce["groups"], roce["firmware"]).lines,
    ]


@pytest.mark.parametrize("driver", DRIVERS)
def test_each_line_has_one_source_and_each_source_a_line(driver: str) -> None:
    used: set[str] = set()
    rows = [*SOURCES["all"], *SOURCES[driver]]
    for line in lines(DRIVERS[driver]):
        fitting = [row for row in rows if re.fullmatch(row["line"], line)]
        assert len(fitting) == 1, line
        assert fitting[0]["from"]
        used.add(fitting[0]["line"])
    assert [row["line"] for row in rows if row["line"] not in used] == []


def test_the_sources_are_those_of_the_drivers() -> None:
    assert [*SOURCES] == ["all", *DRIVERS]
