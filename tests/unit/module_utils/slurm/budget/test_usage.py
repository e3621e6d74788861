# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.budget.usage import (
    Minutes,
    command,
    parsed,
)

# Slurm 24.11.5 and 26.05.5, captured with --oneliner; the limits of accounts and users are cut off
SHOWN = """\
Current Association Manager state
QOS Records
QOS=pa(2) UsageRaw=0.000000 GrpJobs=N(0) GrpJobsAccrue=N(0) GrpSubmitJobs=N(0) GrpWall=N(0.00) \
GrpTRES=cpu=N(0),mem=N(0),node=N(0),billing=N(0),gres/gpu=N(0) \
GrpTRESMins=cpu=100(0),mem=N(0),node=50(0),billing=N(0),fs/disk=N(0),gres/gpu=10(0),gres/gpumem=N(0) \
GrpTRESRunMins=cpu=N(0),mem=N(0),node=N(0),billing=N(0),gres/gpu=N(0) MaxWallPJ= MaxTRESPJ= Priority=0
QOS=pb(3) UsageRaw=5431.500000 GrpJobs=N(1) GrpJobsAccrue=N(3) GrpSubmitJobs=N(4) GrpWall=N(0.00) \
GrpTRES=cpu=N(1),mem=N(0),node=N(1),billing=N(1),gres/gpu=N(2) \
GrpTRESMins=cpu=N(90),mem=N(0),node=N(90),billing=N(90),fs/disk=N(0),gres/gpu=600(361),gres/gpumem=N(0) \
GrpTRESRunMins=cpu=N(2),mem=N(0),node=N(2),billing=N(2),gres/gpu=N(4) MaxWallPJ= Account Limits=proj \
MaxJobsPA=N(1) MaxTRESRunMinsPA=cpu=N(2),gres/gpu=N(9) User Limits=ada(2001) MaxTRESRunMinsPU=cpu=N(7)
"""
NONE = "Current Association Manager state\n\nNo QOS currently cached in Slurm.\n\n"


def test_each_qos_has_its_budget() -> None:
    found = parsed(SHOWN)
    assert [*found] == ["pa", "pb"]
    assert found["pb"].budget == {"gres/gpu": Minutes(600, 361, 4)}
    assert {tres: it.limit for tres, it in found["pa"].budget.items()} == {"cpu": 100, "node": 50, "gres/gpu": 10}


def test_running_jobs_take_what_they_may_still_use() -> None:
    assert parsed(SHOWN)["pb"].budget["gres/gpu"].left == 235
    assert Minutes(60, 61, 4).left == 0


def test_the_total_counts_everything_that_a_reset_makes_zero() -> None:
    """Billing weights of 0 leave UsageRaw at 0 while GPUs are used."""
    assert parsed(SHOWN)["pb"].total == 5431.5 + 90 * 3 + 361
    assert parsed(SHOWN)["pa"].total == 0


def test_other_lines_are_nothing() -> None:
    assert parsed(NONE) == {} == parsed("slurm_load_assoc_mgr_info error: Invalid user id\n")


def test_one_command_shows_several() -> None:
    assert command(["pa", "pb"]) == ("scontrol", "--oneliner", "show", "assoc_mgr", "flags=qos", "qos=pa,pb")
