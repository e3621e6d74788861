# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What an administrator reads in each situation, from the tools' own output to the sentence and the next step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from roles.drawbridge_status.files.status import kube_text, reports_text, slurm_text, view
from roles.drawbridge_status.files.status.model import Seen, Site

SITUATIONS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("situations.yml").read_text())
SITE = Site(gated=("ai-train",))
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
