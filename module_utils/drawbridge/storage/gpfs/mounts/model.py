# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A file system that nodes mount. Nodes read this part of the model alone."""

from __future__ import annotations

from dataclasses import dataclass

from ....core.options import PATH, Shape, option

DEVICE = Shape(
    r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}",
    "the device name of a file system",
    "at most 63 letters, digits, dots, dashes and underscores, as mmlsfs prints it, such as fs1",
)


@dataclass(frozen=True)
class Filesystem:
    """A GPFS file system that nodes mount."""

    device: str = option("device name, as mmlsfs prints it", pattern=DEVICE)
    mount: str = option("its default mount point", pattern=PATH)
