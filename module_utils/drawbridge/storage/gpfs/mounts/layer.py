# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""GPFS on a host: it runs with its settings, and its file systems are mounted; or none of it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ....core.command import Command
from ....core.layer import Layer, Params, Work
from ....core.spec import bare, elements
from ....core.units import Unit
from ....nodes.use_io import NodeUse
from ..config.text import canonical
from ..daemon_io import Daemon
from ..io import MM_PATH, Mm
from ..mmfsd import DOWN, IMMEDIATE
from .io import Client, Expected, Leaver
from .model import Filesystem
from .plan import ClientState, leave, plan

SPEC: dict[str, Any] = {
    "filesystems": bare({**elements(Filesystem), "required": True}),
    "state": {"type": "str", "choices": ["mounted", "absent"], "default": "mounted"},
    "cluster": {"type": "str", "default": ""},
    "settings": {"type": "dict", "default": {}},
    "node_class": {"type": "str", "default": ""},
    "slurm_node": {"type": "str", "default": ""},
    "mm_path": {"type": "path", "default": MM_PATH},
    "patience_s": {"type": "int", "default": 60},
    "settle_s": {"type": "int", "default": 300},
    "timeout_s": {"type": "int", "default": 120},
}
MOUNTS = Path("/proc/self/mountinfo")
MARKER = Path("/var/lib/drawbridge/gpfs-change")
"""Exists while Drawbridge's drain for a change of GPFS does."""
REASON = "drawbridge gpfs: GPFS restarts"
LOCK_WAIT_S = 120.0


def node_use(run: Command, slurm_node: str) -> NodeUse:
    """This node's jobs, and the drain for changes of GPFS."""
    return NodeUse(run, slurm_node, marker=MARKER, reason=REASON)


def work(params: Params, check: bool) -> Work[ClientState]:
    """GPFS of this host."""
    run = Command(params["timeout_s"])
    mm = Mm(run, params["mm_path"], LOCK_WAIT_S)
    daemon, use = Daemon(mm, MOUNTS.read_text), node_use(run, params["slurm_node"])
    if params["state"] == "absent":
        return _leave(daemon, use, run)
    # a run lets the admin host set these first, and some take effect at once
    settings = {name: value for name, value in params["settings"].items() if not (check and name in IMMEDIATE)}
    want = ClientState(
        {filesystem["device"]: filesystem["mount"] for filesystem in params["filesystems"]},
        settings={name: canonical(str(value)) for name, value in settings.items()},
    )
    expected = Expected(params["cluster"], params["node_class"], params["patience_s"], params["settle_s"])
    device = Client(daemon, want, MOUNTS.read_text, use, expected)
    planned = partial(_predicted, want) if check else plan
    return Work(device, planned, want, in_use=use.busy)


def _predicted(want: ClientState, have: ClientState, wanted: ClientState) -> Any:
    """The plan once the admin host has set what the cluster lacks."""
    return plan(replace(have, configured=want.settings), wanted)


def _leave(daemon: Daemon, use: NodeUse, run: Command) -> Work[ClientState]:
    """A node leaves only when no job, and no pod, can use its file systems any more."""
    why = use.undrained()
    if not why and Unit("kubelet.service", run).read().active:
        why = (
            "the kubelet runs, so pods may use the file systems; remove this node from Kubernetes first, which also"
            " waits until it is closed"
        )
    gone = ClientState({}, DOWN)
    return Work(Leaver(daemon), partial(leave, why_not=why), gone, in_use=use.busy)


MM_MOUNT = Layer(SPEC, work, viewed=("filesystems", "cluster", "settings", "node_class", "slurm_node"))
