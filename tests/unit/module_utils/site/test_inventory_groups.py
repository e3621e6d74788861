# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import checked

from tests.unit.module_utils.site.test_refused import patched, site

GROUPS = {
    "nodes": ["gpu01", "gpu02", "gpu03", "gpu04"],
    "switches": ["leaf1", "leaf2", "spine1"],
    "controllers": ["ctl"],
    "storage_admins": ["nsd1"],
    "infra": ["infra1"],
}


@pytest.mark.parametrize(
    ("admin", "change", "sentence"),
    [
        ("nsd1", {}, ""),
        # the site may configure infra nodes itself
        ("nsd1", {"infra": None}, ""),
        ("nsd1", {"nodes": ["gpu01", "gpu02", "gpu03"]}, "group nodes has no gpu04"),
        ("nsd1", {"nodes": [*GROUPS["nodes"], "gpu05"]}, 'nodes is "gpu05", but drawbridge_nodes.ranges does not'),
        ("nsd1", {"switches": ["leaf1", "spine1"]}, "group switches has no leaf2"),
        ("nsd1", {"controllers": ["ctl2"]}, "group controllers has no ctl"),
        ("nsd1", {"storage_admins": []}, "group storage_admins has no nsd1"),
        ("nsd1", {"infra": []}, "the inventory's group infra has no infra1"),
        ("nsd1", {"infra": ["infra1", "infra2"]}, 'infra is "infra2", but drawbridge_kube.infra does not have it'),
        (
            "nsd1",
            {"accounting": ["ctl"]},
            'group accounting is "ctl", but slurmdbd runs on the controller; take it out',
        ),
        ("nsd1", {"telemetry": ["ctl"]}, 'group telemetry is "ctl", but drawbridge_telemetry.switches.host does not'),
        ("nsd1", {"prometheus": ["ctl"]}, 'prometheus is "ctl", but drawbridge_telemetry.prometheus.host does not'),
        ("nsd[1-2]", {"storage_admins": ["nsd1", "nsd2"]}, ""),
        ("nsd[1-2]", {"storage_admins": ["nsd1"]}, "the inventory's group storage_admins has no nsd2"),
        ("nsd[1-2]", {"storage_admins": ["nsd[1-2]"]}, "the inventory's group storage_admins has no nsd[1-2]"),
        ("nsd[1-2]", {"storage_admins": ["nsd1", "nsd2", "nsd3"]}, '"nsd3", but drawbridge_gpfs.admin does not'),
    ],
)
def test_inventory_and_intent_have_the_same_hosts(admin: str, change: dict[str, Any], sentence: str) -> None:
    groups = {name: hosts for name, hosts in {**GROUPS, **change}.items() if hosts is not None}
    intent, found = checked(patched({"drawbridge_gpfs.admin": admin}), groups)
    faults = [str(fault) for fault in found]
    assert intent
    assert bool(faults) is bool(sentence) and sentence in " ".join(faults), faults


def test_a_part_of_the_site_lacks_hosts_but_has_none_of_its_own() -> None:
    assert checked(site("lab"), {"nodes": ["gpu02"]}, part=True)[1] == []
    _intent, [fault] = checked(site("lab"), {"nodes": ["gpu02", "gpu99"]}, part=True)
    assert 'group nodes is "gpu99", but drawbridge_nodes.ranges does not have it' in str(fault)


def test_groups_are_compared_beside_other_faults_unless_their_own_domain_is_broken() -> None:
    broken = patched({"drawbridge_slurm.cluster": 7, "drawbridge_fabric.roce.priority": 6})
    intent, faults = checked(broken, {**GROUPS, "nodes": ["gpu01"], "controllers": ["other"]})
    assert intent is None
    keys = [fault.key for fault in faults]
    assert keys[0] == "drawbridge_slurm.cluster"
    assert "drawbridge_nodes.ranges" in keys, "the group of nodes differs, and drawbridge_nodes is whole"
    assert "group controllers" not in keys, "drawbridge_slurm is broken, so that its controller is not known"
    assert any(key.startswith("drawbridge_fabric.cnp") for key in keys), "rules of a whole domain"
