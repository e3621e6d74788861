# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.io import (
    Accounting,
    members,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.plan import (
    AccountingState,
    plan,
)

from tests.unit.module_utils.answers import Answers

WANT = AccountingState.of({"vision": ["ada"], "chem": ["dan"]}, qos={"urgent": {"Priority": "5"}})
ROOT = "root|||1|normal||||||\n"
ACCOUNTS = {name: f"{name}||root|1|normal||||||\n" for name in ("chem", "vision")}


def charge(account: str, user: str) -> str:
    return f"{account}|{user}||1|normal||||||\n"


RIGHT = ROOT + ACCOUNTS["chem"] + charge("chem", "dan") + ACCOUNTS["vision"] + charge("vision", "ada")


def accounting(associations: str, users: str = "", passwd: str = "ada:x:1\ndan:x:2\n") -> tuple[Accounting, Answers]:
    run = Answers(
        {
            "sacctmgr -nP list assoc": associations,
            "sacctmgr -nP list user": users,
            "sacctmgr -nP list qos": "normal|0||cluster||||||\nurgent|5||cluster||||||\n",
            "sacctmgr": "",
            "getent passwd": passwd,
        }
    )
    return Accounting(run, "lab", WANT), run


def test_the_order_of_the_listing_is_no_difference() -> None:
    device, run = accounting(RIGHT, "ada|vision\ndan|chem\n")
    assert plan(device.read(), WANT) == []
    assert not [line for line in run.asked if line.startswith("getent")]


def test_a_cluster_that_is_missing_is_added_by_its_name() -> None:
    device, run = accounting("")
    device.apply(plan(device.read(), WANT)[:2])
    assert run.asked[-2:] == [
        "sacctmgr -i add cluster lab",
        "sacctmgr -i add account vision,chem parent=root cluster=lab",
    ]


class Groups(Answers):
    """The system has one group."""

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        found = super().__call__(argv, ok)
        return replace(found, rc=2) if argv[:2] == ["getent", "group"] and not found.out else found


def test_people_of_groups_are_read_once_and_a_missing_group_is_missing() -> None:
    table = {"getent group people": "people:x:7:ben\n", "getent group": "", "getent passwd": "ada:x:1:7::/:/bin/sh\n"}
    run = Groups(table)
    assert members(run, ["people", "gone", "people"]) == {"people": ("ada", "ben")}
    assert run.asked == ["getent group gone", "getent group people", "getent passwd"]


def test_without_groups_no_command_runs() -> None:
    run = Groups({})
    assert members(run, []) == {} and run.asked == []
