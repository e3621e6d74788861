# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the gate tells Slurm when something fails: reasons that a person can act on."""

from __future__ import annotations

import subprocess

from . import log

SCONTROL = "/usr/bin/scontrol"
TIMEOUT_S = 20.0


def drain(node: str, reason: str) -> None:
    """Keep jobs off a node. A reason that somebody set before us stays: Slurm doesn't replace it."""
    _scontrol(f"nodename={node}", "state=drain", f"reason=drawbridge: {reason}")


def comment(job: int, text: str) -> None:
    """Say why in the job's AdminComment, which survives a requeue and which users can't write."""
    _scontrol(f"jobid={job}", f"admincomment=drawbridge: {text}")


def _scontrol(*words: str) -> None:
    """Tell slurmctld; it may be down just now, and then the log has to do."""
    try:
        subprocess.run([SCONTROL, "update", *words], check=True, capture_output=True, timeout=TIMEOUT_S)
    except (OSError, subprocess.SubprocessError) as err:
        log.event("slurm was not told", words=words, cause=str(err))
