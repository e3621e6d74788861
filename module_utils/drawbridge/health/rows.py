# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""How health uses each check: whose fault its findings are, where it runs and for how long. Pure.

The same check has findings that end by themselves and findings that need a reboot, so the findings say which.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..proof.checks import state_gpus as gpus
from ..proof.checks import state_instances as instances
from ..proof.checks import state_ports as ports
from ..proof.checks import state_rails as rails
from ..proof.checks import watch_rates, watch_system, watch_units
from ..proof.checks.check import Check, Program
from ..proof.checks.state import STATE_CHECKS
from ..proof.checks.watch import WATCH_CHECKS
from ..proof.node import ProofNode
from .finding import FABRIC, NODE, USER

HEALTH, PROLOG, EPILOG = "health", "prolog", "epilog"
"""Places: Slurm's health check at intervals, and what runs before and after a job."""
PLACES = (HEALTH, PROLOG, EPILOG)
NO_PROGRAM, SYSTEM_S, PORT_S, GPU_S = 0.0, 5.0, 10.0, 15.0
"""Modules of ports are read over a slow bus. A driver without persistence starts the GPUs for each call."""


@dataclass(frozen=True)
class Row:
    """One check. In the prolog and the epilog only checks run that read files alone: a job waits for them."""

    check: str
    fault: str = NODE
    where: tuple[str, ...] = (HEALTH,)
    seconds: float = NO_PROGRAM
    """Limit of each of its programs; a second try gets twice the time."""
    once: bool = False
    """Whether one look proves a finding. The log, and counters since the last look, say it only once."""


ROWS: tuple[Row, ...] = (
    Row(rails.LINK, FABRIC, PLACES),
    Row(rails.PCIE),
    Row(rails.MTU, where=PLACES),
    Row(rails.GID),
    Row(ports.OPTICS, seconds=PORT_S),
    Row(ports.ERRORS, FABRIC, seconds=PORT_S),
    Row(ports.DROPS, FABRIC, seconds=PORT_S),
    Row(gpus.PRESENT, seconds=GPU_S),
    Row("GPU product", seconds=GPU_S),
    Row(instances.WHOLE, seconds=GPU_S),
    Row("GPU PCIe", seconds=GPU_S),
    Row(gpus.LINKS, seconds=GPU_S),
    Row("GPU fabric", seconds=GPU_S),
    Row("GPU memory errors", seconds=GPU_S),
    Row("GPU memory rows", seconds=GPU_S),
    Row("GPU clocks", seconds=GPU_S),
    Row("GPU power limit", seconds=GPU_S),
    Row(gpus.PERSISTENCE, seconds=GPU_S),
    Row("GPU recovery", seconds=GPU_S),
    Row(gpus.LOG, seconds=GPU_S, once=True),
    Row(watch_rates.RATES, FABRIC, once=True),
    Row("GPU temperature", seconds=GPU_S),
    Row(watch_units.UNITS, seconds=SYSTEM_S),
    Row(watch_system.CLOCK, seconds=SYSTEM_S),
    Row(watch_system.MEMORY),
    Row(watch_system.ERRORS),
    Row(watch_system.LEFT, USER),
    Row(watch_system.DISKS),
    Row(watch_system.READ_ONLY),
    Row(watch_system.SPACE, USER, seconds=SYSTEM_S),
)
ROW: Mapping[str, Row] = {row.check: row for row in ROWS}
CHECKS: tuple[Check, ...] = (*STATE_CHECKS, *WATCH_CHECKS)


def checks_at(where: str) -> list[Check]:
    """The checks that run at this place, in the order of their tables."""
    return [check for check in CHECKS if where in ROW[check.name].where]


def limit_s(program: Program, checks: Iterable[Check], node: ProofNode) -> float:
    """Seconds of a program, from the rows of those of the checks that run it."""
    rows = [ROW[check.name] for check in checks if program in check.programs(node)]
    return min(program.seconds, max(row.seconds for row in rows))
