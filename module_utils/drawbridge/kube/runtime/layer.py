# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node's containerd."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...core.command import Command
from ...core.daemon.plan import DaemonState
from ...core.file_entry import Entry
from ...core.layer import Layer, Params, Work, records
from ...nodes.use_io import NodeUse
from ..unit_io import KubeUnit, with_header
from ..unit_plan import plan
from .text import CERTS_D, CONFIG_FILE, DROP_IN, HEADER, LIMITS, config

COMMAND_S = 120.0
SPEC: dict[str, Any] = {
    "systemd_cgroup": {"type": "bool", "default": True},
    "sandbox_image": {"type": "str", "required": True},
    "registries": records(
        required=False,
        path={"type": "path", "required": True},
        content={"type": "str", "required": True},
    ),
    "program": {"type": "path", "default": "/usr/bin/containerd"},
    "slurm_node": {"type": "str", "required": True},
}


def work(params: Params, check: bool) -> Work[DaemonState]:
    """Configuration, mirrors and unit."""
    run = Command(COMMAND_S)
    registries = {file["path"]: Entry(file["content"]) for file in params["registries"]}
    main_file = config(params["systemd_cgroup"], params["sandbox_image"])
    own = {CONFIG_FILE: Entry(main_file), DROP_IN: Entry(LIMITS)}
    want = DaemonState("containerd.service", {**own, **registries}, passive=frozenset(registries))
    use, left = NodeUse(run, params["slurm_node"]), with_header(Path(CERTS_D), "*/*", HEADER)
    return Work(KubeUnit(want, run, params["program"], left), plan, want, in_use=use.busy)


KUBE_RUNTIME = Layer(SPEC, work, viewed=("sandbox_image", "registries"))
