# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""All dashboards, and where their JSON is."""

from __future__ import annotations

from pathlib import Path

from docs.dashboards import fabric, gate, job, nodes, site, slurm, storage
from docs.dashboards.model import Board

FOLDER = Path(__file__).resolve().parents[2] / "examples/grafana"
BOARDS: tuple[Board, ...] = tuple(module.BOARD for module in (site, fabric, job, nodes, gate, slurm, storage))


def name(board: Board) -> str:
    """The last word of its uid, which is also that of its file."""
    return board.uid.removeprefix("drawbridge-")


def file(board: Board) -> Path:
    """Its JSON."""
    return FOLDER / f"{name(board)}.json"
