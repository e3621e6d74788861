# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a file system takes root's rights away (root squash): a directory that its owner has closed says so."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

MANY = 2000
"""So many entries are looked at, in two levels: homes are mostly there."""


def squashes_root(mount: str, me: int = 0) -> bool:
    """Whether root, or the user `me`, can't look into another's closed directory.

    No such directory, no proof, so the answer is no.
    """
    for path in closed(Path(mount), me):
        try:
            with os.scandir(path):
                return False
        except PermissionError:
            return True
        except OSError:
            continue
    return False


def closed(top: Path, me: int) -> Iterator[Path]:
    """Directories of others that their owner alone may read; the file system's own, if it is closed to root."""
    left, level = MANY, [top]
    for _depth in range(2):
        below = []
        for folder in level:
            try:
                entries = sorted(folder.iterdir())[:left]
            except OSError:
                yield folder
                continue
            left -= len(entries)
            below += [entry for entry in entries if _is_folder(entry)]
        yield from (entry for entry in below if _is_closed(entry, me))
        level = below


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def _is_closed(path: Path, me: int) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return found.st_uid != me and not found.st_mode & 0o077
