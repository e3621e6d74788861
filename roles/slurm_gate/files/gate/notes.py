# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the gate remembers on this host between its runs, and the locks that keep its runs apart."""

from __future__ import annotations

import contextlib
import fcntl
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

STATE = Path("/var/lib/drawbridge/gate")
NODE = 0
"""The lock of this host's own node; every job has one of its own, by its number."""


class Notes:
    """Small JSON files, and one file whose bytes are locks."""

    def __init__(self, root: Path = STATE) -> None:
        self._root = root

    def read(self, name: str) -> dict[str, Any]:
        """A note; empty if there is none, or if it was cut short by a power failure."""
        try:
            found = json.loads((self._root / name).read_text())
        except (FileNotFoundError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def write(self, name: str, content: dict[str, Any]) -> None:
        """Replace a note at once."""
        partial = self._root / f".{name}.partial"
        partial.write_text(json.dumps(content))
        partial.rename(self._root / name)

    def forget(self, name: str) -> None:
        """Remove a note."""
        (self._root / name).unlink(missing_ok=True)

    def names(self, prefix: str) -> list[str]:
        """Notes whose names begin so."""
        return sorted(path.name for path in self._root.glob(f"{prefix}*"))

    @contextlib.contextmanager
    def locked(self, number: int, wait: bool = True) -> Iterator[bool]:
        """Let one program at a time do this. False if another does and nobody wants to wait."""
        with (self._root / "lock").open("r+" if (self._root / "lock").exists() else "w+") as file:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB), 1, number)
            except (BlockingIOError, PermissionError):
                yield False
            else:
                yield True
