# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The kernel behind the files of /sys that RoCE settings are written to (after Linux 6.12 and OFED's en_ecn.c).

A tree of plain files shows the state. `Kernel.write` is what the kernel does with a value: it takes it, or refuses.
"""

from __future__ import annotations

import errno
import os
import re
from typing import TYPE_CHECKING

from ..common import LIE, REFUSE

if TYPE_CHECKING:
    from pathlib import Path

MOST = {"default_roce_tos": 255, "np_cnp_dscp": 63, "cnp_dscp": 63, "np_cnp_prio": 7, "cnp_802p_prio": 7}
MOST |= dict.fromkeys(("rp_ai_rate", "rpg_ai_rate", "np_min_time_between_cnps", "min_time_between_cnps"), 2**32 - 1)
MODES = ("IB/RoCE v1", "RoCE v2")


class Kernel:
    """Takes writes to a tree; `written` lists them, and `faults` maps a pattern of paths to `refuse` or `lie`."""

    def __init__(self) -> None:
        """Begin without a write."""
        self.written: list[tuple[str, str]] = []
        self.faults: dict[str, str] = {}

    def write(self, path: Path, value: str) -> None:
        """Write a value as the kernel would. Raises OSError."""
        if not path.exists():
            _fail(errno.ENOENT, path)
        effect = next((effect for pattern, effect in self.faults.items() if re.search(pattern, str(path))), "")
        if effect == REFUSE:
            _fail(errno.EINVAL, path)
        if path.name == "default_roce_mode":
            if value not in MODES:
                _fail(errno.EINVAL, path)
        elif not value.isdigit() or int(value) > MOST.get(path.name, 1):
            _fail(errno.ERANGE if value.isdigit() else errno.EINVAL, path)
        if path.parent.name == "enable" and value == path.read_text().strip():
            _fail(errno.EPERM, path)  # a switch that is on already
        self.written.append((str(path), value))
        if effect != LIE:
            path.write_text(f"{value}\n")
            if path.name == "np_cnp_prio":
                (path.parent / "np_cnp_prio_mode").write_text("0\n")


def _fail(number: int, path: Path) -> None:
    raise OSError(number, os.strerror(number), str(path))
