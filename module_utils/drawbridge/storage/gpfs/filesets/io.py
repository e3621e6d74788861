# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Filesets of one file system, read and changed on an admin host that has it mounted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ....core.converge import DeviceError, Step
from ...owned import CLOSED, OTHER, PARENT, Owned, unsafe_parent
from ...owned_io import give, make, seen
from ...processes_io import named_users
from ..daemon_io import OWN
from ..filesystem_io import attributes, require_mounted
from ..io import Mm
from .model import Fileset, FilesetsState
from .plan import CLOSE, COMMENT, CREATE, DELETE, FOLDER, INODES, LINK, TOP, UNLINK, Change
from .text import junctions, parse

_IN_USE, _LOCK = re.compile(r"busy|in use|open files?", re.IGNORECASE), re.compile(r"\block\b")
"""A refused unlink. IBM's page names open files as the reason, and no public transcript has the line."""


class Filesets:
    """The wanted filesets. Reads run with `mm`, changes with `patient`, whose time limit is longer."""

    name = "GPFS filesets"

    def __init__(
        self, mm: Mm, patient: Mm, want: FilesetsState, where: tuple[str, str], table: Callable[[], str]
    ) -> None:
        """`where` is the device and its mount point; `table` reads /proc/self/mountinfo."""
        self._mm, self._patient, self._want, self._table = mm, patient, want, table
        self._device, self._mount = where
        self.in_use: dict[str, str] = {}
        """Filesets that could not be unlinked because other hosts use them, with sentences."""

    def read(self) -> FilesetsState:
        """The wanted ones of one mmlsfileset, with owners and modes from the junctions."""
        require_mounted(self._mm, self._table, self._device, self._mount)
        rows = self._mm.read("mmlsfileset", self._device).get("", [])
        if not any(row["filesetName"] == "root" for row in rows):
            raise DeviceError(f"mmlsfileset does not list the root fileset of {self._device}, which always exists")
        try:
            found = parse(rows, self._want.filesets)
        except ValueError as err:
            raise DeviceError(f"mmlsfileset {self._device}: {err}") from err
        return FilesetsState(
            {name: self._seen(name, it) if it else None for name, it in found.items()},
            frozenset(path for path in self._want.parents if _is_folder(path)),
            hurdles=self._hurdles(found, junctions(rows)),
        )

    def faults(self) -> list[str]:
        """Why limits of filesets would have no effect, or df would not show them."""
        found = attributes(self._mm, self._device)
        return [*found.quota_faults(), *found.df_faults()]

    def apply(self, steps: Sequence[Step[FilesetsState]]) -> None:
        """In order. A fileset that other hosts use stays linked, and the others go on."""
        for step in steps:
            change: Change = step.payload
            if change.verb == FOLDER:
                make(change.name, PARENT)
            elif change.verb in (TOP, CLOSE):
                give(change.fileset.junction, change.fileset.top or Owned())
            elif change.name not in self.in_use:
                self._run(change)

    def _run(self, change: Change) -> None:
        verb, *arguments = _command(change)
        try:
            self._patient.change(verb, self._device, change.name, *arguments)
            if change.verb == LINK and change.fileset.top == CLOSED:
                # it may have been unlinked before runs closed directories first
                give(change.fileset.junction, CLOSED)
        except DeviceError as err:
            if change.verb != UNLINK or not _IN_USE.search(str(err)) or _LOCK.search(str(err)):
                raise
            path = change.fileset.junction
            self.in_use[change.name] = (
                f"{err}; find its users on the nodes that mount {self._device}: lsof +f -- {path}"
            )

    def _seen(self, name: str, found: Fileset) -> Fileset:
        """The fileset with its directory, and with its users if it must be unlinked."""
        wanted = self._want.filesets[name]
        if not found.junction:
            return found
        if wanted and wanted.junction:
            return replace(found, top=_top(found.junction, wanted.top or Owned()))
        return replace(found, top=_top(found.junction, CLOSED), users=named_users(found.junction, OWN))

    def _hurdles(self, found: dict[str, Fileset | None], linked: dict[str, str]) -> dict[str, str]:
        hurdles = {}
        for name, wanted in self._want.filesets.items():
            have, path = found[name], wanted.junction if wanted else ""
            if not path or (have and have.junction):
                continue
            if seen(path, Owned()):
                other = f"fileset {linked[path]} is linked there" if path in linked else "the path exists"
                hurdles[name] = f"fileset {name} can't be linked at {path}: {other}; move it away, or use another path"
            elif unsafe := _unsafe(path, self._want.parents):
                hurdles[name] = f"fileset {name} can't be linked at {path}: {unsafe}"
        return hurdles


def _unsafe(junction: str, parents: Iterable[str]) -> str:
    """Why a folder above a junction must not have one; empty for those that are safe or missing."""
    above = [path for path in sorted(parents) if junction.startswith(f"{path}/")]
    found = ((path, seen(path, PARENT)) for path in above)
    return next((why for path, it in found if it and (why := unsafe_parent(path, it))), "")


def _top(path: str, wanted: Owned) -> Owned:
    found = seen(path, wanted)
    if found is None or found == OTHER:
        raise DeviceError(f"GPFS has a fileset at {path}, but this host sees no directory there")
    return found


def _is_folder(path: str) -> bool:
    """Raises DeviceError for another kind of file."""
    found = seen(path, PARENT)
    if found == OTHER:
        raise DeviceError(f"{path} must be a directory, because filesets are linked in it; move the file away")
    return found is not None


def _command(change: Change) -> list[str]:
    """Verb and arguments, without the device and the fileset's name between them."""
    it = change.fileset
    limit = ["--inode-limit", f"{it.inodes}:{it.allocated}" if it.allocated else str(it.inodes)] if it.inodes else []
    return {
        CREATE: ["mmcrfileset", "-t", it.comment, "--inode-space", "new", *limit],
        COMMENT: ["mmchfileset", "-t", it.comment],
        INODES: ["mmchfileset", *limit],
        LINK: ["mmlinkfileset", "-J", it.junction],
        UNLINK: ["mmunlinkfileset"],
        DELETE: ["mmdelfileset", "-f"],
    }[change.verb]
