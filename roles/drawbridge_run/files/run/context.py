# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Everything that drawbridge-run touches outside of its own process, in one place that tests can replace."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..gate.clock import Clock
from ..gate.command import Commands
from ..gate.config import Refused
from .console import Console
from .kube import Kube
from .pod import User
from .site import JOBS, NCCL, SITE, Grant


@dataclass(frozen=True)
class Context:
    """Environment, clock, programs, terminal, user, files, names of hosts, API server."""

    env: Mapping[str, str]
    clock: Clock
    commands: Commands
    console: Console
    user: User
    site: Path = SITE
    jobs: Path = JOBS
    nccl: Path = NCCL

    def mark(self) -> str:
        """What no other call has; short, since workloads' controllers append to names of 63 characters at most."""
        return secrets.token_hex(3)

    def address(self, host: str) -> str:
        """A host's address: names of hosts mean nothing in a pod."""
        try:
            return str(socket.getaddrinfo(host, None, proto=socket.IPPROTO_TCP)[0][4][0])
        except OSError as err:
            raise Refused(f"the address of {host} can't be found ({err}): ask those who run the cluster") from err

    def kube(self, grant: Grant) -> Kube:
        """The API server with the job's token."""
        return Kube(grant, self.clock)
