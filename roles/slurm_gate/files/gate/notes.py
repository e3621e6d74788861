# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""State that the gate keeps on this host's disk, and the locks between its runs."""

from __future__ import annotations

import contextlib
import fcntl
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

STATE = Path("/var/lib/drawbridge/gate")
NODE = 0
"""Number of the node's lock; a job's lock has the job's number."""


class Notes:
    """Small JSON files, and one file whose bytes are locks."""

    def __init__(self, root: Path = STATE) -> None:
        self._root = root

    def read(self, name: str) -> dict[str, Any]:
        """A note; empty if there is none, or if a power cut damaged it."""
        try:
            found = json.loads((self._root / name).read_text())
        except (FileNotFoundError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def write(self, name: str, content: dict[str, Any]) -> None:
        """Replace a note atomically."""
        partial = self._root / f".{name}.partial"
        partial.write_text(json.dumps(content))
        partial.rename(self._root / name)

    def forget(self, name: str) -> None:
        """Remove a note."""
        (self._root / name).unlink(missing_ok=True)

    def names(self, prefix: str) -> list[str]:
        """Names of notes with this prefix."""
        return sorted(path.name for path in self._root.glob(f"{prefix}*"))

    @contextlib.contextmanager
    def locked(self, number: int, wait: bool = True) -> Iterator[bool]:
        """Hold a lock. Without `wait`, yield False if another process has it."""
        with (self._root / "lock").open("r+" if (self._root / "lock").exists() else "w+") as file:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB), 1, number)
            except (BlockingIOError, PermissionError):
                yield False
            else:
                yield True
