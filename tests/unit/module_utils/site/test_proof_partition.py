# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.faults import IntentError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.model import Patrol, Proof
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.proof_partition import (
    PARTITION,
    proof_partition,
)

from tests.unit.module_utils.site.test_refused import DELETE, patched, site

SITE = load(patched({"drawbridge_proof": DELETE}))
PATROL = Proof(patrol=Patrol(5))


def test_root_alone_measures_on_whole_nodes_in_a_partition_that_users_do_not_see() -> None:
    found = proof_partition(SITE.slurm, SITE.nodes, Proof())
    *others, own = found.partitions
    assert tuple(others) == SITE.slurm.partitions
    assert (own.name, own.nodes) == (PARTITION, "gpu[01-02],gpu[03-04]")
    assert (own.priority_tier, own.gate, own.default) == (0, False, False)
    assert dict(own.settings) == {"RootOnly": "YES", "Hidden": "YES", "OverSubscribe": "EXCLUSIVE"}
    assert found.qos == SITE.slurm.qos


def test_all_others_preempt_a_patrol() -> None:
    *others, own = proof_partition(SITE.slurm, SITE.nodes, PATROL).qos
    assert (own.name, own.preempt_mode, own.preempt) == (PARTITION, "cancel", ())
    assert {it.name: it.preempt for it in others} == {"normal": (PARTITION,), "urgent": ("normal", PARTITION)}


def test_a_name_that_the_site_uses_is_refused() -> None:
    taken = proof_partition(SITE.slurm, SITE.nodes, PATROL)
    for one in (replace(taken, qos=()), replace(taken, partitions=())):
        with pytest.raises(IntentError, match="needs this name for its own"):
            proof_partition(one, SITE.nodes, Proof())


def test_a_site_without_proofs_has_no_such_partition() -> None:
    assert PARTITION not in {it.name for it in SITE.slurm.partitions}
    assert PARTITION in {it.name for it in load(site("lab")).slurm.partitions}
