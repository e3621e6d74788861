# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import (
    DeviceError,
    converge,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.io import Accounting
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


def test_every_change_names_the_cluster_before_what_is_set() -> None:
    device, run = accounting(RIGHT + charge("vision", "dan"), "ada|vision\ndan|vision\n")
    device.apply(plan(device.read(), WANT))
    assert run.asked[-2:] == [
        "sacctmgr -i modify user where name=dan cluster=lab set defaultaccount=chem",
        "sacctmgr -i delete user where name=dan account=vision cluster=lab",
    ]


def test_a_cluster_that_is_missing_is_added_by_its_name() -> None:
    device, run = accounting("")
    device.apply(plan(device.read(), WANT)[:2])
    assert run.asked[-2:] == [
        "sacctmgr -i add cluster lab",
        "sacctmgr -i add account vision,chem parent=root cluster=lab",
    ]


def test_qos_belong_to_no_cluster() -> None:
    want = AccountingState.of({}, qos={"urgent": {"Priority": "7"}})
    run = Answers(
        {"sacctmgr -nP list qos": "urgent|5||cluster||||||\n", "sacctmgr -nP list assoc": ROOT, "sacctmgr": ""}
    )
    device = Accounting(run, "lab", want)
    device.apply(plan(device.read(), want))
    assert run.asked[-1] == "sacctmgr -i modify qos where name=urgent set Priority=7"


def test_users_whom_the_system_does_not_know_are_told_apart() -> None:
    device, run = accounting(ROOT + "".join(ACCOUNTS.values()), passwd="dan:x:2\n")
    assert device.read().strangers == {"ada"}
    assert run.asked[-1] == "getent passwd ada dan"


def test_a_success_that_changed_nothing_is_a_failure() -> None:
    device, _ = accounting(ROOT)
    outcome = converge(device, plan, WANT)
    assert (
        outcome.error == "Slurm accounting reported success, but the change is not in effect: add account vision,chem"
    )
    assert not outcome.done


def test_silence_is_told_after_the_patience_is_over() -> None:
    refused = Answers({"sacctmgr": DeviceError("sacctmgr failed: Connection refused", rc=1)})
    assert "Connection refused" in Accounting(refused, "lab", WANT).silence(0)
    assert Accounting(Answers({"sacctmgr": "lab\n"}), "lab", WANT).silence(0) == ""
