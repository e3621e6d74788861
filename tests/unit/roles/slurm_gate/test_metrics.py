# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from roles.slurm_gate.files.gate import metrics
from tests.unit.roles.slurm_gate.cluster import Made


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
