# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Why a job waits for a budget, as sentences for its user. Pure.

The reasons have these names from 23.11 to 26.05.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from .period import following
from .usage import Minutes, Usage

RESOURCES = {
    "QOSGrpGRESMinutes": "gres/gpu",
    "QOSGrpCPUMinutesLimit": "cpu",
    "QOSGrpNodeMinutes": "node",
    "QOSGrpBillingMinutes": "billing",
}
"""The resource of each reason for which a job waits for the budget of its QOS."""
HOURS = {"gres/gpu": "GPU hours", "cpu": "CPU hours", "node": "node hours", "billing": "billing hours"}
OF_ACCOUNT = (
    "its time limit does not fit into a limit of its account, which Drawbridge does not set: "
    "sshare --all --parsable --format=account,user,grptresmins,grptresraw shows limit and use"
)
REASONS = {
    **dict.fromkeys(
        ("AssocGrpGRESMinutes", "AssocGrpCPUMinutesLimit", "AssocGrpNodeMinutes", "AssocGrpBillingMinutes"), OF_ACCOUNT
    ),
    "AssocGrpSubmitJobsLimit": (
        "its account has all jobs that it may have; a limit of 0 says that it is closed or has ended: "
        "sacctmgr show assoc format=account,user,grpsubmit"
    ),
}
"""Sentences of reasons that do not depend on numbers."""


def waits(reason: str, qos: str, usage: Usage | None, kind: str, today: date) -> str:
    """The sentence of a job that waits for the budget of its QOS; "" for another reason.

    `usage` is None if Slurm does not show it. `kind` is that of the budget's period; "" without one.
    """
    if reason not in RESOURCES:
        return ""
    tres = RESOURCES[reason]
    own = usage.budget.get(tres) if usage else None
    shown = f": {_numbers(own, HOURS[tres])}" if own else ""
    again = f"it begins anew on {following(kind, today).isoformat()}" if kind else "it does not begin anew"
    return f"its time limit does not fit into the budget of QOS {qos}{shown}; {again}. A shorter --time may fit"


def _numbers(own: Minutes, unit: str) -> str:
    running = f", and running jobs may use {hours(own.running)} more" if own.running else ""
    return f"{hours(own.used)} of {hours(own.limit)} {unit} are used{running}, so {hours(own.left)} are left"


def hours(minutes: int) -> str:
    """Hours with at most one decimal. Less than a tenth is none."""
    return f"{minutes // 6 / 10:.1f}".removesuffix(".0")


def period(kinds: Mapping[str, str], qos: str) -> str:
    """The kind of period of a QOS in a file of the site; "" without one, and for a kind of a newer version."""
    kind = kinds.get(qos, "")
    return kind if kind in ("month", "quarter", "year") else ""
