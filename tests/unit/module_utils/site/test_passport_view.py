# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.model import Mig
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.depends import Asked
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.model import (
    ClassProof,
    Proof,
    SiteLimit,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.passport_view import slurm_node
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm import view as slurm_view
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.nodes.ready_layer import (
    SLURM_NODE_READY,
)

from tests.unit.module_utils.site.test_refused import site

LAB = load(site("lab"))
PROOF = Proof(classes={"h100": ClassProof(passport=True)}, most_days=90)
assert LAB.fabric
FABRIC = LAB.fabric


def asked(proof: Proof = PROOF, nodes: Any = LAB.nodes, fabric: Any = FABRIC, name: str = "gpu01") -> Asked:
    (file,) = slurm_node(nodes, LAB.slurm, proof, fabric, name, True)["passport"]
    assert file["path"] == "/etc/drawbridge/passport.json"
    return Asked.parse(file["content"])


def test_a_node_whose_class_asks_for_a_passport_knows_what_it_depends_on() -> None:
    found = asked()
    assert (found.node, found.most_days, found.rails["rail0"]) == ("gpu01", 90, "mlx5_0")
    assert [found.driver, found.gpus, found.gpu_key] == [
        *("/sys/module/nvidia/version", "/proc/driver/nvidia/gpus/*/information", "GPU UUID"),
    ]
    assert asked(name="gpu02").intent == found.intent


def test_its_readiness_asks_the_passports_program() -> None:
    ready = slurm_node(LAB.nodes, LAB.slurm, PROOF, FABRIC, "gpu01", True)["ready"]
    assert ready["passport"] == "/usr/local/sbin/drawbridge-passport"
    assert ready.keys() <= {*SLURM_NODE_READY.viewed}


@pytest.mark.parametrize("proof", [None, Proof(), Proof(classes={"h100": ClassProof(socket_memory_gb_s=200)})])
def test_other_nodes_get_nothing_of_it(proof: Proof | None) -> None:
    plain = slurm_view.slurm_node(LAB.nodes, LAB.slurm, "gpu01", True)
    assert slurm_node(LAB.nodes, LAB.slurm, proof, FABRIC, "gpu01", True) == {**plain, "passport": []}


def test_a_passport_of_whole_gpus_is_valid_after_they_are_divided() -> None:
    """GPUs are measured before that."""
    build = LAB.nodes.classes["h100"]
    divided = replace(build, gpus=replace(build.gpus, mig=Mig({"3g.40gb": 2})))
    assert asked(nodes=replace(LAB.nodes, classes={"h100": divided})).intent == asked().intent


def test_a_new_machine_or_network_is_another_intent_and_a_new_limit_is_none() -> None:
    build = LAB.nodes.classes["h100"]
    nodes = replace(LAB.nodes, classes={"h100": replace(build, memory_mib=build.memory_mib + 1)})
    fabric = replace(FABRIC, host_mtu_bytes=FABRIC.host_mtu_bytes - 100)
    strict = replace(PROOF, limits=(SiteLimit("GEMM", "700"),), seconds=30, most_days=1)
    first = asked().intent
    assert first not in (asked(nodes=nodes).intent, asked(fabric=fabric).intent, asked(fabric=None).intent)
    assert asked(strict).intent == first
