# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""All input and output of the gate in one value, so that tests can replace it."""

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
"""Name of a node's own token; the controller's tokens have the names of its two identities."""


class World(NamedTuple):
    """Configuration, environment, clock, Slurm, host, notes, log, tokens, API server."""

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
        """File with an identity's token, in a directory that the gate's user may write."""
        return self.tokens / f"{identity}.token"

    def guards(self) -> dict[str, dict[str, str]]:
        """Admission policies and bindings that gate.yml left, each with a mark; empty without its file."""
        try:
            return dict(json.loads((self.etc / "guards.json").read_text()))
        except (OSError, ValueError):
            return {}

    def api(self, identity: str, patience_s: float) -> Api:
        """The API server, as one of this host's identities; `patience_s` limits all requests together."""
        return Api(self.config.api_server, self.config.ca_file, str(self.token(identity)), patience_s, self.clock)

    def comment_job(self, job: int, text: str, run: int | None = None) -> None:
        """Write a cause into the job's AdminComment, or into the log if Slurm refuses, as for a job that is over.

        The end of a `run` that was never opened writes no comment: the comment counts the tries.
        """
        try:
            before = self.slurm.comment(job)
            if run is None or not retry.tried(before, run):
                self.slurm.set_comment(job, retry.comment(before, text))
        except NoAnswer as err:
            self.log.event("comment not set", job=job, cause=str(err))

    def deadline(self, seconds: float) -> Deadline:
        """A time limit that starts now."""
        return Deadline(self.clock, seconds)


class Deadline:
    """A time limit."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock, self._end = clock, clock.now() + seconds

    def pause(self, seconds: float) -> bool:
        """Wait; at once False if the limit comes first."""
        if self._clock.now() + seconds >= self._end:
            return False
        self._clock.sleep(seconds)
        return True
