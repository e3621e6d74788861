# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.model import (
    ClassProof,
    Directory,
    Proof,
    SiteLimit,
    Tools,
    Training,
    Uplinks,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofRail
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.settings import Settings
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.proof_view import (
    node_proof,
    proof_node,
)

from tests.unit.module_utils.site.test_refused import CHANGES, in_full, patched, site

LAB = load(site("lab"))
BUILD = LAB.nodes.classes["h100"]
assert LAB.fabric and LAB.proof
PROOF = LAB.proof


def settings(proof: Proof = PROOF, site: Any = LAB, **more: Any) -> Settings:
    return Settings(node_proof(site.nodes, site.slurm, proof, **{"fabric": site.fabric, **more}))


def test_the_program_reads_what_the_view_writes() -> None:
    found = settings()
    assert list(found.placed) == ["gpu01", "gpu02", "gpu03", "gpu04"]
    it = found.node("gpu03")
    assert it == replace(proof_node("h100", BUILD, PROOF, LAB.fabric), name="gpu03")
    assert it.rails[7] == ProofRail("rail7", "mlx5_7", 400, 1)
    assert (it.mtu_bytes, it.tclass, it.priority, it.gpus, it.gpu_vendor) == (9000, 26 << 2 | 2, 3, 8, "nvidia")
    assert found.placed["gpu03"].leaves == ("leaf2",) * 8
    assert (found.partition, found.raw["cluster"], found.per_hour) == ("drawbridge-proof", "lab", 0)
    assert found.site(["gpu01", "gpu04"]).leaves == {"leaf1": ("leaf1",) * 8, "leaf2": ("leaf2",) * 8}


def test_a_class_with_divided_gpus_says_so_and_others_say_nothing() -> None:
    build = load(site("example-slices")).nodes.classes
    seen = {name: proof_node(name, it, Proof(), None) for name, it in build.items()}
    assert {name for name, it in seen.items() if it.divided} == {"slices"}
    assert {name for name, it in seen.items() if "instances" in it.as_dict()} == {"slices"}


def test_a_network_of_the_site_is_not_measured() -> None:
    found = settings(fabric=None)
    assert (found.node("gpu01").mtu_bytes, found.node("gpu01").priority) == (0, -1)
    assert found.site(list(found.placed)).units == {}


def test_what_a_class_must_prove_is_in_its_node_and_an_empty_tool_is_absent() -> None:
    training = Training("/opt/train", "4.5", at_most=True)
    proof = Proof(
        Tools(stream="/opt/stream"),
        (Directory("/data", "xfs"),),
        {"h100": ClassProof(True, 200, training)},
        limits=(SiteLimit("rail bandwidth", "3"),),
    )
    it = settings(proof).node("gpu01")
    assert it.tools == {"mpi": "pmix", "stream": "/opt/stream"}
    assert (it.directories[0].path, it.directories[0].read_mb_s, it.socket_memory_gb_s) == ("/data", 2000, 200)
    assert (it.training.command, it.training.limit, it.training.at_most) == ("/opt/train", 4.5, True)
    assert it.limits == {"rail bandwidth": "3"}
    assert settings(proof).wants_passport("gpu01")
    assert not settings(Proof(classes={"h100": ClassProof()})).wants_passport("gpu01")


@pytest.mark.parametrize(
    ("change", "own", "wanted"),
    [
        ({}, (), {}),
        ({}, (Uplinks("leaf[1-2]", 100),), {"leaf1": 100, "leaf2": 100}),
        ("linked", (), {"leaf1": 800, "leaf2": 800}),
        ("linked", (Uplinks("leaf2", 100),), {"leaf1": 800, "leaf2": 100}),
    ],
)
def test_uplinks_follow_from_cables_and_the_site_may_name_others(
    change: Any, own: tuple[Uplinks, ...], wanted: dict[str, int]
) -> None:
    cabled = load(patched({**in_full(CHANGES["cabled"]), **in_full(CHANGES["linked"])})) if change else LAB
    assert settings(Proof(uplinks=own), cabled).uplinks == wanted


def test_rails_of_bonds_have_the_leaf_of_their_first_member() -> None:
    bonded = load(patched({**in_full(CHANGES["bonded"]), "drawbridge_nodes.classes.h100.nics.0.gbps": 400}))
    found = settings(Proof(), bonded)
    assert [it.rdma for it in found.node("gpu01").rails] == ["mlx5_bond_0", "mlx5_bond_1"]
    assert {len(leaves) for leaves in found.site(list(found.placed)).leaves.values()} == {2}
