# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight.across_findings import across
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight.model import Answer

from tests.unit.module_utils.preflight_site import SOUND, WANT, planted

HOSTS = ("gpu01", "gpu02", "gpu03")


def site(**odd: Any) -> list[Answer]:
    """Three sound nodes; the last one has other answers."""
    facts, want = odd.get("facts", SOUND), odd.get("want", WANT)
    last = Answer(HOSTS[-1], facts, want, odd.get("clock_s", (-0.3, 0.4)), odd.get("lost", ""))
    return [*(Answer(host, SOUND, WANT, (-0.4, 0.5)) for host in HOSTS[:-1]), last]


def found(answers: list[Answer]) -> list[tuple[str, str, str]]:
    return [(it.name, it.host, it.text) for it in across(answers)]


def test_equal_hosts_have_no_finding() -> None:
    assert found(site()) == []
    assert found([]) == []


def test_a_host_without_an_answer_is_unreachable_and_is_not_compared() -> None:
    assert found(site(facts={}, lost="No route to host")) == [("unreachable", "gpu03", "No route to host")]


def test_a_clock_is_off_only_if_no_delay_explains_it() -> None:
    assert found(site(clock_s=(299.0, 301.0))) == [("clock_off", "gpu03", "its clock is 299 s ahead")]
    assert found(site(clock_s=(-61.0, -60.05))) == [("clock_off", "gpu03", "its clock is 60 s behind")]
    assert found(site(clock_s=(-30.0, 1.0))) == []


def test_a_uid_or_gid_differs_from_that_of_most_hosts() -> None:
    assert found(site(facts=planted("users", slurm=[1001, 64030]))) == [
        ("uid_differs", "gpu03", "user slurm is 1001:64030, elsewhere 64030:64030")
    ]


def test_a_user_of_an_account_is_missing_only_where_jobs_run() -> None:
    without = {**SOUND, "users": {"slurm": [64030, 64030]}}
    assert found(site(facts=without)) == [("user_missing", "gpu03", "user ada does not exist")]
    assert found(site(facts=without, want={**WANT, "accounts": []})) == []


def test_drivers_are_compared_within_a_node_class() -> None:
    other = planted("gpus", drivers=["550.90.07"])
    text = "GPU driver 550.90.07, elsewhere 570.148.08"
    assert found(site(facts=other)) == [("gpu_driver_differs", "gpu03", text)]
    assert found(site(facts=other, want={**WANT, "class": "a100"})) == []
