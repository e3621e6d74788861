# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The file of the command C(drawbridge project): no secrets, no people and no nodes.

Each project is one line, with the values alone that differ from the defaults. 10,000 projects are 4 MB, and a change of
one changes one line.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Collection, Mapping
from typing import Any

from ..slurm.model import Slurm
from ..storage.kinds import with_filesets
from .accounts import like, live, namespace, own_qos
from .model import Project, Projects
from .rules import group_of

Json = dict[str, Any]
VERSION = 1
"""Of the lines' shape."""
SAME = ("name", "state", "ends", "partitions", "fair_share", "jobs", "submits", "max_time", "budget", "claims", "data")
"""Keys of a project that the command shows as they are."""


def project_command(slurm: Slurm, projects: Projects | None, filesystems: Mapping[str, Any]) -> Json:
    """Projects for the command C(drawbridge project).

    C(lines), as text: the first has C(version), C(cluster), C(data) and C(images) of all projects. Each other line is
    one project, by name. It is empty for a site without projects.
    """
    if not projects or not projects.projects:
        return {"lines": ""}
    gated = any(part.gate for part in slurm.partitions)
    head = {
        "version": VERSION,
        "cluster": slurm.cluster,
        "data": {it.name: it.path for it in projects.data},
        "images": _plain(projects.images),
    }
    filesets = [mount for mount, has in with_filesets(filesystems).items() if has]
    accounts = {it.name for it in live(projects)}
    own = sorted(projects.projects, key=lambda it: it.name)
    rows = [_entry(it, projects, filesets, gated and it.name in accounts) for it in own]
    return {"lines": "".join(f"{json.dumps(row, separators=(',', ':'))}\n" for row in [head, *rows])}


def _entry(project: Project, projects: Projects, filesets: Collection[str], gated: bool) -> Json:
    """One project. An absent key has the default."""
    found: Json = {key: _plain(value) for key in SAME if (value := getattr(project, key)) != _presets(Project)[key]}
    more: Json = {
        "namespace": namespace(project) if gated else "",
        "qos": [own_qos(project)] if project.budget else list(project.qos),
        "like": like(project) if project.budget else "",
        "total": _plain(project.total),
        "per_job": _plain(project.per_job),
        "directory": _directory(project, projects, filesets),
        "images": _plain(project.images),
    }
    return {**found, **{key: value for key, value in more.items() if value}}


def _directory(project: Project, projects: Projects, filesets: Collection[str]) -> Json:
    own = project.directory
    if not own:
        return {}
    mount = projects.filesystem_of(project)
    found: Json = {"path": projects.folder_of(project), "mount": mount, "owner": own.owner, "mode": own.mode}
    more = {"group": group_of(project), "quota_gib": own.quota_gib, "inodes": own.inodes, "fileset": mount in filesets}
    return {**found, **{key: value for key, value in more.items() if value}}


def _plain(value: Any) -> Any:
    """A part of the intent as plain data, without values that are those of its defaults."""
    if isinstance(value, tuple):
        return [_plain(it) for it in value]
    preset = _presets(type(value))
    shown = ((key, getattr(value, key)) for key in preset)
    return {key: _plain(it) for key, it in shown if it != preset[key]} if preset else value


@functools.cache
def _presets(kind: type) -> Json:
    """The defaults of a part of the intent; none of another value."""
    return {it.name: it.default for it in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else {}
