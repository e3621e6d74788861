# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.junos.commands import (
    stops,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.junos.text import render

from tests.unit.emulated_switch import profile

LEAF = profile("junos", 2)


@pytest.mark.parametrize(
    ("section", "have", "why"),
    [
        ("congestion notification profile ROCE", ("x",), "blocks all its ports"),
        ("congestion notification profile ROCE", (), ""),
        ("forwarding class ROCE", ("class-of-service forwarding-classes class ROCE queue-num 5",), "moves buffers"),
        ("forwarding class ROCE", ("class-of-service forwarding-classes class ROCE queue-num 4",), ""),
        ("schedulers", ("class-of-service schedulers ROCE priority low",), ""),
        ("drop profile", ("class-of-service drop-profiles ROCE interpolate fill-level 5",), ""),
        ("interface et-0/0/0", ("interface et-0/0/0", "   mtu 1514"), "takes the links of {ports} down"),
        ("interface et-0/0/0", ("interface et-0/0/0", "   mtu 9214"), "a change of PFC blocks {ports}"),
        (
            "interface et-0/0/0",
            ("interface et-0/0/0", "   class-of-service congestion-notification-profile ROCE", "   mtu 9214"),
            "",
        ),
        (
            "interface et-0/0/0",
            (
                "interface et-0/0/0",
                "   class-of-service congestion-notification-profile ROCE",
                "   deactivate class-of-service congestion-notification-profile",
                "   mtu 9214",
            ),
            "a change of PFC blocks {ports}",
        ),
    ],
)
def test_what_stops_traffic(section: str, have: tuple[str, ...], why: str) -> None:
    found = stops(section, have, dict(render(LEAF).sections)[section])
    assert why in found
    assert bool(found) is bool(why)
