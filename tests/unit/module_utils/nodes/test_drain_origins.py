# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Which part drained a node, against the constants of the programs that drain and those of `drawbridge status`."""

from __future__ import annotations

import re

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.drain_origins import (
    PERSON,
    SLURM,
    origin,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.passport_io import REASON
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.cluster import UNPROVED
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.maintenance.plan import reason_of
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes import ready_plan

from roles.drawbridge_status.files.gate import slurm as gate
from roles.drawbridge_status.files.status.slurm_rules import KNOWN
from tests.conformance.tree import ROOT


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (f"{REASON}it has no passport", "proof"),
        (f"{UNPROVED}: rail 3 is slow", "proof"),
        (f"{ready_plan.HEALTH}: /fs1 is not mounted", "health"),
        (f"{gate.REASON}pods are left", "gate"),
        (f"{gate.KILLED[0]}ended with 1 in job 4711", "gate"),
        ("drawbridge: epilog part 60-scratch ended with 1 in job 4711", "script"),
        (ready_plan.JOINING, "onboarding"),
        (f"{ready_plan.HARDWARE}: 7 GPUs", "hardware"),
        (reason_of("kernel", "18:00"), "maintenance"),
        (ready_plan.RETIRING, "retirement"),
        (ready_plan.REINSTALLING, "reinstallation"),
        ("drawbridge kubelet: reserved CPUs", "change"),
    ],
)
@pytest.mark.parametrize("by", ["root", "slurm"])
def test_a_part_is_known_by_the_start_of_its_reason(text: str, part: str, by: str) -> None:
    assert origin(text, by) == part
    assert origin(f"{text} : Not responding", by) == part


def test_slurm_drains_as_its_own_user_and_others_are_persons() -> None:
    assert origin("Prolog error", "slurm") == SLURM
    assert origin("Prolog error", "hpc", slurm_user="hpc") == SLURM
    assert origin("new fan", "ben") == origin("", "") == PERSON
    assert origin("drawbridges are red", "ben") == PERSON


def test_it_knows_all_reasons_that_status_explains() -> None:
    unknown = [known.start for known in KNOWN if origin(known.start, "root") == PERSON]
    assert unknown == [*gate.FAILED], "those are Slurm's own, and come from Slurm's user"


@pytest.mark.parametrize(("file", "part"), [("slurm-health.py", "health"), ("slurm-dispatch.py", "script")])
def test_it_knows_the_reasons_of_programs_without_modules(file: str, part: str) -> None:
    """Those have the start of their reason as a constant."""
    text = (ROOT / "roles/slurm_node/files" / file).read_text()
    starts = re.findall(r'(?m)^ *(?:REASON|reason) = f?"(drawbridge: [^"{]*)', text)
    assert len(starts) == 1
    ends = ["prolog part 20-a ", "epilog part 20-a "] if file == "slurm-dispatch.py" else ["x"]
    assert {origin(f"{starts[0]}{end}", "root") for end in ends} == {part}
