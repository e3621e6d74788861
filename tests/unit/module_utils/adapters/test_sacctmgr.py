# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.adapters.sacctmgr import Books
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.converge import DeviceError, converge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.plans.books import BookState, plan

from .answers import Answers

WANT = BookState.of({"vision": ["ada"], "chem": ["dan"]})


def books(associations: str, users: str = "") -> tuple[Books, Answers]:
    run = Answers({"sacctmgr -nP list assoc": associations, "sacctmgr -nP list user": users, "sacctmgr": ""})
    return Books(run, "lab", WANT), run


def test_the_order_of_the_listing_is_no_difference() -> None:
    device, _ = books("chem|\nchem|dan\nroot|\nvision|\nvision|ada\n", "ada|vision\ndan|chem\n")
    assert device.read() == WANT


def test_every_change_names_the_cluster_before_what_is_set() -> None:
    device, run = books("root|\nvision|\nvision|ada\nvision|dan\nchem|\nchem|dan\n", "ada|vision\ndan|vision\n")
    device.apply(plan(device.read(), WANT))
    assert run.asked[-2:] == [
        "sacctmgr -i modify user where name=dan cluster=lab set defaultaccount=chem",
        "sacctmgr -i delete user where name=dan account=vision cluster=lab",
    ]


def test_a_cluster_that_is_missing_is_added_by_its_name() -> None:
    device, run = books("")
    device.apply(plan(device.read(), WANT)[:2])
    assert run.asked[-2:] == ["sacctmgr -i add cluster lab", "sacctmgr -i add account vision,chem cluster=lab"]


def test_a_success_that_changed_nothing_is_a_failure() -> None:
    device, _ = books("root|\n")
    outcome = converge(device, plan, WANT)
    assert outcome.error == "slurm books accepted the change but did not make it: add account vision,chem"
    assert not outcome.done


def test_silence_is_told_after_the_patience_is_over() -> None:
    refused = Answers({"sacctmgr": DeviceError("sacctmgr failed: Connection refused", rc=1)})
    assert "Connection refused" in Books(refused, "lab", WANT).silence(0)
    assert Books(Answers({"sacctmgr": "lab\n"}), "lab", WANT).silence(0) == ""
