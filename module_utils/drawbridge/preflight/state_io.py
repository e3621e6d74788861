# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The probe of GPUs and NICs by the state checks of the proof, those that hold before the first run."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..core.command import Run
from ..proof import limits
from ..proof.checks import collect
from ..proof.checks.check import Check, Output, Program
from ..proof.checks.state_gpus import GPU_CHECKS, NOT_COVERED, PRESENT
from ..proof.checks.state_ports import OPTICS, PORT_CHECKS
from ..proof.checks.state_rails import PCIE, RAIL_CHECKS
from ..proof.measure import Found, Measure, Remark
from ..proof.node import ProofNode
from ..proof.run.programs_io import read_all, run
from .work_io import Want, together

PROGRAM_S = 15
"""Less than a probe has. A driver that loads first needs seconds for each GPU."""
GROUPS: Mapping[str, Sequence[Check]] = {
    # other findings of preflight say that the driver does not answer, and how many GPUs there are
    "gpus": [check for check in GPU_CHECKS if check.name != PRESENT],
    # a run sets MTU, addresses and priorities, and switches may still be off
    "rails": [check for check in (*RAIL_CHECKS, *PORT_CHECKS) if check.name in (PCIE, OPTICS)],
}


def state(want: Want, command: Run) -> dict[str, list[str]]:
    """Sentences about faults, by group. Empty for a host that is no node."""
    if not want["state"]:
        return {group: [] for group in GROUPS}
    node = ProofNode.from_dict(want["state"])
    checks = [check for some in GROUPS.values() for check in some]
    outputs = _outputs(collect.programs(checks, node))
    texts = read_all(collect.files(checks, node))
    return {
        group: [
            sentence
            for check, found in collect.results(some, node, outputs, texts)
            for sentence in sentences(node, check, found)
        ]
        for group, some in GROUPS.items()
    }


def sentences(node: ProofNode, check: Check, found: Sequence[Found]) -> Iterator[str]:
    """One sentence for each fault; warnings stay out."""
    for one in found:
        if isinstance(one, Measure):
            if fault := limits.judge(one, check.limit(node, one)):
                yield fault.fact
        elif one.name != NOT_COVERED and not (isinstance(one, Remark) and one.warning):
            yield f"{one.where}: {one.name}: {one.why}"


def _outputs(programs: Sequence[Program]) -> list[tuple[Program, Output]]:
    """All at the same time. A program without an answer counts as one that hung."""
    with tempfile.TemporaryDirectory(prefix="drawbridge-preflight-") as folder:
        calls = {}
        for number, program in enumerate(programs):
            scratch = Path(folder, str(number))
            scratch.mkdir()
            calls[number] = functools.partial(run, replace(program, seconds=PROGRAM_S), scratch)
        found = together(calls, PROGRAM_S + 1)
    hung = Output("", "", 124)
    answers = (found.get(number, hung) for number in range(len(programs)))
    return [(one, out if isinstance(out, Output) else hung) for one, out in zip(programs, answers)]
