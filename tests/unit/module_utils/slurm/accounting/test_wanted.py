# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.plan import plan
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.wanted import wanted

ABSENT: dict[str, list[str]] = {"accounts": [], "qos": []}
DAY = date(2027, 4, 1)


def account(name: str, **further: Any) -> dict[str, Any]:
    return {"name": name, "users": [], "keep_users": False, "terms": {}, **further}


def test_an_account_past_its_end_takes_no_jobs_whatever_its_limit() -> None:
    given = [
        account("over", ends="2027-03-31", terms={"GrpSubmitJobs": 50}),
        account("lasts", ends="2027-04-01", terms={"GrpSubmitJobs": 50}),
        account("ever", ends=""),
    ]
    found = wanted(given, [], ABSENT, {}, DAY).accounts
    assert [found[name]["GrpSubmitJobs"] for name in ("over", "lasts", "ever")] == ["0", "50", ""]


def test_an_account_without_one_of_its_groups_loses_no_user() -> None:
    given = [account("a", users=["ada"], groups=["there", "gone"]), account("b", groups=["there"])]
    want = wanted(given, [], ABSENT, {"there": ("ben", "Eve")}, DAY)
    have = wanted([account("a", users=["ada", "old"]), account("b", users=["old"])], [], ABSENT, {}, DAY)
    steps = plan(have, want)
    assert [step.reason for step in steps if not step.pending] == [
        "let ben charge a",
        "let ben charge b",
        "let old charge b no longer",
    ]
    assert [step.reason for step in steps if step.pending] == [
        "let the members of group gone charge a",
        "let Eve charge a",
        "let Eve charge b",
    ]


def test_numbers_of_yaml_are_texts_of_sacctmgr() -> None:
    found = wanted([], [{"name": "q", "terms": {"Priority": 5, "GraceTime": 90, "UsageFactor": 0.5}}], ABSENT, {}, DAY)
    assert (found.qos["q"]["GraceTime"], found.qos["q"]["UsageFactor"]) == ("90", "0.5")


@pytest.mark.parametrize("terms", [{"UsageFactor": "much"}, {"GraceTime": "an hour"}, {"Bogus": 1}])
def test_wrong_values_are_refused(terms: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        wanted([], [{"name": "q", "terms": terms}], ABSENT, {}, DAY)
