# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.faults import IntentError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.view import leaves
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part

from tests.unit.module_utils.site.test_refused import site

NODES = part("nodes", site("lab")["drawbridge_nodes"])


def test_a_node_that_no_range_has_is_refused() -> None:
    with pytest.raises(IntentError, match=r'drawbridge_nodes\.ranges is "gpu99", but no range has this node'):
        NODES.class_of("gpu99")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["gpu01", "gpu02"], ["leaf1"]),
        (["gpu03"], ["leaf2"]),
        (["gpu04", "gpu01", "gpu03"], ["leaf2", "leaf1"]),
        (["unknown"], []),
        ([], []),
    ],
)
def test_each_leaf_comes_once(names: list[str], expected: list[str]) -> None:
    assert leaves(NODES, names) == expected


def test_rails_of_a_node_may_be_on_many_leaves() -> None:
    nodes = part("nodes", site("example-rails")["drawbridge_nodes"])
    assert leaves(nodes, ["gpu001", "gpu002"]) == [f"leaf0{number}" for number in range(1, 9)]
    assert len(leaves(nodes, ["gpu001", "gpu064"])) == 16
