# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What hosts need of projects: their filesets, quotas, pools and directories."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from ..slurm.accounting.ends import day, over
from ..storage.kinds import KINDS, shared
from .model import ARCHIVED, CLOSED, OPEN, REMOVED, STATES, Project, Projects
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


def on_day(projects: Projects, today: str) -> Projects:
    """Projects with their states on a day; without a day, with those of the intent."""
    own = (replace(it, state=state_on(it, today)) for it in projects.projects)
    return replace(projects, projects=tuple(own)) if today else projects


def project_storage(
    projects: Projects | None,
    filesystems: Mapping[str, Any],
    today: str,
    busy: Collection[str] | None = (),
    only: Collection[str] = (),
    deletes: bool = False,
    states: Collection[str] = STATES,
) -> Json:
    """The directories of projects on a day (C(today), as year-month-day).

    C(filesystems), those with filesets, each with C(device), C(mount), and options of the modules mm_fileset, mm_quota
    and mm_policy; C(directories), option of M(drawbridge.drawbridge.shared_directories) on C(host). Projects that are
    C(busy), because Slurm has jobs of them, are left out unless they are open. C(only) names some projects, and
    C(states) their states. Filesets of removed projects are deleted if this run C(deletes); other runs only unlink
    them. Raises ValueError for a name that no project has, and if it is not known which projects are busy.
    """
    if not projects:
        return {"filesystems": [], "directories": [], "host": ""}
    by_name = {it.name: state_on(it, today) for it in projects.projects}
    own = _chosen(projects, by_name, only, states)
    # Ansible before 2.19 makes an empty text of a value that is none
    if (busy is None or busy == "") and any(by_name[it.name] != OPEN for it in own):
        raise ValueError("Slurm's controller did not say which projects have jobs; run without --limit")
    own = [it for it in own if by_name[it.name] == OPEN or it.name not in (busy or ())]
    found: Json = {"filesystems": [], "directories": [], "host": projects.host}
    for each in shared(filesystems):
        here = [it for it in own if projects.filesystem_of(it) == each.mount]
        if here and KINDS[each.kind].filesets:
            options = _filesets(projects, here, by_name, {**LINKS, REMOVED: "absent" if deletes else "unlinked"})
            others = _others(projects, each.mount, here)
            found["filesystems"].append({"device": each.source, "mount": each.mount, **options, "others": others})
        elif here:
            found["directories"] += [_directory(projects, it, each.mount, by_name[it.name]) for it in here]
    return found


def _chosen(
    projects: Projects, by_name: Mapping[str, str], only: Collection[str], states: Collection[str]
) -> list[Project]:
    """Projects with a directory that a run is about. Raises ValueError for the name of no project."""
    if unknown := sorted({*only} - {*by_name}):
        raise ValueError(f"no project has the name {unknown[0]}; correct it, or describe the project")
    own = (it for it in projects.projects if it.directory and by_name[it.name] in states)
    return [it for it in own if not only or it.name in only]


def _others(projects: Projects, mount: str, here: Iterable[Project]) -> list[str]:
    """Projects of a file system with a pool that a run is not about."""
    names = {it.name for it in here}
    every = (it for it in projects.projects if projects.filesystem_of(it) == mount and it.name not in names)
    return [it.name for it in every if it.directory and it.directory.pool]


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
            # an archived one may have no fileset: a portal may archive a project that no run made
            if own and states[project.name] in (OPEN, CLOSED)
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
