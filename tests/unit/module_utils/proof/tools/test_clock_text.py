# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.tools.clock_text import (
    Clock,
    chrony,
    systemd,
)

TRACKING = "C0A80101,192.168.1.1,3,1732630000.123456789,{},-0.000006747,0.000035822,-13.2,0,0.026,0.01,0.001,64.5,{}\n"


@pytest.mark.parametrize(
    ("offset", "leap", "clock"),
    [
        ("0.000006523", "Normal", Clock(0.000006523, True)),
        ("-2.5", "Delete second", Clock(-2.5, True)),
        ("0.000000000", "Not synchronised", Clock(0, False)),
    ],
)
def test_chrony(offset: str, leap: str, clock: Clock) -> None:
    assert chrony(TRACKING.format(offset, leap)) == clock


@pytest.mark.parametrize(
    "text", ["", "506 Cannot talk to daemon\n", TRACKING.format("?", "Normal"), TRACKING.format("0", "?")]
)
def test_other_texts_of_chrony_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        chrony(text)


@pytest.mark.parametrize(
    ("service", "synchronised", "good"),
    [("yes", "yes", True), ("yes", "no", False), ("no", "no", True), ("no", "yes", True)],
)
def test_systemd(service: str, synchronised: str, good: bool) -> None:
    assert systemd(f"NTP={service}\nNTPSynchronized={synchronised}\n") == Clock(0, good)


@pytest.mark.parametrize("text", ["", "NTP=yes\n", "NTP=yes\nNTPSynchronized=perhaps\n"])
def test_other_texts_of_systemd_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        systemd(text)
