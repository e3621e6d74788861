# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""slurmctld and its files."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...core.command import Command
from ...core.consent import VARIABLES_ARGUMENT
from ...core.converge import Settle
from ...core.daemon.plan import DaemonState
from ...core.file_entry import STAGED_FILES_ARGUMENT, entries, paths
from ...core.layer import Layer, Params, Unknown, Work
from ...core.units import Unit
from ..language.topology import YAML_SINCE
from ..takeover import report, suggestion
from ..takeover.io import Site
from ..takeover.plan import TakeoverState, plan
from .io import Safeguards, Slurmctld
from .text import CONF
from .trial_io import Trial

SPEC: dict[str, Any] = {
    "files": STAGED_FILES_ARGUMENT,
    "release": {"type": "str", "default": ""},
    "prolog_wait_s": {"type": "float", "default": 60},
    "user": {"type": "str", "default": "slurm"},
    "scripts": {"type": "dict", "default": {}},
    "may_drop": {"type": "bool", "default": False},
    **VARIABLES_ARGUMENT,
}
UNIT = "slurmctld.service"
OVERRIDING = "/etc/slurm/topology.yaml"


def work(params: Params, check: bool) -> Work[DaemonState]:
    """The files, which a trial checks first, and the daemon."""
    run = Command(timeout_s=120)
    unit = Unit(UNIT, run)
    if not unit.read().installed:
        raise Unknown(f"{UNIT} is not installed yet")
    files, passive = entries(params["files"])
    once, at_start = (paths(params["files"], flag) for flag in ("once", "at_start"))
    want = TakeoverState(UNIT, files, passive=passive, once=once, at_start=at_start)
    wait_s = 0 if check else params["prolog_wait_s"]
    trial = Trial(timeout_s=60, user=params["user"])
    safe = Safeguards(CONF, params["release"], trial.check, wait_s, params["user"])
    release = params["release"]
    stale = [OVERRIDING] if release >= YAML_SINCE else []
    device = Slurmctld(unit, want, run, safe, Site(params["scripts"], stale, release=release))
    return Work(
        *(device, partial(plan, refresh="reconfigure"), want, Settle(timeout_s=30), device.busy),
        error_of=lambda error: report.with_refusal(error, device.taken_over, params["may_drop"], suggestion.intent),
        shown=lambda: report.text(device.taken_over, suggestion.intent),
    )


SLURM_CONFIG = Layer(SPEC, work)
