# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm's books: who may charge which account."""

from __future__ import annotations

from typing import Any

from ...intent.model import Slurm


def books(slurm: Slurm) -> dict[str, Any]:
    """Arguments of slurm_accounting: the cluster and its accounts with their users."""
    accounts = [{"name": account.name, "users": list(account.users)} for account in slurm.accounts]
    return {"cluster": slurm.cluster, "accounts": accounts}
