# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Accounts, users and QOS in the accounting database."""

from __future__ import annotations

from datetime import date
from typing import Any

from ...core.command import Command
from ...core.converge import DeviceError
from ...core.layer import Layer, Params, Unknown, Work, records
from ...core.spec import bare, documented
from .ends import day
from .io import Accounting, members
from .model import Absent
from .plan import AccountingState, plan
from .wanted import wanted

SPEC: dict[str, Any] = {
    "cluster": {"type": "str", "required": True},
    "accounts": records(
        name={"type": "str", "required": True},
        users={"type": "list", "elements": "str", "default": []},
        groups={"type": "list", "elements": "str", "default": []},
        keep_users={"type": "bool", "default": False},
        ends={"type": "str", "default": ""},
        terms={"type": "dict", "default": {}},
    ),
    "qos": records(
        required=False,
        name={"type": "str", "required": True},
        terms={"type": "dict", "default": {}},
    ),
    "absent": bare({**documented(Absent), "default": {}}),
    "today": {"type": "str", "default": ""},
}
SETTLE_S = 240
"""slurmdbd creates its tables at the first start."""


def work(params: Params, check: bool) -> Work[AccountingState]:
    """The part of the database that the intent declares."""
    run, accounts = Command(timeout_s=60), params["accounts"]
    found = members(run, (group for account in accounts for group in account["groups"]))
    today = max(date.today(), day(params["today"]) or date.min)
    try:
        want = wanted(accounts, params["qos"], params["absent"], found, today)
    except ValueError as err:
        raise DeviceError(f"wrong accounts or qos: {err}") from err
    accounting = Accounting(run, params["cluster"], want)
    if reason := accounting.unreachable(0 if check else SETTLE_S):
        raise Unknown(reason)
    return Work(accounting, plan, want)


SLURM_ACCOUNTING = Layer(SPEC, work)
