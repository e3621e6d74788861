# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Filesets of projects in one file system."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ....core.command import Command
from ....core.consent import VARIABLES_ARGUMENT, variable
from ....core.converge import DeviceError, Step
from ....core.layer import Layer, Params, Work, records
from ...owned import CLOSED, Owned
from ...owned_io import unknown_names
from ..filesystem_io import COMMON_SPEC
from ..io import Mm
from .io import Filesets
from .model import Consents, Fileset, FilesetsState, comment_of
from .plan import ALL, CLOSE, CREATE, FILESETS, OWNERS, plan

LINKED, UNLINKED, ABSENT = "linked", "unlinked", "absent"
SPEC: dict[str, Any] = {
    **COMMON_SPEC,
    "mount": {"type": "path", "required": True},
    "filesets": records(
        name={"type": "str", "required": True},
        junction={"type": "path", "required": True},
        state={"type": "str", "choices": [LINKED, UNLINKED, ABSENT], "default": LINKED},
        comment={"type": "str", "default": ""},
        inode_limit={"type": "int", "default": 0},
        inode_prealloc={"type": "int", "default": 0},
        owner={"type": "str", "default": "root"},
        group={"type": "str", "default": "root"},
        mode={"type": "str", "default": "0700"},
        closed={"type": "bool", "default": False},
    ),
    "adopt": {"type": "list", "elements": "str", "default": []},
    "delete": {"type": "list", "elements": "str", "default": []},
    "part": {"type": "str", "choices": [ALL, FILESETS, OWNERS], "default": ALL},
    "quotas": {"type": "bool", "default": True},
    **VARIABLES_ARGUMENT,
    "change_timeout_s": {"type": "int", "default": 3600},
}
MOUNTS = Path("/proc/self/mountinfo")
NAME = re.compile(r"(?!(?:root|new)$)[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}")
"""GPFS takes more characters; these mean nothing to a shell, to policies and in paths."""
MODE = re.compile(r"[0-7]{4}")


def wanted(params: Params) -> FilesetsState:
    """The state that the options describe. Raises DeviceError for options that contradict each other."""
    mount = params["mount"].rstrip("/")
    filesets = {it["name"]: _fileset(it, mount) for it in params["filesets"]}
    if len(filesets) < len(params["filesets"]):
        raise DeviceError("filesets: a name is listed twice")
    folders = {posixpath.dirname(it.junction) for it in filesets.values() if it and it.junction}
    return FilesetsState(filesets, frozenset(path for folder in folders for path in _below(mount, folder)))


def _fileset(it: Mapping[str, Any], mount: str) -> Fileset | None:
    name, junction = it["name"], it["junction"]
    if not NAME.fullmatch(name):
        raise DeviceError(f"filesets: {name!r} is no name of a fileset; use letters, digits, dots, dashes, underscores")
    if posixpath.normpath(junction) != junction or not junction.startswith(f"{mount}/"):
        raise DeviceError(f"filesets: junction of {name} is {junction}, but it must be a plain path below {mount}")
    if not MODE.fullmatch(it["mode"]):
        raise DeviceError(f"filesets: mode of {name} is {it['mode']!r}; write four octal digits in quotes")
    if not 0 <= it["inode_prealloc"] <= it["inode_limit"]:
        raise DeviceError(f"filesets: inode_prealloc of {name} must be at most its inode_limit, {it['inode_limit']}")
    if it["state"] == ABSENT:
        return None
    if it["state"] == UNLINKED:
        return Fileset(comment_of(name, it["comment"]))
    top = CLOSED if it["closed"] else Owned(it["owner"], it["group"], it["mode"])
    numbers = {"inodes": it["inode_limit"], "allocated": it["inode_prealloc"]}
    unknown = unknown_names(top)
    return Fileset(comment_of(name, it["comment"]), junction, top=top, unknown=unknown, **numbers)


def _below(mount: str, folder: str) -> list[str]:
    """The folder and those above it, up to the mount point."""
    found = []
    while folder != mount:
        found.append(folder)
        folder = posixpath.dirname(folder)
    return found


def work(params: Params, check: bool) -> Work[FilesetsState]:
    """One mmlsfileset for all of them, and one command for each change."""
    want = wanted(params)
    paths = (params["mm_path"], params["lock_wait_s"])
    mm, patient = (Mm(Command(params[limit]), *paths) for limit in ("timeout_s", "change_timeout_s"))
    device = Filesets(mm, patient, want, (params["device"], params["mount"].rstrip("/")), MOUNTS.read_text)
    consents = Consents(
        params["device"],
        frozenset(params["adopt"]),
        frozenset(params["delete"]),
        variable(params, "adopt"),
        variable(params, "delete"),
    )

    def planned(have: FilesetsState, state: FilesetsState) -> list[Step[FilesetsState]]:
        rest = {name: it for name, it in state.filesets.items() if name not in device.in_use}
        steps = plan(have, replace(state, filesets=rest), consents, params["part"])
        if params["quotas"] and any(step.payload.verb == CREATE for step in steps):
            faults = replace(have, faults=tuple(device.faults()))
            return plan(faults, replace(state, filesets=rest), consents, params["part"])
        return steps

    return Work(device, planned, want, results_of=partial(_done, device))


def _done(device: Filesets, steps: Sequence[Step[FilesetsState]]) -> dict[str, Any]:
    """Steps of filesets that nothing used; the others wait."""
    if not device.in_use:
        return {}
    done = [step.reason for step in steps if step.payload.verb == CLOSE or step.payload.name not in device.in_use]
    waits = [f"unlink fileset {name}: {why}" for name, why in device.in_use.items()]
    return {"steps": done, "changed": bool(done), "pending": waits}


MM_FILESET = Layer(SPEC, work)
