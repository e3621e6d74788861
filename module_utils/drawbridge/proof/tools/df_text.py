# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""How full file systems are, as df prints it."""

from __future__ import annotations

import re

COLUMNS = "pcent,ipcent,target"
_ROW = re.compile(r"^\s*(?:(\d+)%|-)\s+(?:(\d+)%|-)\s+(/.*)$", re.MULTILINE)


def used(text: str) -> dict[str, dict[str, int]]:
    """Percent in use of "bytes" and "inodes" by mount point; absent where the file system does not count them."""
    return {
        path: {what: int(percent) for what, percent in (("bytes", size), ("inodes", inodes)) if percent}
        for size, inodes, path in _ROW.findall(text)
    }
