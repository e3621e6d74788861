# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of reports: a reader sees the old one or the new one, never a half."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from .fold import VERSION

KEPT = 50
"""Reports in a folder of reports; older ones are removed."""
READABLE = 0o644
"""A report has no secrets, and Prometheus' node exporter is another user."""


def write(path: Path, content: str) -> None:
    """Replace the file. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(content)
        Path(name).chmod(READABLE)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink()
        raise


def keep(folder: Path, name: str, content: str) -> None:
    """Add a file to the folder of reports. Names begin with the time, so the first are the oldest. Raises OSError."""
    write(folder / name, content)
    for old in sorted(folder.glob("*.json"))[:-KEPT]:
        old.unlink()


def earlier(path: str | None) -> dict[str, Any] | None:
    """The report of an earlier run in check mode; None if the file holds none."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8")) if path else None
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("version") == VERSION and found.get("check") else None
