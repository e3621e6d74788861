# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A project: what the site declares, and what Slurm and its file system show of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from ..budget.usage import Usage

OPEN, CLOSED = "open", "closed"
OK, WARNING, CRITICAL, UNKNOWN = range(4)
"""Levels, and exit codes of the worst one, as those of nodes."""
GIB = 1 << 30


@dataclass(frozen=True)
class Directory:
    """Where its files are, and their limits."""

    path: str
    mount: str
    owner: str = "root"
    group: str = "root"
    mode: str = "2770"
    quota_gib: int = 0
    """0: no limit."""
    inodes: int = 0
    """0: no limit."""
    fileset: bool = False


@dataclass(frozen=True)
class Project:
    """One line of the site's file."""

    name: str
    state: str = OPEN
    ends: str = ""
    partitions: Sequence[str] = ()
    qos: Sequence[str] = ()
    """QOS of its jobs; with a budget, its own."""
    like: str = ""
    """The QOS whose settings its own one has."""
    fair_share: int = 1
    total: Mapping[str, int] = field(default_factory=dict)
    per_job: Mapping[str, int] = field(default_factory=dict)
    jobs: int = -1
    submits: int = -1
    max_time: str = ""
    budget: Mapping[str, Any] | None = None
    namespace: str = ""
    directory: Directory | None = None
    claims: Sequence[Mapping[str, Any]] = ()
    data: Sequence[str] = ()
    images: Mapping[str, Any] | None = None

    @staticmethod
    def of(line: Mapping[str, Any]) -> Project:
        """From its line. Keys of newer versions are ignored. Raises TypeError for a line that lacks a key."""
        shown = {one.name: line[one.name] for one in fields(Project) if one.name in line}
        if own := shown.get("directory"):
            shown["directory"] = Directory(**{one.name: own[one.name] for one in fields(Directory) if one.name in own})
        return Project(**shown)

    @property
    def period(self) -> str:
        """When its budget begins anew: month, quarter, year; "" for never and without a budget."""
        kind = str((self.budget or {}).get("period", ""))
        return kind if kind in ("month", "quarter", "year") else ""

    @property
    def own_qos(self) -> str:
        """The QOS with its budget; "" without one."""
        return self.qos[0] if self.budget and self.qos else ""

    @property
    def has_account(self) -> bool:
        """Whether Slurm has an account for it."""
        return self.state in (OPEN, CLOSED)


class Site(NamedTuple):
    """The site's file: what all projects share, and those that were read."""

    cluster: str = ""
    data: Mapping[str, str] = {}
    """Paths of data sets."""
    images: Mapping[str, Any] | None = None
    projects: Sequence[Project] = ()


class Account(NamedTuple):
    """Its account in Slurm."""

    submits: str | None = None
    """GrpSubmitJobs; 0: it takes no jobs; "": no limit; None: Slurm does not show it."""
    users: Sequence[str] = ()
    """Those that Slurm shows."""

    @property
    def takes_jobs(self) -> bool | None:
        """Whether it takes jobs; None if Slurm does not show that."""
        return None if self.submits is None else self.submits != "0"


class Space(NamedTuple):
    """What its directory shows. A file system with quotas of filesets answers with those."""

    total: int
    """Bytes."""
    used: int
    files: int
    """Most files; 0 if the file system has no such number."""
    files_used: int
    owner: str = ""
    group: str = ""
    mode: str = ""


class Waiting(NamedTuple):
    """A job that has not begun, or runs."""

    job: str
    user: str
    state: str
    reason: str


class Finding(NamedTuple):
    """A sentence that a person should read, and the next step."""

    level: int
    text: str
    step: str = ""


class Seen(NamedTuple):
    """All that is known of a project. None: it has no such part, or a note says why it is unknown."""

    project: Project
    account: Account | None = None
    known: bool = False
    """Whether Slurm's accounting answered; without an account then, Slurm has none."""
    usage: Usage | None = None
    space: Space | None = None
    jobs: Sequence[Waiting] | None = None
