# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Jobs and drains of all nodes, read once for a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...core.command import Command, Run
from ...core.converge import Step
from ...core.layer import Layer, Params, Work
from ...nodes.use import ClusterUse
from ...nodes.use_io import cluster_use

SPEC: dict[str, Any] = {"timeout_s": {"type": "int", "default": 30}}


@dataclass(frozen=True)
class _Nothing:
    """This layer owns nothing."""

    def lines(self) -> list[str]:
        return []


class _Slurm:
    """slurmctld, which is only read."""

    name = "Slurm"

    def __init__(self, run: Run) -> None:
        self._run = run
        self.use = ClusterUse()

    def read(self) -> _Nothing:
        self.use = cluster_use(self._run)
        return _Nothing()

    def apply(self, steps: Sequence[Step[_Nothing]]) -> None:
        """Nothing is planned."""


def work(params: Params, check: bool) -> Work[_Nothing]:
    """Ask slurmctld. That it does not answer is a result, and no failure."""
    del check
    device = _Slurm(Command(timeout_s=params["timeout_s"]))
    return Work(device, lambda have, want: [], _Nothing(), results_of=lambda _: {"use": device.use.as_dict()})


SLURM_NODE_USE = Layer(SPEC, work)
