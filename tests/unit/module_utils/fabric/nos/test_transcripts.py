# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What real devices print, and where that is known from: each command that reads a switch has a transcript.

The first line of a file is `# COMMAND; where it is from`. PORT stands for a port's name.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.capabilities import (
    capabilities,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.dialect import dialect
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.state import StateRead, joined
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.systems import SYSTEMS

from tests.unit.emulated_switch import profile

HOME = Path(__file__).resolve().parents[4] / "transcripts/fabric"
PROFILES = {system: profile(system) for system in SYSTEMS}


def transcripts(system: str) -> list[tuple[str, str, str, str]]:
    """Name, command, provenance and text of each file."""
    found = []
    for path in sorted((HOME / system).glob("*.txt")):
        head, _sep, text = path.read_text().partition("\n")
        command, _sep, origin = head.removeprefix("# ").partition("; ")
        if command.startswith("sonic-db-dump"):  # two commands in one line
            more, _sep, origin = origin.partition("; ")
            command = f"{command}; {more}"
        found.append((path.stem, command.split(", its ")[0], origin, text))
    return found


def reads(system: str) -> list[tuple[str, StateRead]]:
    """The commands for the state of the first port, or of all, in the forms of the oldest and the newest release."""
    want = PROFILES[system]
    both = (dialect(system).state_reads(want, it) for it in ("", capabilities(system).releases.newest))
    first = [it for some in both for it in some if it.ports in ((), want.ports[:1])]
    return [(it.line.replace(want.ports[0], "PORT"), it) for it in first]


STARTUP = {
    "show startup-config": "show running-config",
    "show startup-configuration": "show running-configuration",
    "nv config show -r startup -o json": "nv config show -o json",
    "sudo sonic-cfggen -j /etc/sonic/config_db.json --print-data": "sonic-cfggen -d --print-data",
}
"""Commands that print another configuration in the same form."""


def configuration_reads(system: str, release: str) -> list[str]:
    """The commands of a run, in their order, but for the one that shows the release."""
    it, want = dialect(system), PROFILES[system]
    lines = (*it.reads, *it.more_reads(want, release))
    return [STARTUP.get(line, re.sub(rf" {want.ports[0][:-1]}\d ", " PORT ", line)) for line in lines]


ROWS = [
    (system, name, command, text) for system in SYSTEMS for name, command, _unused, text in transcripts(system) if text
]


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_command_that_reads_has_a_transcript_and_each_transcript_says_where_it_is_from(system: str) -> None:
    known = [command for _unused, command, _origin, _text in transcripts(system)]
    assert [line for line, _unused in reads(system) if line not in known] == []
    releases = capabilities(system).releases
    needed = [line for it in (releases.oldest, releases.newest) for line in configuration_reads(system, it)]
    assert [line for line in (releases.line, *needed) if line not in known] == []
    assert all(origin for _unused, _command, origin, _text in transcripts(system))


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_run_takes_what_a_switch_prints_on_the_oldest_and_the_newest_release(system: str) -> None:
    printed = {command: text for _unused, command, _origin, text in transcripts(system)}
    releases = capabilities(system).releases
    assert releases.refusal(releases.read(printed[releases.line]), "consent") == ""
    for release in (releases.oldest, releases.newest):
        answers = [printed[line] for line in configuration_reads(system, release)]
        if system == "eos":  # the transcript has no port
            answers[:2] = [f"{text}interface Ethernet2\n   no switchport\n" for text in answers[:2]]
        config = dialect(system).parse(answers, PROFILES[system])
        assert [name for name, _unused in config.sections][-2:] == [f"interface {it}" for it in PROFILES[system].ports]


@pytest.mark.parametrize(("system", "name", "command", "text"), ROWS, ids=lambda it: it if len(str(it)) < 40 else "")
def test_a_reader_takes_every_shape_of_its_answer(system: str, name: str, command: str, text: str) -> None:
    """Ports of the profile that the answer shows have all counters, but for those whose cell is no number."""
    for line, read in reads(system):
        if line == command:
            found = read.parse(text)
            assert found, name
            lacking = read.missing(found, PROFILES[system])
            assert (lacking == []) is (f"{system}/{name}" not in PARTIAL), lacking


