# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.junos.checks import (
    applied_to,
    unfit,
    unproven,
    waiting,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.junos.lines import Statements

from tests.unit.emulated_switch import profile

LEAF = profile("junos", 1)
HISTORY = """
0   2026-11-25 09:00:00 UTC by admin via cli commit confirmed, rollback in 5mins
    drawbridge-a
{pending}1   2026-11-24 09:00:00 UTC by noc via netconf commit confirmed, rollback in 10mins
    upgrade
10  2026-11-01 09:00:00 UTC by root via other
"""
PORT = """Physical interface: et-0/0/0, Index: 1024
Maximum usable queues: 12, Queues in use: 5
  Scheduler map: {0}, Index: 27184
  Congestion-notification: {1}

  Logical interface: et-0/0/0.0, Index: 1003
Object                  Name                   Type                    Index
Classifier              {2}                   dscp                    34087
Classifier              other                  dscp-ipv6               9
"""


def test_a_commit_waits_while_its_entry_says_so_and_has_its_comment() -> None:
    assert waiting(HISTORY.format(pending="    rollback pending\n")) == ("admin", "drawbridge-a")
    assert waiting(HISTORY.format(pending="")) == ("", "")
    without_comment = HISTORY.format(pending="    rollback pending\n").replace("    drawbridge-a\n", "")
    assert waiting(without_comment) == ("admin", "")
    assert waiting("") == ("", "")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (("ROCE", "Enabled, Name: ROCE, Index: 1", "ROCE"), ""),
        (("<default>", "Enabled, Name: ROCE, Index: 1", "ROCE"), "has <default> as its scheduler map"),
        (("ROCE", "Disabled", "ROCE"), "has Disabled as its congestion notification profile"),
        (("ROCE", "Enabled, Name: cnp, Index: 1", "ROCE"), "has cnp as its congestion notification profile"),
        (("ROCE", "Enabled, Name: ROCE, Index: 1", "dscp-default"), "has dscp-default as its classifier"),
    ],
)
def test_a_port_that_does_not_use_its_bindings_is_not_proven(values: tuple[str, ...], sentence: str) -> None:
    found = [*unproven(applied_to(PORT.format(*values)), LEAF)]
    assert found == ([f"et-0/0/0 does not use ROCE, but {sentence}"] if sentence else [])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("set interfaces et-0/0/0 ether-options 802.3ad ae0", "is in ae0, which has the class; list ae0 in ports"),
        ("deactivate class-of-service", "class-of-service is deactivated in its configuration; activate it"),
        ("deactivate class-of-service schedulers", "schedulers is deactivated"),
        ("deactivate interfaces et-0/0/0", "interfaces et-0/0/0 is deactivated"),
        ("set class-of-service shared-buffer egress buffer-partition lossless percent 66", "add queue_buffer_bytes"),
    ],
)
def test_what_the_site_must_correct_first(line: str, why: str) -> None:
    applied = {"et-0/0/0": ""}
    good = Statements.of("set system host-name leaf1\ndeactivate interfaces et-0/0/7")
    assert not [*unfit(good, applied, LEAF)]
    [sentence] = unfit(Statements.of(f"set system host-name leaf1\n{line}"), applied, LEAF)
    assert why in sentence


def test_a_buffer_that_the_site_divides_is_fine_if_the_intent_has_its_size() -> None:
    line = "set class-of-service shared-buffer egress buffer-partition lossless percent 66"
    config = Statements.of(f"set system host-name leaf1\n{line}")
    assert not [*unfit(config, {"et-0/0/0": ""}, replace(LEAF, queue_buffer_bytes=3_000_000))]


def test_a_login_that_sees_no_configuration_is_reported() -> None:
    assert "view-configuration" in next(unfit(Statements.of(""), {}, LEAF))


ALONE = "set system host-name leaf1\n"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            "class-of-service shared-buffer ingress buffer-partition lossless percent 0",
            "so that lossless traffic has no ingress buffer; give the partition a share on the switch",
        ),
        (
            "class-of-service shared-buffer ingress buffer-partition lossless-headroom percent 0",
            "so that lossless traffic has no ingress buffer; give the partition a share on the switch",
        ),
        (
            "class-of-service forwarding-classes class SITE queue-num 4",
            "its forwarding class SITE is lossy and has queue 4, which ROCE has too as a lossless class; give SITE"
            " another queue on the switch",
        ),
    ],
)
def test_a_site_whose_lossless_traffic_would_be_dropped_must_act_first(line: str, says: str) -> None:
    [sentence] = unfit(Statements.of(f"{ALONE}set {line}\n"), {"et-0/0/0": ""}, LEAF)
    assert sentence.endswith(says)


def test_a_lossless_class_of_the_site_may_have_the_queue_and_a_share_of_its_own_is_one() -> None:
    lines = (
        "set class-of-service forwarding-classes class SITE queue-num 4",
        "set class-of-service forwarding-classes class SITE no-loss",
        "set class-of-service forwarding-classes class OTHER queue-num 1",
        "set class-of-service shared-buffer ingress buffer-partition lossless percent 40",
    )
    assert [*unfit(Statements.of("\n".join([ALONE, *lines])), {"et-0/0/0": ""}, LEAF)] == []
