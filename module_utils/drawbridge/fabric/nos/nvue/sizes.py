# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""NVIDIA Cumulus Linux: sizes as NVUE shows them, `146.48 KB`."""

from __future__ import annotations

import re
from typing import Any

UNITS = {"Bytes": 1, "B": 1, "KB": 1024, "MB": 1024**2, "GB": 1024**3}
_SIZE = re.compile(r"([\d.]+) ?(Bytes|B|KB|MB|GB)?")


def size_bytes(size: Any) -> int:
    """Bytes, rounded as the text is. Raises ValueError."""
    match = _SIZE.fullmatch(str(size))
    if not match:
        raise ValueError(f"{size!r} is no size")
    return round(float(match[1]) * UNITS[match[2] or "B"])
