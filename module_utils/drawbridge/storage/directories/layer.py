# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Directories on shared file systems, with their owners and modes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from ...core.layer import Layer, Params, Work
from ...core.spec import bare, elements
from .io import Folders
from .model import Directory
from .plan import Directories, plan, wanted

SPEC: dict[str, Any] = {"directories": bare({**elements(Directory), "required": True})}
MOUNTS = Path("/proc/self/mountinfo")


def work(params: Params, check: bool) -> Work[Directories]:
    """The directories of a host."""
    directories = [Directory(**each) for each in params["directories"]]
    device = Folders(directories, MOUNTS.read_text)
    want = Directories({each.path: wanted(each) for each in directories})
    return Work(device, partial(plan, directories=directories), want)


SHARED_DIRECTORIES = Layer(SPEC, work)
