# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A database and the one user that owns it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace

from ...core.consent import Consent
from ...core.converge import Step

CONSENT = (
    "the database user {0} has a password, which would be gone for all that use it. Keep it with"
    " drawbridge_slurm.accounting.database.server: site; to replace it, set"
)


@dataclass(frozen=True)
class DatabaseState:
    """A database, a user of this host known by its socket, and the user's rights."""

    database: str
    user: str
    exists: bool = True
    known_by_socket: bool = True
    granted: bool = True
    otherwise: bool = field(default=False, compare=False)
    """The user exists and logs in by another way, such as a password."""

    def lines(self) -> list[str]:
        """The SQL statements that are in effect."""
        done = (self.exists, self.known_by_socket, self.granted)
        return list(itertools.compress(statements(self), done))


def statements(state: DatabaseState) -> tuple[str, str, str]:
    """SQL for database, user and rights; the names come from the role, not from a user."""
    owner = f"'{state.user}'@'localhost'"
    return (
        f"CREATE DATABASE `{state.database}`",
        f"CREATE OR REPLACE USER {owner} IDENTIFIED VIA unix_socket",
        f"GRANT ALL PRIVILEGES ON `{state.database}`.* TO {owner}",
    )


def plan(have: DatabaseState, want: DatabaseState) -> list[Step[DatabaseState]]:
    """The user before its rights: replacing a user removes its rights."""
    create, identify, grant = statements(want)
    steps: list[Step[DatabaseState]] = []
    if not have.exists:
        steps.append(Step(f"create database {want.database}", lambda s: replace(s, exists=True), create))
    if not have.known_by_socket:
        reason = f"let the operating system's user {want.user} log in by the socket"
        consent = Consent("may_drop", CONSENT.format(want.user)) if have.otherwise else None
        steps.append(Step(reason, lambda s: replace(s, known_by_socket=True, granted=False), identify, consent=consent))
    if not (have.granted and have.known_by_socket):
        reason = f"give {want.user} all rights on {want.database}"
        steps.append(Step(reason, lambda s: replace(s, granted=True), grant))
    return steps
