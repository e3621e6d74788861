# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What programs know of budgets: the controller's, which begins them anew, and those that explain them to people."""

from __future__ import annotations

from typing import Any

from ..accounting.model import PERIODS
from ..model import Slurm


def periods(slurm: Slurm) -> dict[str, str]:
    """The kind of period of each QOS whose budget begins anew."""
    budgets = {qos.name: qos.budget for qos in slurm.qos if qos.budget and qos.budget.limits}
    return {name: budget.period for name, budget in budgets.items() if budget.period != PERIODS[0]}


def budget(slurm: Slurm) -> dict[str, Any]:
    """The configuration of drawbridge-budget; empty for a site that needs none."""
    ends = {account.name: account.ends for account in slurm.accounts if account.ends}
    found = periods(slurm)
    return {"cluster": slurm.cluster, "periods": found, "ends": ends} if found or ends else {}
