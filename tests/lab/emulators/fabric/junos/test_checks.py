# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a commit refuses; each row breaks one rule of a configuration that passes."""

from __future__ import annotations

import pytest

from lab.emulators.fabric.junos import checks, statements
from lab.emulators.fabric.switch import Refused

COS = "class-of-service"
GOOD = (
    "forwarding-classes class LOSSLESS queue-num 4",
    "forwarding-classes class LOSSLESS no-loss",
    "classifiers dscp X forwarding-class LOSSLESS loss-priority low code-points 011010",
    "drop-profiles X interpolate fill-level 10",
    "drop-profiles X interpolate fill-level 90",
    "drop-profiles X interpolate drop-probability 0",
    "drop-profiles X interpolate drop-probability 100",
    "schedulers X transmit-rate percent 60",
    "schedulers X drop-profile-map loss-priority any protocol any drop-profile X",
    "scheduler-maps X forwarding-class LOSSLESS scheduler X",
    "congestion-notification-profile X input dscp code-point 011010 pfc",
    "interfaces et-0/0/0 congestion-notification-profile X",
    "interfaces et-0/0/0 scheduler-map X",
    "interfaces et-0/0/0 unit * classifiers dscp X",
)


def with_(*lines: str) -> statements.Config:
    config: statements.Config = []
    for line in (*GOOD, *lines):
        statements.set_(config, line.split() if line.startswith("interfaces et-0/0/0 ether") else [COS, *line.split()])
    return config


def test_what_breaks_no_rule_passes():
    checks.check(with_())


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("interfaces et-0/0/1 scheduler-map Y", "Y is not defined"),
        ("interfaces et-0/0/1 congestion-notification-profile Y", "Y is not defined"),
        ("interfaces et-0/0/1 unit 0 classifiers dscp Y", "Y is not defined"),
        ("scheduler-maps X forwarding-class best-effort scheduler Y", "Y is not defined"),
        ("scheduler-maps X forwarding-class OTHER scheduler X", "forwarding-class OTHER is not defined"),
        ("forwarding-classes class LOSSY queue-num 4", "all be no-loss, or none"),
        ("forwarding-classes class LOSSY queue-num 3", "all be no-loss, or none"),
        ("drop-profiles X interpolate fill-level 95", "two rising fill-levels"),
        ("drop-profiles Y interpolate fill-level 95", "two rising fill-levels"),
        ("schedulers X priority strict-high", "can't have a transmit-rate"),
        ("scheduler-maps X forwarding-class best-effort scheduler X", "sum of transmit rates is 120 percent"),
        ("congestion-notification-profile X input ieee-802.1 code-point 011 pfc", "can't be in one profile"),
        ("interfaces et-0/0/0 ether-options flow-control", "exclude each other"),
    ],
)
def test_what_breaks_a_rule_is_refused(line, why):
    with pytest.raises(Refused, match=why) as refusal:
        checks.check(with_(line))
    assert str(refusal.value).endswith("error: configuration check-out failed")


def test_a_watchdog_acts_alike_on_all_ports():
    lines = [
        f"congestion-notification-profile {name} pfc-watchdog watchdog-action {action}"
        for name, action in (("X", "drop"), ("Y", "forward"))
    ]
    with pytest.raises(Refused, match="must be the same in all profiles"):
        checks.check(with_(*lines))