PARTIAL = {
    "nxos/queuing_interface_line_cards",
    "nxos/queuing_interface_reference",
    "nxos/queuing_tabular_module",
    "nxos/queuing_tabular_reference",
    "sonic/pfc_counters_not_counted",
}
"""Transcripts of one port alone, or with a cell that is no number."""


@pytest.mark.parametrize(
    ("system", "what", "name", "port", "wanted"),
    [
        ("nxos", "queue depths", "queuing_interface_module", "Ethernet1/1", {"queue_bytes": 41600}),
        ("nxos", "queue depths", "queuing_interface_line_cards", "Ethernet2/1", {"queue_bytes": 416}),
        ("nxos", "queue depths", "queuing_interface_reference", "Ethernet1/1", {"queue_bytes": 1040}),
        ("nxos", "watchdog storms", "pfc_queue_detail_module", "Ethernet1/1", {"watchdog_storms": 6}),
        ("nxos", "watchdog storms", "pfc_queue_detail_module", "Ethernet1/2", {"watchdog_storms": 0}),
        ("nxos", "watchdog storms", "pfc_queue_detail_reference", "Ethernet1/1", {"watchdog_storms": 2}),
        (
            "nxos",
            "queue counters",
            "queuing_tabular_module",
            "Ethernet1/1",
            {"dropped_packets": 0, "ecn_marked_packets": 12, "rx_pause": 8, "tx_pause": 2},
        ),
        ("sonic", "queue depths", "queue_watermark_json", "Ethernet0", {"queue_peak_bytes": 1310720}),
        ("sonic", "queue depths", "queue_watermark_table", "Ethernet0", {"queue_peak_bytes": 1310720}),
        ("sonic", "pause frames", "pfc_counters_not_counted", "Ethernet0", {"rx_pause": 31, "tx_pause": 2}),
        ("sonic", "pause frames", "pfc_counters_not_counted", "Ethernet4", {"tx_pause": 0}),
        ("sonic", "watchdog storms", "pfcwd_stats_none", "Ethernet4", {"watchdog_storms": 0}),
        ("sonic", "ECN marks", "queue_wredcounters_json", "Ethernet0", {"ecn_marked_packets": 1040}),
        ("nvue", "RoCE counters of swp1", "roce_counters_port", "swp1", {"rx_pause": 7, "dropped_packets": 5}),
        ("eos", "drops", "counters_queue_detail_json", "Ethernet1", {"dropped_packets": 3}),
        ("junos", "ECN marks and drops", "interfaces_queue", "et-0/0/0", {"ecn_marked_packets": 40}),
        ("os10", "drops of ethernet1/1/1", "queuing_statistics", "ethernet1/1/1", {"dropped_packets": 3}),
    ],
)
def test_counters_of_the_lossless_class(system: str, what: str, name: str, port: str, wanted: dict[str, Any]) -> None:
    [text] = [text for stem, _unused, _origin, text in transcripts(system) if stem == name]
    parse = next(it.parse for _unused, it in reads(system) if it.what == what)
    found = joined([parse(text)])[port]["priorities"]["3"]
    assert {key: found.get(key) for key in wanted} == wanted
    assert system == "nvue" or found.keys() <= {*wanted} or what == "ECN marks and drops"


@pytest.mark.parametrize("system", SYSTEMS)
def test_an_answer_that_nothing_recognises_is_never_a_good_one(system: str) -> None:
    """It raises one of the errors that cost its part alone, or lacks what the command should give."""
    for _unused, read in reads(system):
        for answer in ("", "% nothing to show", "{}", "[]", '{"TABLE_module": {"ROW_module": {}}}'):
            try:
                found = read.parse(answer)
            except (ValueError, LookupError, TypeError, AttributeError):
                continue
            assert not found and (read.missing(found, PROFILES[system]) or not read.gives), (read.line, answer)
