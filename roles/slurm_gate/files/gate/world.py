# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Everything that the gate touches outside its own process, in one place that tests can replace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from . import retry
from .api import Api
from .clock import Clock
from .config import Config
from .host import Host
from .log import Log
from .notes import Notes
from .slurm import NoAnswer, Slurm

ETC = Path("/etc/drawbridge/gate")
TOKENS = Path("/var/lib/drawbridge/gate")
JOBS = Path("/run/drawbridge/jobs")
NODE = "node"
"""Name of a node's own token; a controller's are named for its two identities."""


class World(NamedTuple):
    """The seams: environment, clock, Slurm, host, memory, log, tokens, API server."""

    config: Config
    env: Mapping[str, str]
    clock: Clock
    slurm: Slurm
    host: Host
    notes: Notes
    log: Log
    etc: Path = ETC
    tokens: Path = TOKENS
    jobs: Path = JOBS

    def token(self, identity: str) -> Path:
        """File with an identity's token: where the gate's own user may write, since it renews them."""
        return self.tokens / f"{identity}.token"

    def guards(self) -> dict[str, dict[str, str]]:
        """The admission policies and bindings that gate.yml has left, each with a mark; empty if it never said."""
        try:
            return dict(json.loads((self.etc / "guards.json").read_text()))
        except (OSError, ValueError):
            return {}

    def api(self, identity: str, patience_s: float) -> Api:
        """The API server as one of this host's identities; `patience_s` bounds all that is asked through it."""
        return Api(self.config.api_server, self.config.ca_file, str(self.token(identity)), patience_s, self.clock)

    def tell(self, job: int, text: str, run: int | None = None) -> None:
        """Say why in the job's AdminComment. Slurm takes none for a job that is over; then the log has to do.

        What fails at the end of a `run` that was never opened is left to the log: the comment counts the tries.
        """
        try:
            before = self.slurm.comment(job)
            if run is None or not retry.tried(before, run):
                self.slurm.set_comment(job, retry.comment(before, text))
        except NoAnswer as err:
            self.log.event("not told", job=job, cause=str(err))

    def deadline(self, seconds: float) -> Deadline:
        """A limit from now on."""
        return Deadline(self.clock, seconds)


class Deadline:
    """A limit of time."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock, self._end = clock, clock.now() + seconds

    def pause(self, seconds: float) -> bool:
        """Wait a little; False, and at once, when that would be too long."""
        if self._clock.now() + seconds >= self._end:
            return False
        self._clock.sleep(seconds)
        return True
