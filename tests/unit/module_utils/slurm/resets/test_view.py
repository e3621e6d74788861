# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.model import (
    Account,
    Budget,
    Qos,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.resets.settings import Settings
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.resets.view import budget, periods

from tests.unit.module_utils.lab import SLURM

QOS = (
    Qos("monthly", budget=Budget(gpu_hours=5, period="month")),
    Qos("once", budget=Budget(gpu_hours=5)),
    Qos("none", budget=Budget(period="year")),
    Qos("plain"),
)


def test_a_site_without_periods_and_ends_has_no_program() -> None:
    assert budget(SLURM) == {}
    assert budget(replace(SLURM, qos=QOS[1:])) == {}


def test_only_budgets_that_begin_anew_and_accounts_that_end_are_kept() -> None:
    assert periods(replace(SLURM, qos=QOS)) == {"monthly": "month"}
    site = replace(SLURM, qos=QOS, accounts=(Account("a", ends="2027-03-31"), Account("b", closed=True)))
    assert Settings.parse(json.dumps(budget(site))) == Settings(
        SLURM.cluster, {"monthly": "month"}, {"a": "2027-03-31"}
    )
