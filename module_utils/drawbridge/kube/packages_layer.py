# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The packages of kubelet and containerd."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..core.command import Command
from ..core.layer import Layer, Params, Work
from ..core.packages.apt import Apt
from ..core.pinned_packages.io import PinnedPackages
from ..core.pinned_packages.plan import PinnedState, plan
from ..nodes.use_io import NodeUse

SPEC: dict[str, Any] = {
    "packages": {"type": "dict", "required": True},
    "sources": {"type": "str", "default": ""},
    "path": {"type": "path", "default": "/etc/apt/sources.list.d/drawbridge-kubernetes.sources"},
    "slurm_node": {"type": "str", "required": True},
    "timeout_s": {"type": "float", "default": 900},
}


def work(params: Params, check: bool) -> Work[PinnedState]:
    """The packages in their versions, and their source."""
    packages = {name: str(version) for name, version in params["packages"].items()}
    run = Command(params["timeout_s"])
    want = PinnedState(packages, frozenset(packages), params["sources"])
    use = NodeUse(run, params["slurm_node"])
    return Work(PinnedPackages(run, want, Path(params["path"]), Apt(run)), plan, want, in_use=use.busy)


KUBE_PACKAGES = Layer(SPEC, work, viewed=("packages", "sources"))
