# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One finding for one fault: what a fault also causes becomes evidence of its finding."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..checks.state_gpus import LOG, PRESENT, STATE_OF_GPUS
from ..result import ProofFinding
from .fabric_verdict import FABRIC

_GPU = re.compile(r"\S+ GPU \S+(?=: )")


def folded(findings: Sequence[ProofFinding]) -> list[ProofFinding]:
    """The findings without those that another one explains; that one has their sentences as evidence."""
    found = list(findings)
    for minor in findings:
        if major := next((it for it in found if it is not minor and _explains(it, minor)), None):
            also = replace(major, evidence=(*major.evidence, minor.text))
            found = [also if it is major else it for it in found if it is not minor]
    return found


def _explains(major: ProofFinding, minor: ProofFinding) -> bool:
    if major.warning or not set(major.nodes) & set(minor.nodes):
        return False
    if minor.check == LOG:
        # the log has the address alone of a GPU that the driver has lost
        same = _part(major) == _part(minor) or major.check == PRESENT
        return major.check in STATE_OF_GPUS and major.check != LOG and same
    if not minor.warning or major.check != minor.check:
        return False
    rails = not major.rails or bool(set(major.rails) & set(minor.rails))
    return rails and (major.check == FABRIC or _part(major) == _part(minor))


def _part(finding: ProofFinding) -> str:
    """The GPU, or else the rails, that the sentence begins with."""
    match = _GPU.match(finding.text)
    return match[0] if match else str(finding.rails)
