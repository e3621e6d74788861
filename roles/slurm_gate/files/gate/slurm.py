# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the gate tells Slurm when something fails: reasons that a person can act on."""

from __future__ import annotations

import subprocess

from . import log

REASON = "drawbridge gate: "
TIMEOUT_S = 20.0


def drain(node: str, reason: str) -> None:
    """Keep jobs off a node. A reason that somebody set before us stays."""
    if _reason(node) in ("", None):
        _ask("scontrol", "update", f"nodename={node}", "state=drain", f"reason={REASON}{reason}")


def resume(node: str) -> None:
    """Lift a drain of ours, nobody else's."""
    if (_reason(node) or "").startswith(REASON):
        _ask("scontrol", "update", f"nodename={node}", "state=resume")


def comment(job: int, text: str) -> None:
    """Say why in the job's AdminComment, which survives a requeue and which users can't write."""
    _ask("scontrol", "update", f"jobid={job}", f"admincomment={REASON}{text}")


def jobs_on(node: str) -> set[int] | None:
    """Jobs that have the node, from before their prolog to after their epilog. None if Slurm does not say."""
    return _jobs("--states=R,CF,CG,S,ST", f"--nodelist={node}")


def jobs_running() -> set[int] | None:
    """Jobs that are not over, wherever they run. None if Slurm does not say."""
    return _jobs("--states=R,CF,S,ST")


def _jobs(*which: str) -> set[int] | None:
    said = _ask("squeue", "--noheader", "--format=%A", *which)
    return None if said is None else {int(word) for word in said.split()}


def _reason(node: str) -> str | None:
    """Why the node is drained or down; "" if it isn't, None if Slurm does not say."""
    said = _ask("sinfo", "--noheader", f"--nodes={node}", "--format=%E")
    lines = (said or "").splitlines()
    if said is None or not lines:
        return None
    return "" if lines[0].strip() == "none" else lines[0].strip()


def _ask(tool: str, *words: str) -> str | None:
    """Run one of Slurm's commands. It may be down just now: then the log has to do, and the answer is None."""
    try:
        done = subprocess.run(
            [f"/usr/bin/{tool}", *words], check=True, capture_output=True, text=True, timeout=TIMEOUT_S
        )
    except (OSError, subprocess.SubprocessError) as err:
        log.event("no answer from Slurm", command=[tool, *words], cause=str(err))
        return None
    return done.stdout
