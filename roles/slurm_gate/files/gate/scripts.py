# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Which of the gate's runs in Slurm's scripts of this node came to no good end.

Slurm drains a node whose script failed. The reason is the gate's own, or the dispatcher's, unless neither could tell:
then Slurm's words don't say whose failure it was, and this note does.
"""

from __future__ import annotations

import contextlib

from .world import World

NOTE = "script-"


def begin(verb: str, job: int, world: World) -> None:
    """Note that a job's script is at work. A disk that takes no note must not keep a job from starting."""
    try:
        world.notes.write(f"{NOTE}{job}-{verb}", {})
    except OSError as err:
        world.log.event("not noted", job=job, cause=str(err))


def done(verb: str, job: int, world: World) -> None:
    """It came to its end, and Slurm hears nothing bad of it; a good epilog makes no good prolog."""
    with contextlib.suppress(OSError):
        world.notes.forget(f"{NOTE}{job}-{verb}")


def unfinished(world: World) -> bool:
    """One was killed, or failed, since the node was last in service."""
    return bool(world.notes.names(NOTE))


def forget(world: World) -> None:
    """The node is in service: what failed before explains nothing that comes later."""
    if not world.host.script_runs():
        for name in world.notes.names(NOTE):
            world.notes.forget(name)
