# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gids import ipv4_gid

ULA = "fd00:0010:0000:0000:0000:0000:0000:0001"
LOCAL = "fe80:0000:0000:0000:a4f7:42ff:fea9:8917"
IPV4 = "0000:0000:0000:0000:0000:ffff:0a0a:0001"


def test_the_index_is_found_and_depends_on_the_order_of_addresses() -> None:
    table = [(0, LOCAL, "RoCE v2", "rd0"), (1, ULA, "RoCE v2", "rd0"), (2, IPV4, "RoCE v2", "rd0")]
    assert ipv4_gid(table, "rd0") == 2
    assert ipv4_gid([(1, IPV4, "RoCE v2", "rd0"), *table], "rd0") == 1


def test_other_gids_are_not_the_rails_ipv4_gid() -> None:
    for row in (
        (2, IPV4, "IB/RoCE v1", "rd0"),
        (2, IPV4, "RoCE v2", "rd1"),
        (1, ULA, "RoCE v2", "rd0"),
        (3, "0000:0000:0000:0000:0000:0000:0000:0000", "RoCE v2", "rd0"),
    ):
        assert ipv4_gid([row], "rd0") is None
