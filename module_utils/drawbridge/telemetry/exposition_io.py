# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of metrics, which node_exporter's textfile collector reads."""

from __future__ import annotations

import os
from pathlib import Path


def write(folder: Path, file: str, content: str) -> None:
    """Replace the file, readable by all. Its reader sees the old text or the new one. Raises OSError.

    The folder may belong to another user, who must not lead root to a file elsewhere: no link is followed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f".{file}.partial"
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "w", encoding="utf-8") as out:
        os.fchmod(out.fileno(), 0o644)
        out.write(content)
    partial.replace(folder / file)
