# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The hand-over of a node as a file, for root alone until a person gives it away."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.converge import DeviceError
from . import bundle

RESULTS = Path("/var/lib/drawbridge/proof/results")


def write(file: Path, folder: str, texts: Mapping[str, str], now: float) -> None:
    """Make the file, a compressed archive with one folder. Raises DeviceError, also if there is one already."""
    import tarfile  # the timer's program needs it not, and a small Python lacks it

    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(file, flags, 0o600), "wb") as out, tarfile.open(fileobj=out, mode="w:gz") as archive:
            for name, text in texts.items():
                content = text.encode("utf-8", "replace")
                about = tarfile.TarInfo(f"{folder}/{name}")
                about.size, about.mode, about.mtime = len(content), 0o644, int(now)
                archive.addfile(about, io.BytesIO(content))
    except OSError as err:
        raise DeviceError(f"{file} can't be written: {err.strerror}") from err


def last_proof(node: str, results: Path = RESULTS) -> dict[str, Any] | None:
    """The node's part of the last proof that has it; None without one that can be read."""
    for path in sorted(results.glob("*.json"), reverse=True):
        try:
            found = bundle.of_proof(json.loads(path.read_text(encoding="utf-8")), node)
        except (OSError, ValueError, AttributeError, TypeError):
            continue
        if found:
            return found
    return None
