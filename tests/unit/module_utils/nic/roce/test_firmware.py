# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.roce import firmware

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
*        CNP_DSCP_P1                         48              4               48
         ROCE_CC_PRIO_MASK_P1                255             0xff            255
         VL15_BUFFER_SIZE_P1                 N/A             0               0
         PCI_BUS10_HIERARCHY_TYPE            N/A             N/A             0
The '*' shows parameters with next value different from default/current value.
"""


def test_the_columns_in_effect_and_of_the_next_boot_are_numbers() -> None:
    assert firmware.parameters(QUERY) == {
        "KEEP_IB_LINK_UP_P2": ("1", "1"),
        "KEEP_LINK_UP_ON_BOOT_P2": ("0", "0"),
        "ESWITCH_HAIRPIN_DESCRIPTORS": ("Array[0..7]", "Array[0..7]"),
        "MEMIC_SIZE_LIMIT": ("1", "0"),
        "CNP_DSCP_P1": ("4", "48"),
        "ROCE_CC_PRIO_MASK_P1": ("255", "255"),
        "VL15_BUFFER_SIZE_P1": ("0", "0"),
    }, "a value that the firmware does not tell is unknown"


def test_the_diff_names_port_parameter_and_both_values() -> None:
    have = firmware.Firmware("0000:18:00.0", {"CNP_DSCP_P1": ("4", "48")})
    assert have.lines("rail0") == ["rail0 CNP_DSCP_P1: 4, at the next boot 48"]


def test_ports_without_parameters_are_not_read() -> None:
    assert firmware.wanted([{"ports": ["rail0"], "parameters": []}]) == {}
