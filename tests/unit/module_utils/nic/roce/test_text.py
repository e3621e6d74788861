# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.roce.text import current, ipv4_gid

ULA = "fd00:0010:0000:0000:0000:0000:0000:0001"
LOCAL = "fe80:0000:0000:0000:a4f7:42ff:fea9:8917"
IPV4 = "0000:0000:0000:0000:0000:ffff:0a0a:0001"

# from NVIDIA's nic-configuration-operator, test data
QUERY = """
Device #1:
----------

Device type:    ConnectX4
Configurations:                              Default         Current         Next Boot
*        KEEP_IB_LINK_UP_P2                  False(0)        True(1)         True(1)
         KEEP_LINK_UP_ON_BOOT_P2             False(0)        False(0)        False(0)
         ESWITCH_HAIRPIN_DESCRIPTORS         Array[0..7]     Array[0..7]     Array[0..7]
*        MEMIC_SIZE_LIMIT                    _256KB(1)       _256KB(1)       DISABLED(0)
         CNP_DSCP_P1                         48              4               48
The '*' shows parameters with next value different from default/current value.
"""


def test_the_index_is_found_and_depends_on_the_order_of_addresses() -> None:
    table = [(0, LOCAL, "RoCE v2", "rd0"), (1, ULA, "RoCE v2", "rd0"), (2, IPV4, "RoCE v2", "rd0")]
    assert ipv4_gid(table, "rd0") == 2
    assert ipv4_gid([(1, IPV4, "RoCE v2", "rd0"), *table], "rd0") == 1


def test_what_is_no_ipv4_gid_of_the_rail() -> None:
    for row in (
        (2, IPV4, "IB/RoCE v1", "rd0"),
        (2, IPV4, "RoCE v2", "rd1"),
        (1, ULA, "RoCE v2", "rd0"),
        (3, "0000:0000:0000:0000:0000:0000:0000:0000", "RoCE v2", "rd0"),
    ):
        assert ipv4_gid([row], "rd0") is None


def test_a_firmware_runs_with_the_current_column() -> None:
    assert current(QUERY) == {
        "KEEP_IB_LINK_UP_P2": "1",
        "KEEP_LINK_UP_ON_BOOT_P2": "0",
        "ESWITCH_HAIRPIN_DESCRIPTORS": "Array[0..7]",
        "MEMIC_SIZE_LIMIT": "1",
        "CNP_DSCP_P1": "4",
    }
