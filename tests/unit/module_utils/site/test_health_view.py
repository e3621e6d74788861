# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.settings import (
    Settings,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.model import Health, Reboot
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node.node_settings import (
    FILE,
    NodeSettings,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.model import ClassProof, Proof
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.health_view import (
    PLACE,
    node_health,
    node_looks,
    reboots,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load

from tests.unit.module_utils.site.test_refused import site

LAB = load(site("lab"))
PROOF = Proof(classes={"h100": ClassProof(passport=True)})
HEALTH = Health(report_only=("GPU clocks",), nhc="/usr/sbin/nhc")


def test_a_site_without_the_domain_has_neither_file() -> None:
    assert node_health(LAB.nodes, LAB.slurm, PROOF, None) == {}
    assert node_looks(LAB.nodes, LAB.fabric, None, "gpu01") == []


def test_the_program_of_a_node_reads_its_file() -> None:
    [file] = node_looks(LAB.nodes, LAB.fabric, HEALTH, "gpu01")
    assert (file["path"], PLACE) == (FILE, FILE)
    found = NodeSettings.parse(file["content"])
    assert (found.nhc, found.report_only, found.node.name) == ("/usr/sbin/nhc", ("GPU clocks",), "gpu01")
    assert (len(found.node.rails), found.node.gpus, found.node.mtu_bytes) == (8, 8, 9000)


def test_the_program_of_the_controller_reads_its_view() -> None:
    view = node_health(LAB.nodes, LAB.slurm, PROOF, HEALTH, LAB.kube)
    found = Settings.parse(json.dumps(view))
    assert found.health == HEALTH
    assert dict(found.units) == {"leaf1": ("gpu01", "gpu02"), "leaf2": ("gpu03", "gpu04")}
    assert sorted(found.proofs) == ["gpu01", "gpu02", "gpu03", "gpu04"]
    assert LAB.kube and found.access and found.access["url"] == LAB.kube.api_server
    alone = Settings.parse(json.dumps(node_health(LAB.nodes, LAB.slurm, None, HEALTH)))
    assert (alone.access, sorted(alone.proofs)) == (None, [])


def test_slurm_gets_the_program_that_reboots_where_the_site_allows_it() -> None:
    allowed = Health(reboot=Reboot(allowed=True, program="/sbin/reboot"))
    assert reboots(LAB.slurm, Health()) == LAB.slurm
    assert reboots(LAB.slurm, allowed).settings["RebootProgram"] == "/sbin/reboot"
    own = replace(LAB.slurm, settings={"RebootProgram": "/opt/reboot"})
    assert reboots(own, allowed).settings == {"RebootProgram": "/opt/reboot", "ResumeTimeout": "1800"}
