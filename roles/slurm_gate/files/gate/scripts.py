# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Notes about the gate's runs in Prolog and Epilog of this node that failed or were killed.

Slurm drains a node whose script failed. Normally the gate or the dispatcher sets the drain reason. If neither could,
Slurm's own reason does not name the failed part; these notes do.
"""

from __future__ import annotations

import contextlib

from .world import World

NOTE = "script-"


def begin(verb: str, job: int, world: World) -> None:
    """Note that a job's script is running. A full disk must not keep a job from starting."""
    try:
        world.notes.write(f"{NOTE}{job}-{verb}", {})
    except OSError as err:
        world.log.event("not noted", job=job, cause=str(err))


def done(verb: str, job: int, world: World) -> None:
    """Remove the note of a script that succeeded; the other script's note stays."""
    with contextlib.suppress(OSError):
        world.notes.forget(f"{NOTE}{job}-{verb}")


def unfinished(world: World) -> bool:
    """Whether a script failed or was killed since the node was last in service."""
    return bool(world.notes.names(NOTE))


def forget(world: World) -> None:
    """The node is in service: older failures do not explain later drains."""
    if not world.host.script_runs():
        for name in world.notes.names(NOTE):
            world.notes.forget(name)
