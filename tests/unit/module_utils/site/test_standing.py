# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.standing import (
    missing,
    release_faults,
    sound,
    tag_faults,
    without_hosts,
)

from tests.unit.module_utils.site.test_refused import site

PLAYBOOKS = ("site", "slurm", "nic")


def test_an_inventory_without_hosts_is_refused_by_its_name() -> None:
    assert without_hosts(["inventories/mien"]).value == "inventories/mien"
    assert without_hosts([]).value == "none"
    assert missing("inventories/mien").repair == "correct the path, or name yours: -i inventories/mine"


@pytest.mark.parametrize(
    ("core", "python", "reasons"),
    [
        ("2.16.14", (3, 12), []),
        ("2.21.0rc1", (3, 13, 5), []),
        ("2.15.13", (3, 11), ["Drawbridge needs 2.16 or later", "Drawbridge needs 3.12 or later"]),
        ("2.9.27", (3, 12), ["Drawbridge needs 2.16 or later"]),
    ],
)
def test_too_old_programs_are_refused(core: str, python: tuple[int, ...], reasons: list[str]) -> None:
    assert [fault.reason.removesuffix(" on this machine") for fault in release_faults(core, python)] == reasons


@pytest.mark.parametrize(
    ("run", "skip", "repair"),
    [
        (["all"], [], ""),
        ([], [], ""),
        (["all", "apart"], ["visit"], ""),
        (["all"], ["molecule-notest", "notest", "molecule-idempotence-notest"], ""),
        (["all"], ["notest", "nic"], "run playbooks/nic.yml, or all without tags"),
        (["slurm"], [], "run playbooks/slurm.yml, or all without tags"),
        (["gpfs"], [], "run the playbook of that subsystem, or all without tags"),
        (["all"], ["nic"], "run playbooks/nic.yml, or all without tags"),
        (["apart"], ["visit"], "run the playbook of that subsystem, or all without tags"),
    ],
)
def test_tags_that_would_leave_out_the_run_are_refused(run: list[str], skip: list[str], repair: str) -> None:
    assert [fault.repair for fault in tag_faults(run, skip, PLAYBOOKS)] == ([repair] if repair else [])


def test_a_check_says_what_it_stood_on() -> None:
    said = sound(load(site("lab")), ["inventories/lab"], 3)
    assert said == "the intent of inventories/lab is sound: 4 nodes, 3 switches, drawbridge_gpfs, drawbridge_kube"
