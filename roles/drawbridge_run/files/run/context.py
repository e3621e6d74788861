# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""All input and output of drawbridge-run in one value, so that tests can replace it."""

from __future__ import annotations

import os
import pwd
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..gate.clock import Clock
from ..gate.command import Commands
from .address import reachable
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
        """A part of names that no other call has; short, since controllers append to names (63 characters at most)."""
        return secrets.token_hex(3)

    def address(self, nodes: Sequence[str], grant: Grant) -> str:
        """The address of the job's first node, as its other nodes reach it. Raises Refused."""
        return reachable(nodes[0], grant.api_server, alone=len(nodes) == 1)

    def kube(self, grant: Grant) -> Kube:
        """The API server with the job's token."""
        return Kube(grant, self.clock)


def current_user() -> User:
    """The calling process's user. A uid without a login name, as in a container, is its own name."""
    uid = os.getuid()
    try:
        entry = pwd.getpwuid(uid)
        name, home = entry.pw_name, entry.pw_dir
    except KeyError:
        name, home = str(uid), "/"
    umask = os.umask(0)
    os.umask(umask)
    return User(uid, os.getgid(), name, home, _here(), umask, os.environ)


def _here() -> str:
    """The current directory by the user's own path: a link may lead to a shared file system."""
    said = os.environ.get("PWD", "")
    try:
        if said and Path(said).samefile("."):
            return str(Path(said).resolve())
    except OSError:
        pass
    return str(Path.cwd())
