# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of slurm_accounting: QOS, accounts with their shares and limits, and their users."""

from __future__ import annotations

from typing import Any

from ..model import Slurm
from .ends import CLOSED
from .model import NO_DECAY, SITE, Account, Amount, Budget, Qos


def accounting(slurm: Slurm) -> dict[str, Any]:
    """Arguments of slurm_accounting."""
    return {
        "cluster": slurm.cluster,
        "accounts": [
            {"name": account.name, **_users(account), **_ends(account), "terms": account_terms(account)}
            for account in slurm.accounts
        ],
        "qos": [{"name": qos.name, "terms": qos_terms(qos)} for qos in slurm.qos],
        "absent": {"accounts": list(slurm.absent.accounts), "qos": list(slurm.absent.qos)},
    }


def _users(account: Account) -> dict[str, Any]:
    if account.users == SITE:
        return {"keep_users": True}
    return {"users": list(account.users), **({"groups": list(account.groups)} if account.groups else {})}


def _ends(account: Account) -> dict[str, str]:
    return {"ends": account.ends} if account.ends else {}


def account_terms(account: Account) -> dict[str, str]:
    """The settings of an account by sacctmgr's names."""
    return _set_ones(
        {
            "parent": account.parent,
            "fairshare": str(account.fair_share),
            "qos": ",".join(account.qos),
            "defaultqos": account.default_qos,
            "GrpTRES": tres(account.total),
            "GrpJobs": limit(account.jobs),
            "GrpSubmitJobs": CLOSED if account.closed else limit(account.submits),
            "MaxTRES": tres(account.per_job),
            "MaxWall": account.max_time,
        }
    )


def qos_terms(qos: Qos) -> dict[str, str]:
    """The settings of a QOS by sacctmgr's names."""
    return _set_ones(
        {
            "Priority": str(qos.priority),
            "Preempt": ",".join(qos.preempt),
            "PreemptMode": qos.preempt_mode,
            "GrpTRES": tres(qos.total),
            "MaxTRES": tres(qos.per_job),
            "MaxTRESPerUser": tres(qos.per_user),
            "MaxJobsPerUser": limit(qos.jobs_per_user),
            "MaxSubmitJobsPerUser": limit(qos.submits_per_user),
            "MaxWall": qos.max_time,
            **(_extended(qos) if qos.extended else {}),
        }
    )


def _extended(qos: Qos) -> dict[str, str]:
    """The further settings. One that is the preset is written too: then Drawbridge keeps it."""
    decays = not (qos.budget and qos.budget.limits)
    return {
        "Flags": ",".join([*qos.flags, *([] if decays or NO_DECAY in qos.flags else [NO_DECAY])]),
        "GraceTime": str(qos.grace_time_s),
        "UsageFactor": qos.usage_factor or "1",
        "GrpTRESMins": minutes(qos.budget) if qos.budget else "",
    }


def minutes(budget: Budget) -> str:
    """A budget in minutes by TRES."""
    parts = {"gres/gpu": budget.gpu_hours, "cpu": budget.cpu_hours, "node": budget.node_hours}
    return ",".join(f"{key}={hours * 60}" for key, hours in parts.items() if hours >= 0)


def tres(amount: Amount) -> str:
    """An amount by TRES. GPUs are gres/gpu; sacctmgr silently ignores other names."""
    parts = {"cpu": amount.cpus, "mem": amount.memory_mib, "gres/gpu": amount.gpus, "node": amount.nodes}
    return ",".join(f"{key}={value}" for key, value in parts.items() if value >= 0)


def limit(number: int) -> str:
    """A number, or nothing for no limit."""
    return str(number) if number >= 0 else ""


def _set_ones(terms: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in terms.items() if value}
