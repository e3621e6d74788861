# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Jobs and drains of all nodes, read once for a run."""

from __future__ import annotations

from typing import Any

from ...core.command import Command
from ...core.layer import Layer, Params, Work
from ...core.reading import Nothing, reading
from ...nodes.use_io import cluster_use

SPEC: dict[str, Any] = {"timeout_s": {"type": "int", "default": 30}}


def work(params: Params, check: bool) -> Work[Nothing]:
    """Ask slurmctld. That it does not answer is a result, and no failure."""
    del check
    run = Command(timeout_s=params["timeout_s"])
    return reading("Slurm", lambda: {"use": cluster_use(run).as_dict()})


SLURM_NODE_USE = Layer(SPEC, work)
