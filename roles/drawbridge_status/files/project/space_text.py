# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What stat prints of directories and their file systems. Pure."""

from __future__ import annotations

import re

from .model import Space

COMMANDS = (
    ("stat", "--file-system", "--format=%S|%b|%f|%c|%d|%n"),
    ("stat", "--format=%U|%G|%a|%n"),
)
"""The first is what df reads. Neither needs rights in the directory itself, only on the way to it."""
_ERROR = re.compile(r"^stat: cannot .*?'(?P<path>/[^']*)': (?P<why>.+)$", re.MULTILINE)


def spaces(filesystems: str, directories: str) -> dict[str, Space]:
    """Both outputs, by path. Lines of another shape are skipped."""
    owners = {row[3]: row[:3] for row in (line.split("|", 3) for line in directories.splitlines()) if len(row) == 4}
    found: dict[str, Space] = {}
    for row in (line.split("|", 5) for line in filesystems.splitlines()):
        if len(row) == 6 and all(word.isdigit() for word in row[:5]):
            size, blocks, free, files, files_free = map(int, row[:5])
            own = owners.get(row[5], ["", "", ""])
            numbers = (size * blocks, size * (blocks - free), files, max(0, files - files_free))
            found[row[5]] = Space(*numbers, owner=own[0], group=own[1], mode=own[2].rjust(4, "0") if own[2] else "")
    return found


def reasons(errors: str) -> dict[str, str]:
    """Why stat shows nothing, by path."""
    return {it["path"]: it["why"] for it in _ERROR.finditer(errors)}
