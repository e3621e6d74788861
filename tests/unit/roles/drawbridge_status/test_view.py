# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Many nodes: the summary, lines for nodes that are alike, filters, JSON, and the cost of a large cluster."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import yaml

from roles.drawbridge_status.files.status import kube_text, reports_text, slurm_text, view
from roles.drawbridge_status.files.status.model import Actor, LastRun, Seen, Site

SITE = Site(gated=("ai-train",))
LINE = "NodeName={} Arch=x86_64 CPUAlloc=0 RealMemory=2052096 State={} Partitions={} BootTime=2026-11-20T10:00:00{}"
MOVED = "2026-11-24T20:00:00Z"
DRAINED = " Reason=new fan [ben@2026-11-25T01:02:03]"


def cluster(count: int) -> Seen:
    """Every fourth node is drained, every fourth has a job."""
    names = [f"gpu{number:05d}" for number in range(count)]
    lines = [
        LINE.format(name, "IDLE+DRAIN" if at % 4 == 3 else "IDLE", "ai-train", DRAINED if at % 4 == 3 else "")
        for at, name in enumerate(names)
    ]
    rows = [
        [str(at), "ada", "ai-train", "RUNNING", "2026-11-25T00:00:00", "(null)", name, ""]
        for at, name in enumerate(names)
    ]
    queue = "\n".join(slurm_text.SEPARATOR.join(row) for at, row in enumerate(rows) if at % 4 == 1)
    taints = (f"vision.{at}" if at % 4 == 1 else "closed" for at in range(count))
    members = "\n".join(f"{name}\t\tTrue\tdrawbridge.io/slurm={taint} \t{MOVED} " for name, taint in zip(names, taints))
    return Seen(slurm_text.nodes("\n".join(lines)), slurm_text.jobs(queue), kube_text.members(members))


def test_the_summary_comes_first_and_nodes_that_are_alike_are_one_line() -> None:
    seen = cluster(8)._replace(notes=("no report",))
    summary, note, _, head, *lines = view.table(view.rows(seen, SITE), seen)
    assert (summary, note) == ("8 nodes: 2 drained, 4 ready, 2 held.", "Note: no report")
    assert head.split() == list(view.HEAD)
    assert [" ".join(line.split()) for line in lines] == [
        "gpu[00003,00007] IDLE+DRAIN closed - 2026-11-25T01:02:03 "
        "drained: ben drained it (new fan), and no job runs on it",
        "gpu[00000,00002,00004,00006] IDLE closed - - ready",
        "gpu00001 IDLE held vision.1 2026-11-25T00:00:00 held",
        "gpu00005 IDLE held vision.5 2026-11-25T00:00:00 held",
    ]


def test_a_long_hostlist_is_cut_to_its_ends_and_number() -> None:
    seen = cluster(100)
    assert "gpu00003..gpu00099 (25)" in view.table(view.rows(seen, SITE), seen)[3]


def test_filters_select_nodes() -> None:
    seen = cluster(8)
    names = [row.node.name for row in view.rows(seen, SITE, unit="gpu[00000-00002]")]
    assert names == ["gpu00000", "gpu00001", "gpu00002"]
    assert view.rows(seen, SITE, partition="hpc") == []
    assert [row.node.name for row in view.rows(seen, SITE, ["gpu00001", "gpu00001"])] == ["gpu00001"]


def test_the_exit_code_is_the_worst_level_and_no_answer_is_worse() -> None:
    seen = cluster(8)
    found = view.rows(seen, SITE)
    assert view.level(found, seen) == 1
    assert view.level(found[:3], seen) == 0
    assert view.level(found[:3], seen._replace(blind=True)) == 3


def test_json_has_all() -> None:
    seen = cluster(4)
    document = view.document(view.rows(seen, SITE), seen)
    assert [(node["name"], node["state"], node["gate"], node["owner"]) for node in document["nodes"]] == [
        ("gpu00000", "ready", "closed", ""),
        ("gpu00001", "held", "held", "vision.1"),
        ("gpu00002", "ready", "closed", ""),
        ("gpu00003", "drained", "closed", ""),
    ]
    assert document["nodes"][3]["slurm"]["flags"] == ["DRAIN"]
    step = "do the work that the reason names; then: scontrol update nodename=gpu00003 state=resume"
    assert document["nodes"][3]["findings"][0]["step"] == step


def test_a_job_that_the_gate_did_not_start_is_named_with_the_cause() -> None:
    comment = "note of mine | drawbridge gate: try 2 of 5 (run 1): the policies are missing"
    row = ["9", "ada", "ai-train", "PENDING", "N/A", comment, "", ""]
    seen = Seen(jobs=slurm_text.jobs(slurm_text.SEPARATOR.join(row)))
    assert view.table([], seen)[-1] == "job 9 waits for the gate: try 2 of 5 (run 1): the policies are missing"


def test_without_kubernetes_a_gated_node_shows_that_its_gate_is_not_visible() -> None:
    seen = cluster(1)._replace(members=None)
    (row,) = view.rows(seen, SITE)
    assert (row.node.gate, row.level) == ("unknown", 0)
    assert "its gate is not visible to you" in view.explain(row, seen)[0]


def test_a_guarded_node_that_slurm_does_not_have_is_named() -> None:
    seen = cluster(1)._replace(slurm={})
    assert [(row.node.name, row.findings[0].word) for row in view.rows(seen, SITE)] == [("gpu00000", "unknown")]


