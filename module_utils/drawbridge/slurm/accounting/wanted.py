# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The state that the arguments of slurm_accounting describe, on a day and with the people of groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from . import people
from .ends import CLOSED, over
from .plan import AccountingState


def wanted(
    accounts: list[dict[str, Any]],
    qos: list[dict[str, Any]],
    absent: dict[str, list[str]],
    members: Mapping[str, Sequence[str]],
    today: date,
) -> AccountingState:
    """The state that the arguments describe. Raises ValueError for an unknown term or a wrong value."""
    kinds = (("account", "accounts"), ("qos", "qos"))
    to_delete = frozenset((kind, name) for kind, key in kinds for name in absent.get(key) or [])
    found = {it["name"]: people.users(it["users"], it.get("groups") or (), members) for it in accounts}
    users = {name: names for name, (names, _reasons) in found.items()}
    unread = {name: reasons for name, (_names, reasons) in found.items() if reasons}
    incomplete = frozenset(name for name, reasons in unread.items() if people.NO_GROUP in reasons.values())
    terms = {it["name"]: {**_texts(it["terms"]), **_closed(it.get("ends") or "", today)} for it in accounts}
    services = {it["name"]: _texts(it["terms"]) for it in qos}
    kept = frozenset(account["name"] for account in accounts if account["keep_users"])
    state = AccountingState.of(users, terms, services, to_delete=to_delete, site_users=kept)
    return replace(state, unread=unread, incomplete=incomplete)


def _closed(ends: str, today: date) -> dict[str, str]:
    return {"GrpSubmitJobs": CLOSED} if over(ends, today) else {}


def _texts(terms: dict[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in terms.items()}
