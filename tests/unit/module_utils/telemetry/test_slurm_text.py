# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Texts of Slurm's tools, recorded from real daemons, and lines of other releases."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.slurm_text import (
    COLUMNS,
    SEPARATOR,
    Node,
    Scheduler,
    jobs,
    nodes,
    scheduler,
)

HOME = Path(__file__).resolve().parents[3] / "transcripts/slurm"
RELEASES = ["24.11", "26.05"]


def recorded(tool: str, release: str = "24.11") -> str:
    return (HOME / f"{tool}_{release}.txt").read_text()


@pytest.mark.parametrize("release", RELEASES)
def test_nodes_as_slurm_prints_them(release: str) -> None:
    drained, allocated, down, draining = nodes(recorded("nodes", release))
    assert allocated == Node("n2", "allocated", ("train",))
    assert (drained.name, drained.state, drained.by) == ("n1", "drained", "root")
    assert drained.reason == "drawbridge: health: /fs1 is not mounted"
    assert (down.state, down.drained, down.reason) == ("down", True, "fan"), "its second line follows person and time"
    assert (draining.state, draining.partitions) == ("draining", ("hidden",))
    assert (draining.drained, draining.reason) == (True, "new fan, RMA=17 [a@b]")
    assert all(node.since and abs(node.since - draining.since) < 60 for node in (drained, down) if draining.since)


@pytest.mark.parametrize(
    ("state", "word", "drained"),
    [
        ("IDLE", "idle", False),
        ("IDLE*+MAINTENANCE+RESERVED", "idle", False),
        ("MIXED+PLANNED", "mixed", False),
        ("IDLE+DRAIN+INVALID_REG", "drained", True),
        ("IDLE+COMPLETING+DRAIN", "draining", True),
        ("ALLOCATED+FAIL", "draining", True),
        ("DOWN*+DRAIN", "down", True),
        ("DOWN+NOT_RESPONDING", "down", True),
        ("FUTURE", "future", False),
        ("UNKNOWN", "unknown", False),
    ],
)
def test_states_and_flags(state: str, word: str, drained: bool) -> None:
    found = nodes(f"NodeName=n1 State={state} ThreadsPerCore=1 Partitions=a,b BootTime=None\n")
    assert found == [Node("n1", word, ("a", "b"), drained)]


@pytest.mark.parametrize(
    ("rest", "node"),
    [
        ("Reason=old fan [ben@1796000000]", Node("n1", "drained", (), True, "old fan", "ben", 1796000000)),
        ("Reason=old [x] fan [ben@Unknown] Comment=a", Node("n1", "drained", (), True, "old [x] fan [ben@Unknown]")),
        ("Reason=a [ben@1] Comment=b [eve@2]", Node("n1", "drained", (), True, "a", "ben", 1)),
        ("Comment=b [eve@2]", Node("n1", "drained", (), True)),
        ("", Node("n1", "drained", (), True)),
    ],
)
def test_a_reason_with_and_without_its_writer(rest: str, node: Node) -> None:
    """A node in no partition has no such key, and a comment follows the reason."""
    assert nodes(f"NodeName=n1 State=IDLE+DRAIN ThreadsPerCore=1 {rest}".rstrip()) == [node]


def test_a_node_without_a_drain_keeps_no_reason() -> None:
    assert nodes("NodeName=n1 State=IDLE Partitions=a Reason=old fan [ben@1796000000]") == [Node("n1", "idle", ("a",))]


@pytest.mark.parametrize("text", ["", "\n", "No nodes in the system\n", "slurm_load_node error: x\n"])
def test_a_text_without_nodes_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="scontrol shows no node"):
        nodes(text)


@pytest.mark.parametrize("release", RELEASES)
def test_jobs_as_slurm_prints_them(release: str) -> None:
    found = jobs(recorded("jobs", release))
    by_number = {job.number: job for job in found}
    states = ["FAILED", "RUNNING", "PENDING", "CANCELLED", *["PENDING"] * 5, "RUNNING"]
    assert [job.state for job in found] == states
    runs, held, nothing = by_number["5"], by_number["4"], by_number["8"]
    assert (runs.user, runs.account, runs.partition, runs.nodes, runs.end) == ("root", "vision", "hidden", "n4", None)
    assert runs.start and runs.eligible and 0 <= runs.start - runs.eligible < 60
    assert (held.partition, held.held, held.eligible, held.start, held.nodes) == ("hidden", True, None, None, "")
    assert (nothing.account, nothing.held) == ("", False)
    assert [job.held for job in found].count(True) == 1
    assert sum(job.number == "3" for job in found) == 2, "each element of an array that waits has a line"
    requeued = by_number["2"]
    assert (requeued.state, requeued.nodes, requeued.start) == ("PENDING", "", requeued.eligible)


def test_an_incomplete_line_is_left_out() -> None:
    line = SEPARATOR.join(["1", "ada", "nlp", "train", "RUNNING", "9", "1", "2", "3", "n1", ""])
    assert line.count(SEPARATOR) == len(COLUMNS)
    assert [job.number for job in jobs(f"{line}\n{line[:-1]}\n\nslurm_load_jobs error: x\n")] == ["1"]


@pytest.mark.parametrize(
    ("release", "backfill_s", "main_s"), [("24.11", 0.000132, 0.000086), ("26.05", 0.000157, 0.000128)]
)
def test_the_scheduler_as_sdiag_prints_it(release: str, backfill_s: float, main_s: float) -> None:
    text = recorded("sdiag", release)
    assert scheduler(text) == Scheduler(5, 0, backfill_s, 1, main_s)
    text = text.replace("(since last slurm start): 0", "(since last slurm start): 7")
    busy = "Backfilling stats (WARNING: data obtained in the middle of backfilling execution.)"
    assert scheduler(text.replace("Backfilling stats", busy)) == Scheduler(5, 7, backfill_s, 1, main_s)


def test_a_number_that_is_not_printed_is_none() -> None:
    assert scheduler("Main schedule statistics (microseconds):\n\tLast cycle:   12\n") == Scheduler(
        *(None, None, None, None, 0.000012)
    )
