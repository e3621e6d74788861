# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A file system that nodes mount. Nodes read this part of the model alone."""

from __future__ import annotations

from dataclasses import dataclass

from ....core.options import PATH, option

DEVICE = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}"


@dataclass(frozen=True)
class Filesystem:
    """A GPFS file system that nodes mount."""

    device: str = option("device name, as mmlsfs prints it", pattern=DEVICE)
    mount: str = option("its default mount point", pattern=PATH)
