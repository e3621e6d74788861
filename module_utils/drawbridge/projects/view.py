# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What hosts need of projects: their filesets, quotas, pools and directories."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import date
from typing import Any

from ..slurm.accounting.ends import day, over
from ..storage.kinds import KINDS, shared
from .model import ARCHIVED, CLOSED, OPEN, REMOVED, Project, Projects
from .rules import group_of

Json = dict[str, Any]
KIB = 1024 * 1024
"""In one GiB."""
LINKS = {OPEN: "linked", CLOSED: "linked", ARCHIVED: "unlinked"}
"""States of filesets."""


def project_states(projects: Projects | None, today: str) -> Json:
    """Projects by state on a day (C(today), as year-month-day): C(open), C(closed), C(archived) and C(removed)."""
    found: dict[str, list[str]] = {state: [] for state in (OPEN, CLOSED, ARCHIVED, REMOVED)}
    for project in projects.projects if projects else ():
        found[state_on(project, today)].append(project.name)
    return found


def state_on(project: Project, today: str) -> str:
    """The state of a project on a day. It is open until its last day is over."""
    ended = project.state == OPEN and over(project.ends, day(today) or date.min)
    return CLOSED if ended else project.state


def project_storage(
    projects: Projects | None,
    filesystems: Mapping[str, Any],
    today: str,
    busy: Collection[str] = (),
    only: Collection[str] = (),
    deletes: bool = False,
) -> Json:
    """The directories of projects on a day (C(today), as year-month-day).

    C(filesystems), those with filesets, each with C(device), C(mount), and options of the modules mm_fileset, mm_quota
    and mm_policy; C(directories), option of M(drawbridge.drawbridge.shared_directories) on C(host). Projects that are
    C(busy), because Slurm has jobs of them, are left out unless they are open. C(only) names some projects. Filesets of
    removed projects are deleted if this run C(deletes); other runs only unlink them.
    """
    if not projects:
        return {"filesystems": [], "directories": [], "host": ""}
    states = {it.name: state_on(it, today) for it in projects.projects}
    chosen = [it for it in projects.projects if it.directory and (not only or it.name in only)]
    own = [it for it in chosen if it.name not in busy or states[it.name] == OPEN]
    found: Json = {"filesystems": [], "directories": [], "host": projects.host}
    for each in shared(filesystems):
        here = [it for it in own if projects.filesystem_of(it) == each.mount]
        if here and KINDS[each.kind].filesets:
            options = _filesets(projects, here, states, {**LINKS, REMOVED: "absent" if deletes else "unlinked"})
            found["filesystems"].append({"device": each.source, "mount": each.mount, **options})
        elif here:
            found["directories"] += [_directory(projects, it, each.mount, states[it.name]) for it in here]
    return found


def _filesets(projects: Projects, here: Iterable[Project], states: Mapping[str, str], links: Mapping[str, str]) -> Json:
    rows = [(it, it.directory) for it in here]
    return {
        "filesets": [
            {
                "name": project.name,
                "junction": projects.folder_of(project),
                "state": links[states[project.name]],
                "inode_limit": own.inodes,
                "owner": own.owner,
                "group": group_of(project) or "root",
                "mode": own.mode.rjust(4, "0"),
                "closed": states[project.name] == CLOSED,
            }
            for project, own in rows
            if own
        ],
        "quotas": [
            {"name": project.name, "block_kib": own.quota_gib * KIB, "inodes": own.inodes}
            for project, own in rows
            if own and states[project.name] != REMOVED
        ],
        "pools": [
            {"name": project.name, "pool": own.pool}
            for project, own in rows
            if own and own.pool and states[project.name] != REMOVED
        ],
    }


def _directory(projects: Projects, project: Project, mount: str, state: str) -> Json:
    """An archived or removed project's directory stays closed: what it has is for people to move or delete."""
    own = project.directory
    return {
        "path": projects.folder_of(project),
        "mount": mount,
        **({"owner": own.owner, "group": group_of(project) or "root", "mode": own.mode} if own else {}),
        "closed": state != OPEN,
    }
