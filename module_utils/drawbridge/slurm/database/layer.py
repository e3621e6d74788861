# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The accounting database's server."""

from __future__ import annotations

from typing import Any

from ...core.command import Command
from ...core.consent import VARIABLES_ARGUMENT
from ...core.layer import Layer, Params, Unknown, Work
from ...core.units import Unit
from .io import Server
from .plan import DatabaseState, plan

SPEC: dict[str, Any] = {
    "database": {"type": "str", "default": "slurm_acct_db"},
    "user": {"type": "str", "default": "slurm"},
    "may_drop": {"type": "bool", "default": False},
    **VARIABLES_ARGUMENT,
}


def work(params: Params, check: bool) -> Work[DatabaseState]:
    """One database and its user."""
    run = Command(timeout_s=30)
    if not Unit("mariadb.service", run).read().active:
        raise Unknown("mariadb.service does not run yet")
    want = DatabaseState(params["database"], params["user"])
    return Work(Server(run, want), plan, want)


SLURM_DATABASE = Layer(SPEC, work)
