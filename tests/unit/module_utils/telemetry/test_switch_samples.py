# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Counters of a switch as metrics."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.state import COUNTERS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry import exposition
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.families import (
    FAMILIES,
    SWITCHES,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.switch_samples import (
    FAMILY_OF,
    OF_LOSSY,
    Ends,
    Reading,
    Verdict,
    judged,
    page,
    reading_of,
    samples,
)

ENDS = Ends({"Ethernet1": ("gpu01", "0")}, ("3",), ("6",))
ALL = {name: at for at, name in enumerate(COUNTERS, 10)}
GAP = "drops: dropped_packets of priority 3 of Ethernet1 is not in the answer of leaf1 to 'show drops'"
REFUSED = "drops: leaf1 refused 'show drops': % Invalid input"


def port(**priorities: dict[str, int]) -> dict[str, Any]:
    return {"neighbour": ["gpu01", "rail0"], "priorities": {name[1:]: found for name, found in priorities.items()}}


def read(*unknown: str, **ports: dict[str, Any]) -> Reading:
    return reading_of({"ports": ports, "unknown": list(unknown)}, 1000.5, 0.25)


def lines(reading: Reading, complete: bool = True, completed: float | None = 1000.5) -> list[str]:
    text = exposition.text(samples("leaf1", reading, ENDS, complete, completed))
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_each_counter_has_its_family_with_node_and_rail() -> None:
    labels = 'switch="leaf1",port="Ethernet1",node="gpu01",rail="0",priority="3"'
    assert lines(read(Ethernet1=port(p3=ALL))) == [
        'drawbridge_switch_up{switch="leaf1"} 1',
        'drawbridge_switch_read_timestamp_seconds{switch="leaf1"} 1000.5',
        'drawbridge_switch_read_seconds{switch="leaf1"} 0.25',
        f'drawbridge_switch_pause_frames_total{{{labels},direction="rx"}} 10',
        f'drawbridge_switch_pause_frames_total{{{labels},direction="tx"}} 11',
        f"drawbridge_switch_ecn_marked_packets_total{{{labels}}} 12",
        f"drawbridge_switch_dropped_packets_total{{{labels}}} 13",
        f"drawbridge_switch_watchdog_storms_total{{{labels}}} 14",
        f"drawbridge_switch_queue_bytes{{{labels}}} 15",
        f"drawbridge_switch_queue_peak_bytes{{{labels}}} 16",
    ]


def test_all_counters_and_all_families_are_used() -> None:
    assert set(FAMILY_OF) == set(COUNTERS)
    own = {name for name, family in FAMILIES.items() if family.file == SWITCHES}
    assert {it.family for it in samples("leaf1", read(Ethernet1=port(p3=ALL)), ENDS, True, 1.0)} == own


def test_a_port_to_another_switch_has_neither_node_nor_rail() -> None:
    [*_others, last] = lines(read(Ethernet9=port(p3={"rx_pause": 1})))
    assert 'port="Ethernet9",node="",rail="",priority="3"' in last


def test_series_are_those_of_the_intents_classes() -> None:
    """A lossy class has neither pauses nor marks; priority 1 is no class."""
    found = [line for line in lines(read(Ethernet1=port(p1=ALL, p3={}, p6=ALL))) if "priority" in line]
    assert len(found) == len(OF_LOSSY)
    assert all('priority="6"' in line for line in found)


def test_a_switch_that_gives_no_answer_has_no_values() -> None:
    silent = Reading(2000, 60, why_none="leaf1 gave no answer")
    assert lines(silent, complete=False) == [
        'drawbridge_switch_up{switch="leaf1"} 0',
        'drawbridge_switch_read_timestamp_seconds{switch="leaf1"} 1000.5',
    ]
    assert lines(silent, complete=False, completed=None) == ['drawbridge_switch_up{switch="leaf1"} 0']


def test_a_reading_in_part_has_its_values_and_is_down() -> None:
    found = lines(read(REFUSED, Ethernet1=port(p3={"rx_pause": 1})), complete=False, completed=None)
    assert [line.rpartition(" ")[2] for line in found] == ["0", "0.25", "1"]


@pytest.mark.parametrize(
    ("reading", "seen", "complete", "said"),
    [
        (read(Ethernet1=port(p3={"rx_pause": 1})), set(), True, "leaf1 is read"),
        (
            read(GAP, Ethernet1=port(p3={"rx_pause": 1})),
            set(),
            True,
            f"leaf1 is read, but some counters are absent: {GAP}",
        ),
        (
            read(GAP, Ethernet1=port(p3={"rx_pause": 1})),
            {("Ethernet1", "3", "dropped_packets")},
            False,
            f"leaf1 is read in part: {GAP}",
        ),
        (
            read(REFUSED, GAP, Ethernet1=port(p3={"rx_pause": 1})),
            set(),
            False,
            f"leaf1 is read in part: {REFUSED}; {GAP}",
        ),
        (
            read(Ethernet1=port(p6={"dropped_packets": 1})),
            set(),
            False,
            "leaf1 is read in part: counters of lossless classes are missing",
        ),
        (Reading(2000, 60, why_none="no route"), set(), False, "leaf1 is not read: no route"),
    ],
    ids=["whole", "lacks a counter", "has lost a counter", "refused", "nothing lossless", "silent"],
)
def test_what_a_reading_is_worth(reading: Reading, seen: set[tuple[str, str, str]], complete: bool, said: str) -> None:
    has = frozenset({("Ethernet1", "3", "rx_pause")}) if "'rx_pause'" in str(reading.ports) else frozenset()
    assert judged("leaf1", reading, ENDS, frozenset(seen)) == Verdict(complete, said, has)


def test_texts_of_several_switches_are_one_text() -> None:
    both = [
        [*samples(name, read(Ethernet1=port(p3=found)), ENDS, True, 7)]
        for name, found in (("leaf1", {"rx_pause": 1}), ("leaf2", ALL))
    ]
    assert page(map(exposition.text, both)) == exposition.text(sample for own in both for sample in own)
    assert page([]) == ""
