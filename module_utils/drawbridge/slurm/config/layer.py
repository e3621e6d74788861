# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""slurmctld and its files."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...core.command import Command
from ...core.converge import Settle
from ...core.daemon.plan import DaemonState, plan
from ...core.file_entry import STAGED_FILES_ARGUMENT, entries, paths
from ...core.layer import Layer, Params, Unknown, Work
from ...core.units import Unit
from .io import Safeguards, Slurmctld
from .trial_io import Trial

SPEC: dict[str, Any] = {
    "files": STAGED_FILES_ARGUMENT,
    "release": {"type": "str", "default": ""},
    "prolog_wait_s": {"type": "float", "default": 60},
}
UNIT, CONF = "slurmctld.service", "/etc/slurm/slurm.conf"


def work(params: Params, check: bool) -> Work[DaemonState]:
    """The files, which a trial checks first, and the daemon."""
    run = Command(timeout_s=120)
    unit = Unit(UNIT, run)
    if not unit.read().installed:
        raise Unknown(f"{UNIT} is not installed yet")
    files, passive = entries(params["files"])
    want = DaemonState(UNIT, files, passive=passive, at_start=paths(params["files"], "at_start"))
    wait_s = 0 if check else params["prolog_wait_s"]
    safe = Safeguards(CONF, params["release"], Trial(timeout_s=60).check, wait_s)
    device = Slurmctld(unit, want, run, safe)
    return Work(device, partial(plan, refresh="reconfigure"), want, Settle(timeout_s=30), device.busy)


SLURM_CONFIG = Layer(SPEC, work)
