# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The intent for `drawbridge status`: the same on all hosts."""

from __future__ import annotations

from typing import Any

from ..slurm.model import Slurm


def drawbridge_status(slurm: Slurm) -> dict[str, Any]:
    """The configuration of C(drawbridge status): gated partitions.

    It names no node, so that nodes that join or leave do not change it.
    """
    return {"gated": [part.name for part in slurm.partitions if part.gate]}
