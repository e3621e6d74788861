# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""NFS on a host: its client is installed, the intent's exports are mounted and answer, and no earlier ones are left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ...core.command import Command
from ...core.consent import VARIABLES_ARGUMENT, variable
from ...core.converge import Step
from ...core.layer import Layer, Params, Work
from ...core.packages import apt, dnf
from ...core.spec import bare, elements
from ...nodes.use_io import NodeUse
from .io import NfsMounts
from .model import Export
from .plan import Mount, NfsState, plan
from .text import mount_unit, options, owned, source

SPEC: dict[str, Any] = {
    "mounts": bare({**elements(Export), "required": True}),
    "package": {"type": "str", "default": "nfs-common"},
    "manager": {"type": "str", "choices": ["apt", "dnf"], "default": "apt"},
    "wait_s": {"type": "int", "default": 60},
    "probe_s": {"type": "float", "default": 10},
    "slurm_node": {"type": "str", "default": ""},
    "may_unmount": {"type": "bool", "default": False},
    **VARIABLES_ARGUMENT,
}
MANAGERS = {"apt": apt.Packages, "dnf": dnf.Packages}
UNITS = Path("/etc/systemd/system")
MOUNTS = Path("/proc/self/mountinfo")
MARKER = Path("/var/lib/drawbridge/nfs-change")
"""Exists while Drawbridge's drain for a change of NFS mounts does."""
REASON = "drawbridge nfs: mounts change"
PACKAGES_S = 900


def work(params: Params, check: bool) -> Work[NfsState]:
    """NFS of this host."""
    exports = [Export(**{**each, "options": tuple(each["options"])}) for each in params["mounts"]]
    # systemd kills mount and umount after wait_s each
    run = Command(2 * params["wait_s"] + 60)
    use = NodeUse(run, params["slurm_node"], marker=MARKER, reason=REASON)
    want = NfsState(
        {each.mount: Mount(source(each), owned(options(each))) for each in exports},
        {each.mount: mount_unit(each, params["wait_s"]) for each in exports},
    )
    packages = MANAGERS[params["manager"]](Command(PACKAGES_S), [params["package"]])
    device = NfsMounts(run, want, packages, params["package"], use, (UNITS, MOUNTS.read_text), params["probe_s"])
    return Work(device, partial(guarded, partial(_why_not, params, use)), want, in_use=use.busy)


def guarded(why_not: Callable[[], str], have: NfsState, want: NfsState) -> list[Step[NfsState]]:
    """The plan, in which nothing is unmounted while Slurm may start jobs here."""
    steps = plan(have, want)
    if not any(step.disturbs for step in steps):
        return steps
    why = why_not()
    return [replace(step, refused=step.refused or why) if step.disturbs else step for step in steps]


def _why_not(params: Params, use: NodeUse) -> str:
    why = "" if params["may_unmount"] or use.drained else use.undrained()
    return f"{why}, or allow it here: {variable(params, 'may_unmount')}: true" if why else ""


NFS_MOUNTS = Layer(SPEC, work, viewed=("mounts", "package", "manager", "wait_s"))
