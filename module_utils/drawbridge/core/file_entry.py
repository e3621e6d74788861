# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A file or directory of a host, and the module option `files`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A file, or a directory where `content` is None. `mode` as chmod writes it, such as "0644"."""

    content: str | None
    mode: str = "0644"
    owner: str = "root"
    group: str = "root"

    def lines(self, path: str) -> list[str]:
        """The entry as lines of a diff."""
        head = f"{path} {self.mode} {self.owner}:{self.group}"
        return [head] if self.content is None else [head, *(f"    {line}" for line in self.content.splitlines())]


FILES_ARGUMENT: dict[str, Any] = {
    "type": "list",
    "elements": "dict",
    "default": [],
    "options": {
        "path": {"type": "path", "required": True},
        "content": {"type": "str"},
        "mode": {"type": "str", "default": "0644"},
        "owner": {"type": "str", "default": "root"},
        "group": {"type": "str", "default": "root"},
        "passive": {"type": "bool", "default": False},
    },
}
"""The option `files` of a module."""

DAEMON_FILES_ARGUMENT = {
    **FILES_ARGUMENT,
    "options": {**FILES_ARGUMENT["options"], "once": {"type": "bool", "default": False}},
}
"""The same with directories that keep their owner and mode if they exist."""

STAGED_FILES_ARGUMENT = {
    **DAEMON_FILES_ARGUMENT,
    "options": {**DAEMON_FILES_ARGUMENT["options"], "at_start": {"type": "bool", "default": False}},
}
"""The same for a daemon that reads some files only when it starts and the others at a refresh too."""


def paths(files: Sequence[Mapping[str, Any]], flag: str) -> frozenset[str]:
    """The paths that have a flag."""
    return frozenset(file["path"] for file in files if file[flag])


def entries(files: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Entry], frozenset[str]]:
    """The value of the option `files` by path, and its passive paths."""
    found = {file["path"]: Entry(file["content"], file["mode"], file["owner"], file["group"]) for file in files}
    return found, paths(files, "passive")
