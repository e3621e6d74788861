# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.view import nccl_env, nic_qos
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import part
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
NODES, FABRIC = part("nodes", SITE["drawbridge_nodes"]), part("fabric", SITE["drawbridge_fabric"])


def test_every_rail_gets_both_classes_and_one_lossless_priority() -> None:
    assert nic_qos(NODES, FABRIC.roce, FABRIC.cnp, "gpu03") == {
        "interfaces": [f"rail{number}" for number in range(8)],
        "lossless_priorities": [3],
        "dscp_priorities": [{"dscp": 26, "priority": 3}, {"dscp": 48, "priority": 6}],
    }


def env(dscp: int) -> dict[str, str]:
    fabric = SITE["drawbridge_fabric"]
    return nccl_env(NODES, part("fabric", {**fabric, "roce": {**fabric["roce"], "dscp": dscp}}).roce, "gpu01")


def test_all_rails_by_exact_name_and_no_fixed_address() -> None:
    assert env(26) == {
        "NCCL_IB_HCA": "=mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7",
        "NCCL_IB_TC": "106",
    }


@given(dscp=st.integers(0, 63))
def test_the_traffic_class_is_the_dscp_and_says_that_the_sender_understands_marking(dscp: int) -> None:
    octet = int(env(dscp)["NCCL_IB_TC"])
    assert octet >> 2 == dscp
    assert octet & 3 == 0b10
