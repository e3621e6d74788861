# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.config import view
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.model import Tuning

from tests.unit.module_utils.site.test_refused import site

NODES = part("nodes", site("lab")["drawbridge_nodes"])
BUILD = NODES.class_of("gpu01")


def test_a_key_that_is_left_out_sets_nothing() -> None:
    assert view.attributes(Tuning(), BUILD, None) == {}


def test_rdma_over_roce_uses_the_ports_of_the_purpose_with_the_connection_manager() -> None:
    found = view.attributes(Tuning(verbs="rails"), BUILD, None)
    assert found.keys() == {"verbsRdma", "verbsRdmaCm", "verbsPorts"}
    assert found["verbsPorts"].split()[:2] == ["mlx5_0/1", "mlx5_1/1"]


def test_memory_is_the_pool_and_the_most_that_the_caches_take() -> None:
    assert view.memory_mib(Tuning(pagepool_mib=1024, max_files_to_cache=1024)) == 1024 + 10
    assert view.memory_mib(Tuning(max_files_to_cache=1024)) == 0


def test_names_of_classes_are_words_of_the_cluster() -> None:
    assert view.class_name("h100-nvl") == "drawbridge_h100_nvl"
