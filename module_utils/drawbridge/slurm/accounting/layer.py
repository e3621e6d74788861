# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Accounts, users and QOS in the accounting database."""

from __future__ import annotations

from typing import Any

from ...core.command import Command
from ...core.converge import DeviceError
from ...core.layer import Layer, Params, Unknown, Work, records
from ...core.spec import bare, documented
from .io import Accounting
from .model import Absent
from .plan import AccountingState, plan

SPEC: dict[str, Any] = {
    "cluster": {"type": "str", "required": True},
    "accounts": records(
        name={"type": "str", "required": True},
        users={"type": "list", "elements": "str", "default": []},
        keep_users={"type": "bool", "default": False},
        terms={"type": "dict", "default": {}},
    ),
    "qos": records(
        required=False,
        name={"type": "str", "required": True},
        terms={"type": "dict", "default": {}},
    ),
    "absent": bare({**documented(Absent), "default": {}}),
}
SETTLE_S = 240
"""slurmdbd creates its tables at the first start."""


def wanted(accounts: list[dict[str, Any]], qos: list[dict[str, Any]], absent: dict[str, list[str]]) -> AccountingState:
    """The state that the arguments describe. Raises ValueError for an unknown term."""
    kinds = (("account", "accounts"), ("qos", "qos"))
    to_delete = frozenset((kind, name) for kind, key in kinds for name in absent.get(key) or [])
    users = {account["name"]: account["users"] for account in accounts}
    terms = ({item["name"]: _texts(item["terms"]) for item in items} for items in (accounts, qos))
    kept = frozenset(account["name"] for account in accounts if account["keep_users"])
    return AccountingState.of(users, *terms, to_delete=to_delete, site_users=kept)


def _texts(terms: dict[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in terms.items()}


def work(params: Params, check: bool) -> Work[AccountingState]:
    """The part of the database that the intent declares."""
    try:
        want = wanted(params["accounts"], params["qos"], params["absent"])
    except ValueError as err:
        raise DeviceError(f"wrong accounts or qos: {err}") from err
    accounting = Accounting(Command(timeout_s=60), params["cluster"], want)
    if reason := accounting.unreachable(0 if check else SETTLE_S):
        raise Unknown(reason)
    return Work(accounting, plan, want)


SLURM_ACCOUNTING = Layer(SPEC, work)