def calls(count: int) -> int:
    """Calls of functions from text to table."""
    number = 0

    def counted(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal number
        number += event == "call"

    sys.setprofile(counted)
    try:
        seen = cluster(count)
        view.table(view.rows(seen, SITE), seen)
    finally:
        sys.setprofile(None)
    return number


def test_a_large_cluster_costs_its_size_and_no_more() -> None:
    small, large = calls(200), calls(2000)
    assert large < 11 * small
    assert large < 2000 * 100


@pytest.mark.parametrize(
    ("line", "reason", "by", "since"),
    [
        ("NodeName=a State=IDLE Reason=new fan [ben@2026-11-25T01:02:03]", "new fan", "ben", "2026-11-25T01:02:03"),
        ("NodeName=a State=IDLE Reason=rack [3] [ben@now]", "rack [3]", "ben", "now"),
        ("NodeName=a State=IDLE Reason=new fan", "new fan", "", ""),
        ("NodeName=a State=IDLE", "", "", ""),
    ],
)
def test_a_reason_ends_with_who_and_when(line: str, reason: str, by: str, since: str) -> None:
    found = slurm_text.node(line)
    assert (found.reason, found.by, found.since) == (reason, by, since)


def test_one_node_names_those_who_changed_it() -> None:
    seen = cluster(8)._replace(actors={"gpu00003": (Actor("cordon", "kubectl-cordon", "2026-11-25T02:00:00Z"),)})
    (row,) = view.rows(seen, SITE, ["gpu00003"])
    text = view.explain(row, seen)
    at = text.index("Changed by others than Drawbridge:")
    assert text[at + 1 : at + 3] == [
        "  drain in Slurm (new fan) by ben, 2026-11-25T01:02:03",
        "  cordon by kubectl-cordon, 2026-11-25T02:00:00Z",
    ]
    assert [it["who"] for it in view.document([row], seen)["nodes"][0]["actors"]] == ["ben", "kubectl-cordon"]
    (ours,) = view.rows(seen, SITE, ["gpu00000"])
    assert "Changed by others than Drawbridge:" not in view.explain(ours, seen)


def test_the_last_proofs_are_named() -> None:
    run = LastRun("site.yml", "2026-11-24T02:00:00+00:00")
    seen = cluster(2)._replace(proofs={"gpu00000": run})
    closed, held = view.rows(seen, SITE)
    said = view.explain(closed, seen)
    assert f"The gate last proved it empty at {MOVED}." in said
    assert "Proved ready for jobs by site.yml of 2026-11-24T02:00:00+00:00." in said
    assert not any("proved" in line for line in view.explain(held, seen)), "a held node is not proved empty"
    proofs = [it["last_proof"] for it in view.document([closed, held], seen)["nodes"]]
    assert proofs == [
        {"empty": MOVED, "ready": {"playbook": "site.yml", "started": run.started}},
        {"empty": "", "ready": None},
    ]


def test_a_dirty_node_is_so_since_the_gate_moved_it() -> None:
    members = kube_text.members(f"gpu00000\t\tTrue\tdrawbridge.io/slurm=dirty_vision.4 \t{MOVED} \n")
    seen = cluster(1)._replace(members=members)
    assert view.document(view.rows(seen, SITE), seen)["nodes"][0]["since"] == MOVED


SITUATIONS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("situations.yml").read_text())
NAME = "gpu01"


def seen(given: dict[str, Any]) -> Seen:
    """What the readers find in this situation."""
    partition = given.get("partition", "ai-train")
    slurm, queue = "", ""
    if given["slurm"]:
        state, _, reason = given["slurm"].partition(" ")
        slurm = f"NodeName={NAME} Arch=x86_64 {state} Partitions={partition} BootTime=None {reason}\n"
    if "job" in given:
        queue = slurm_text.SEPARATOR.join(
            ["7", "ada", partition, given["job"], "2026-11-25T00:00:00", "(null)", NAME, ""]
        )
    members = None
    if "kube" in given:
        value, cordoned, ready = [*(given["kube"] or []), *("", "", "True")[len(given["kube"] or []) :]]
        taint = f"drawbridge.io/slurm={value} " if value else ""
        members = kube_text.members(f"{NAME}\t{cordoned}\t{ready}\t{taint}\t\n" if given["kube"] else "")
    runs: dict[str, Any] = {}
    if "run" in given:
        kind, text = given["run"]
        findings = [{"kind": kind, "text": text, "hosts": NAME}, {"kind": "changed", "text": "write", "hosts": NAME}]
        report = {"playbook": "site.yml", "started": "2026-11-25", "names": "gpu[01-02]", "findings": findings}
        runs = reports_text.last_runs([report])
    return Seen(slurm_text.nodes(slurm), slurm_text.jobs(queue), members, runs)


@pytest.mark.parametrize("name", SITUATIONS)
def test_a_situation_has_its_sentence_and_its_next_step(name: str) -> None:
    given = SITUATIONS[name]
    found = seen(given)
    (row,) = view.rows(found, SITE, [NAME])
    first = row.findings[0]
    assert (first.level, first.word) == (given["level"], given["word"])
    assert given["cause"] in first.cause
    assert bool(first.step) == bool(given["step"]) and given["step"] in first.step
    assert view.level([row], found) == given["level"]
    said = view.explain(row, found)
    assert f"{first.word}: {first.cause}." in said
    assert not first.step or f"  next: {first.step}" in said
