# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lines that we type, taken by an independent reading of Junos: the lab's emulator, which never saw this code."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Storage
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.junos.commands import (
    commands,
    on_ports,
    stops,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.junos.lines import (
    Statements,
    sections_of,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.junos.text import render
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import PORT
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.emulators.fabric.junos import checks, commits, schema, statements
from tests.unit.emulated_junos import profile

LEAF = profile(ports=2)
STORAGE = replace(LEAF, storage=Storage(priority=4, dscp=34, bandwidth_percent=30, lossless=True))
FACTORY = commits.factory("leaf1", "tomahawk3", 4, "10.0.0.1")["active"]
COS = "set class-of-service"
OURS = (
    f"{COS} forwarding-classes class ROCE queue-num 5",
    f"{COS} forwarding-classes class ROCE pfc-priority 5",
    f"{COS} forwarding-classes class ROCE-STORAGE queue-num 2",
    f"{COS} classifiers dscp ROCE import other",
    f"{COS} classifiers dscp ROCE forwarding-class ROCE loss-priority low code-points 100010",
    f"{COS} classifiers dscp ROCE forwarding-class best-effort loss-priority high code-points 011010",
    f"{COS} drop-profiles ROCE interpolate fill-level 55",
    f"{COS} drop-profiles ROCE interpolate drop-probability 0",
    f"{COS} schedulers ROCE transmit-rate percent 20",
    f"{COS} schedulers ROCE shaping-rate percent 20",
    f"{COS} schedulers ROCE-STORAGE transmit-rate percent 20",
    f"{COS} schedulers ROCE-CNP priority low",
    f"{COS} scheduler-maps ROCE forwarding-class fcoe scheduler ROCE",
    f"{COS} congestion-notification-profile ROCE pfc-watchdog",
    f"{COS} congestion-notification-profile ROCE pfc-watchdog watchdog-action forward",
    f"{COS} congestion-notification-profile ROCE input dscp code-point 100010 pfc",
    f"{COS} congestion-notification-profile ROCE output ieee-802.1 code-point 011 flow-control-queue 3",
    f"{COS} interfaces et-0/0/0 congestion-notification-profile other",
    f"{COS} interfaces et-0/0/1 unit 0 classifiers dscp other",
    f"{COS} interfaces et-0/0/1 unit 0 forwarding-class fcoe",
    f"{COS} interfaces et-0/0/0 forwarding-class-set other output-traffic-control-profile other",
    "set interfaces et-0/0/1 mtu 9000",
    "set interfaces et-0/0/0 ether-options flow-control",
    f"{COS} schedulers ROCE priority low",
)
OFF = (
    "deactivate class-of-service schedulers ROCE",
    "deactivate class-of-service congestion-notification-profile ROCE pfc-watchdog",
    "deactivate class-of-service interfaces et-0/0/0 congestion-notification-profile",
)
FOREIGN = (
    "set system host-name other",
    "set interfaces et-0/0/2 mtu 9000",
    "set interfaces et-0/0/0 description uplink",
    f"{COS} shared-buffer ingress buffer-partition lossless percent 66",
    f"{COS} congestion-notification-profile ROCE input cable-length 40",
    f"{COS} congestion-notification-profile other input dscp code-point 100010 pfc",
    f"{COS} classifiers dscp other import default",
    f"{COS} schedulers other transmit-rate percent 10",
    f"{COS} drop-profiles other interpolate fill-level 30",
    f"{COS} interfaces et-0/0/2 congestion-notification-profile other",
    f"{COS} interfaces et-0/0/0 unit 0 rewrite-rules dscp other",
    f"{COS} interfaces et-* unit * classifiers ieee-802.1 other",
    f"{COS} forwarding-classes class other queue-num 5",
)


def typed(config: statements.Config, lines: list[str]) -> statements.Config:
    after = copy.copy(config)
    for line in lines:
        verb, *words = schema.split(line)
        if verb == "set":
            statements.set_(after, words)
        elif verb == "delete":
            assert not statements.delete(after, words), line
        else:
            assert not statements.switch(after, words, on=verb == "activate"), line
    return after


def sections(config: statements.Config) -> dict[str, tuple[str, ...]]:
    return dict(sections_of(Statements.of("\n".join(statements.printed(config))), LEAF.ports))


def change(config: statements.Config, want: dict[str, tuple[str, ...]]) -> list[str]:
    have, lines = sections(config), list[str]()
    for name, wanted in want.items():
        own = commands(have[name], wanted)
        lines += on_ports([name.removeprefix(PORT)], tuple(own)) if name.startswith(PORT) else own
    return lines


@settings(deadline=None)
@given(st.sets(st.sampled_from(OURS)), st.sets(st.sampled_from(OFF)), st.sets(st.sampled_from(FOREIGN)), st.booleans())
def test_any_switch_becomes_what_we_want_and_keeps_what_is_not_ours(
    ours: set[str], off: set[str], foreign: set[str], storage: bool
) -> None:
    want = dict(render(STORAGE if storage else LEAF).sections)
    before = typed(FACTORY, sorted(ours | foreign))
    marks = [mark for mark in sorted(off) if any(statements.below(it, mark.partition(" ")[2]) for it in before)]
    before = typed(before, marks)
    after = typed(before, change(before, want))
    assert sections(after) == want
    assert change(after, want) == []
    alone = typed(FACTORY, sorted(foreign))
    assert set(alone) <= set(after)
    if f"{COS} forwarding-classes class other queue-num 5" not in foreign:
        checks.check([it for it in after if " other" not in it])


def test_a_removed_class_goes_as_a_whole() -> None:
    both = typed(FACTORY, change(FACTORY, dict(render(STORAGE).sections)))
    lines = change(both, dict(render(LEAF).sections))
    assert "delete class-of-service forwarding-classes class ROCE-STORAGE" in lines
    assert not any("ROCE-STORAGE" in line for line in typed(both, lines))


def test_ports_are_typed_one_by_one_with_their_names() -> None:
    lines = ("set class-of-service scheduler-map ROCE", "delete ether-options flow-control")
    assert on_ports(["et-0/0/0-1"], lines) == (
        "set class-of-service interfaces et-0/0/0 scheduler-map ROCE",
        "delete interfaces et-0/0/0 ether-options flow-control",
        "set class-of-service interfaces et-0/0/1 scheduler-map ROCE",
        "delete interfaces et-0/0/1 ether-options flow-control",
    )


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
