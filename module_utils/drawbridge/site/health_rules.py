# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules between health and what it is about."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.faults import Fault
from ..core.rules import doubled
from ..health.controller.kube import NEVER
from ..health.model import Health
from ..health.rows import ROWS
from ..kube.model import Kube
from ..slurm.model import Slurm
from .health_view import REBOOT

_KEY = "drawbridge_health"


def nodes_look_at_intervals(slurm: Slurm, health: Health) -> Iterator[Fault]:
    """Without an interval the drain of a node would never end."""
    if not slurm.health.interval_s:
        reason = "with drawbridge_health, nodes must look at themselves again and again"
        yield Fault("drawbridge_slurm.health.interval_s", 0, reason, "write 300, or remove drawbridge_health")


def reported_checks_exist(slurm: Slurm, health: Health) -> Iterator[Fault]:
    """A misspelt name would let its check drain nodes."""
    yield from doubled(f"{_KEY}.report_only", [*health.report_only], "name each check once")
    known = {row.check for row in ROWS} | {script.name for script in slurm.scripts.health}
    for at, name in enumerate(health.report_only):
        if name not in known:
            reason = "no check and no script of drawbridge_slurm.scripts.health has that name"
            repair = f"use a name of docs/concepts/proof-checks.md, such as {sorted(known)[0]}"
            yield Fault(f"{_KEY}.report_only[{at}]", name, reason, repair)


def kubernetes_is_there(health: Health, kube: Kube | None) -> Iterator[Fault]:
    """Conditions and cordons are Kubernetes'."""
    yield from doubled(f"{_KEY}.conditions", [*health.conditions], "name each type once")
    for key in ("conditions", "cordons"):
        value = getattr(health, key)
        if value and not kube:
            reason = "the site has no drawbridge_kube, so its nodes have no Node objects"
            yield Fault(f"{_KEY}.{key}", value if value is True else [*value], reason, f"remove {key}")


def conditions_are_of_faults(health: Health) -> Iterator[Fault]:
    """Ready is True on a node that is well, and Drawbridge's own condition would keep its own drain."""
    for at, name in enumerate(health.conditions):
        if name in NEVER:
            reason = "a condition counts as a finding while it is True, and this one is no fault then"
            yield Fault(f"{_KEY}.conditions[{at}]", name, reason, "remove it")


def reboots_have_one_program(slurm: Slurm, health: Health) -> Iterator[Fault]:
    """A line of the site's own would win silently."""
    own = slurm.settings.get(REBOOT, health.reboot.program)
    if health.reboot.allowed and own != health.reboot.program:
        reason = f"{_KEY}.reboot.program is {health.reboot.program}"
        yield Fault(
            f"drawbridge_slurm.settings.{REBOOT}", own, reason, f"set {_KEY}.reboot.program: {own}, or remove it"
        )


RULES = (
    nodes_look_at_intervals,
    reported_checks_exist,
    kubernetes_is_there,
    conditions_are_of_faults,
    reboots_have_one_program,
)
