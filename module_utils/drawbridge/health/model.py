# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Health of nodes in the intent: which findings drain a node, how many nodes at once, and one reboot."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.options import FILE, Shape, option

CHECK = Shape(
    r"[A-Za-z0-9][A-Za-z0-9 _-]{0,63}", "the name of a check", "as reports print it, such as GPU clocks or 60-passport"
)
CONDITION = Shape(
    r"[A-Za-z0-9]([A-Za-z0-9._/-]{0,125}[A-Za-z0-9])?", "the type of a node condition", "such as GpuNvlinkWatch"
)


@dataclass(frozen=True)
class Breaker:
    """Limits of drains by findings. A finding beyond them drains no node, until a person has looked."""

    site_percent: int = option("of all nodes that findings may keep drained", 10, low=1, high=100)
    unit_percent: int = option("of the nodes with the same leaf switches", 50, low=1, high=100)
    least: int = option("nodes that findings may always keep drained, in a unit and in the site", 2, low=1)


@dataclass(frozen=True)
class Reboot:
    """One reboot of a drained node whose fault a reboot may repair."""

    allowed: bool = option("true: Slurm reboots such a node once, when its jobs have ended", False)
    program: str = option("program on the nodes that reboots them (C(RebootProgram))", "/usr/sbin/reboot", pattern=FILE)
    again_days: int = option(
        "days in which a node is rebooted once; later the fault needs a repair", 7, low=1, high=365
    )


@dataclass(frozen=True)
class Health:
    """drawbridge_health: state checks at intervals and after jobs, and a controller that decides about drains."""

    breaker: Breaker = option("how many nodes findings may drain", Breaker())
    reboot: Reboot = option("whether a drained node is rebooted once", Reboot())
    report_only: tuple[str, ...] = option("checks whose findings are shown and drain no node", (), pattern=CHECK)
    conditions: tuple[str, ...] = option(
        "types of node conditions of others, such as of NVSentinel, that count as findings while they are True",
        (),
        pattern=CONDITION,
    )
    nhc: str = option("program of LBNL NHC on the nodes, which runs with its own file (empty: none)", "", pattern=FILE)
    cordons: bool = option("true: a cordon in Kubernetes by a person or a program drains the node in Slurm", False)
