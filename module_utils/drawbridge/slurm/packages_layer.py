# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm's packages."""

from __future__ import annotations

from typing import Any

from ..core.command import Command
from ..core.layer import Layer, Params, Work
from ..core.packages import apt, dnf
from ..core.packages.plan import PackageState, plan
from .user_io import WithUser

SPEC: dict[str, Any] = {
    "names": {"type": "list", "elements": "str", "required": True},
    "manager": {"type": "str", "choices": ["apt", "dnf"], "default": "apt"},
    "user_id": {"type": "int", "default": 0},
}
MANAGERS = {"apt": apt.Packages, "dnf": dnf.Packages}


def work(params: Params, check: bool) -> Work[PackageState]:
    """Packages, and Slurm's user with its id."""
    names, user_id, run = params["names"], params["user_id"], Command(timeout_s=900)
    packages = MANAGERS[params["manager"]](run, names)
    device = WithUser(packages, run) if user_id else packages
    return Work(device, plan, PackageState(frozenset(names), user_id=user_id))


SLURM_PACKAGES = Layer(SPEC, work, viewed=("names", "manager", "user_id"))
