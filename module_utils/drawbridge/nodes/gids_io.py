# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""GIDs of RDMA devices, from the kernel's tree."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path


def gids(rdma: Path) -> Iterator[tuple[int, str, str, str]]:
    """Index, GID, type and network device of every entry of a device such as /sys/class/infiniband/mlx5_0.

    The files of an empty entry give an error.
    """
    base = rdma / "ports/1"
    for path in base.glob("gids/*"):
        with contextlib.suppress(OSError):
            kind, ndev = ((base / "gid_attrs" / name / path.name).read_text().strip() for name in ("types", "ndevs"))
            yield int(path.name), path.read_text().strip(), kind, ndev
