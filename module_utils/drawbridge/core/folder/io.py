# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A folder of this machine, with a list of the files that Drawbridge wrote."""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import files
from ..converge import DeviceError, Step, converge
from ..file_entry import Entry
from .owner_io import require_own
from .plan import FolderState, plan

LIST = "files.txt"
PROGRESS = ("steps", "pending", "done", "left", "diff")
HEADER = "# Written by Drawbridge, which removes these files when they no longer belong here."


def written(path: str, content: Mapping[str, str], check: bool) -> dict[str, Any]:
    """An action's result once the folder has these files, by path. A failure names its cause, not each file left."""
    want = FolderState(dict(content))
    outcome = converge(Folder(path, want), plan, want, check=check)
    result = {**outcome.result(), "localhost": True, "failed": bool(outcome.error)}
    return {key: value for key, value in result.items() if not (outcome.error and key in PROGRESS)}


class Folder:
    """The folder. Files that are not in the list are never touched."""

    def __init__(self, path: str, want: FolderState) -> None:
        self.name, self._root, self._want = path, Path(path).absolute(), want

    def read(self) -> FolderState:
        """Files that an earlier run wrote.

        Raises DeviceError if a file to write exists and is not in the list, or if others may write the folder.
        """
        require_own(self._root, [LIST, *self._want.files])
        listed = self._listed()
        require_own(self._root, listed)
        foreign = [path for path in self._want.files if path not in listed and os.path.lexists(self._root / path)]
        if foreign:
            raise DeviceError(f"{self._root / foreign[0]} was not written by an earlier run; name another folder")
        found = {path: files.read(str(self._root / path)) for path in listed}
        return FolderState(
            {path: entry.content for path, entry in found.items() if entry and entry.content is not None}
        )

    def apply(self, steps: Sequence[Step[FolderState]]) -> None:
        """Write the list with all names, then the files, so that a killed run leaves no unlisted file."""
        owner, group = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(os.getegid()).gr_name
        written = {path for path, text in (step.payload for step in steps) if text is not None}
        self._list({*self._listed(), *written}, owner, group)
        for path, text in (step.payload for step in steps):
            if text is None:
                self._remove(path)
            else:
                files.write(str(self._root / path), Entry(text, "0644", owner, group))
        self._list(set(self._want.files), owner, group)

    def _listed(self) -> list[str]:
        """Paths in the list that are below the folder."""
        entry = files.read(str(self._root / LIST))
        lines = (entry.content or "").splitlines() if entry else []
        if entry and (not lines or lines[0] != HEADER):
            raise DeviceError(f"{self._root / LIST} was not written by an earlier run; name another folder")
        return [line for line in lines[1:] if line and not line.startswith("/") and ".." not in Path(line).parts]

    def _list(self, paths: set[str], owner: str, group: str) -> None:
        text = "".join(f"{line}\n" for line in (HEADER, *sorted(paths)))
        files.write(str(self._root / LIST), Entry(text, "0644", owner, group))

    def _remove(self, path: str) -> None:
        files.remove(str(self._root / path))
        for above in list((self._root / path).parents)[: len(Path(path).parts) - 1]:
            with contextlib.suppress(OSError):  # it has other files
                above.rmdir()
