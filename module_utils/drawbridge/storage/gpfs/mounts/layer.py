# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The file systems that a host mounts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ....core.command import Command
from ....core.layer import Layer, Params, Work
from ....core.spec import bare, elements
from ..io import MM_PATH, Mm
from ..model import Filesystem
from .io import LocalMounts
from .plan import Mounts, plan

SPEC: dict[str, Any] = {
    "filesystems": bare({**elements(Filesystem), "required": True}),
    "cluster": {"type": "str", "default": ""},
    "mm_path": {"type": "path", "default": MM_PATH},
    "patience_s": {"type": "int", "default": 60},
    "timeout_s": {"type": "int", "default": 120},
}
MOUNTS = Path("/proc/self/mountinfo")


def work(params: Params, check: bool) -> Work[Mounts]:
    """The mounts of this host."""
    want = Mounts({filesystem["device"]: filesystem["mount"] for filesystem in params["filesystems"]})
    mm = Mm(Command(params["timeout_s"]), params["mm_path"])
    device = LocalMounts(mm, want, MOUNTS.read_text, params["cluster"], patience_s=params["patience_s"])
    return Work(device, plan, want)


MM_MOUNT = Layer(SPEC, work)
