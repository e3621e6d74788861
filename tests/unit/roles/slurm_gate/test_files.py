# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the gate keeps in files: notes and locks, its settings, metrics."""

from __future__ import annotations

import json
from pathlib import Path

from roles.slurm_gate.files.gate import metrics
from roles.slurm_gate.files.gate.config import Config
from roles.slurm_gate.files.gate.notes import Notes
from tests.unit.roles.slurm_gate.cluster import CONFIG, Made
from tests.unit.roles.slurm_gate.test_repair import locked_elsewhere


def test_a_note_is_there_until_it_is_forgotten(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.write("run-7", {"restart": 1})
    assert Notes(tmp_path).read("run-7") == {"restart": 1}
    assert notes.names("run-") == ["run-7"]
    notes.forget("run-7")
    notes.forget("run-7")
    assert notes.read("run-7") == {}


def test_what_a_power_cut_left_of_a_note_is_no_note(tmp_path: Path) -> None:
    (tmp_path / "boot").write_text('{"id": ')
    assert Notes(tmp_path).read("boot") == {}


def test_a_lock_shuts_out_others_and_jobs_do_not_wait_for_each_other(at: Made) -> None:
    with locked_elsewhere(at, 7):
        with at.notes.locked(7, wait=False) as free:
            assert not free
        with at.notes.locked(8, wait=False) as free:
            assert free
    with at.notes.locked(7, wait=False) as free:
        assert free


def test_the_file_may_hold_more_than_this_program_knows(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**CONFIG, "newer": True}))
    assert Config.read(file) == Config(**CONFIG)


def test_runs_add_up_and_one_of_them_publishes(at: Made) -> None:
    at.log.event("open", node="gpu01")
    metrics.add(at, "open", 0, 0.25)
    metrics.add(at, "open", 0, 0.5)
    metrics.publish(at, {'node_state{state="closed"}': 1})
    text = (at.etc.parent / "gate.prom").read_text()
    assert text.splitlines()[:4] == [
        "# HELP drawbridge_gate_events_total What the gate did or refused on this host, by the name in its log.",
        "# TYPE drawbridge_gate_events_total counter",
        'drawbridge_gate_events_total{event="crashed"} 0',
        'drawbridge_gate_events_total{event="open"} 2',
    ]
    assert 'drawbridge_gate_seconds_total{verb="open"} 0.75' in text
    assert 'drawbridge_gate_runs_total{verb="open",code="0"} 2' in text
    assert 'drawbridge_gate_node_state{state="closed"} 1' in text


def test_a_file_that_can_not_be_written_fails_nothing(at: Made) -> None:
    (at.etc.parent / "gate.prom").mkdir()
    metrics.publish(at, {})
    assert "metrics not written" in at.log.lines[-1]


def test_the_time_of_the_last_good_run_stays_until_the_next_one(at: Made) -> None:
    file, line = at.etc.parent / "gate.prom", "drawbridge_gate_reconciled_timestamp_seconds"
    metrics.publish(at, {})
    assert f"{line} 0\n" in file.read_text()
    metrics.publish(at, {"reconciled_timestamp_seconds": 1764000000.25})
    metrics.publish(at, {})
    assert f"{line} 1764000000.25\n" in file.read_text()


def test_a_host_that_opens_nodes_counts_its_failures_from_zero(at: Made) -> None:
    failed = 'drawbridge_gate_runs_total{verb="open",code="1"}'
    metrics.publish(at, {})
    assert failed not in (at.etc.parent / "gate.prom").read_text()
    at.token("opener").write_text("")
    metrics.publish(at, {})
    assert f"{failed} 0\n" in (at.etc.parent / "gate.prom").read_text()
    metrics.add(at, "open", 1, 0.25)
    metrics.publish(at, {})
    assert f"{failed} 1\n" in (at.etc.parent / "gate.prom").read_text()
