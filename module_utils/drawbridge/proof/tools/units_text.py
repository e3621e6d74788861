# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""States of units, as `systemctl show` prints them."""

from __future__ import annotations

import re

SHOW = ("systemctl", "show", "--property=Id,LoadState,ActiveState,SubState")
RUNS, FAILED = ("active", "activating", "reloading"), "failed"


def states(text: str) -> dict[str, str]:
    """The state of each unit that is installed, without `.service`. One that systemd starts again and again has failed.

    Raises ValueError.
    """
    blocks = [dict(re.findall(r"^(\w+)=(.*)$", block, re.MULTILINE)) for block in re.split(r"\n\s*\n", text.strip())]
    if not all(block.keys() >= {"Id", "LoadState", "ActiveState", "SubState"} for block in blocks):
        raise ValueError(text)
    return {
        re.sub(r"\.service$", "", block["Id"]): FAILED if block["SubState"] == "auto-restart" else block["ActiveState"]
        for block in blocks
        if block["LoadState"] == "loaded"
    }
