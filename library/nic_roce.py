#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""RoCE settings of a node's RDMA devices."""

DOCUMENTATION = r"""
module: nic_roce
short_description: Set RDMA-CM's RoCE mode and type of service, and the marks of congestion notifications
version_added: 0.1.0
description:
  - Finds the RDMA device of each network device in sysfs, and fails if its name is another one than in O(groups).
  - Sets RDMA-CM's default RoCE mode to v2 and its default type of service through configfs. Only connections that
    RDMA-CM makes use them, such as those of GPFS and NFS. NCCL does not.
  - Sets DSCP and priority of congestion notifications, and enables DCQCN for O(groups[].ecn_priorities), through the
    C(ecn) files of OFED. Without them it uses the kernel's C(cc_params) in debugfs, which have no switch for each
    priority.
  - Where the driver has neither, it compares the firmware's current values with C(mlxconfig) or C(mstconfig), changes
    nothing, and fails with the command to run.
  - Compares O(firmware) with the values in effect and those of the next boot, by C(mlxconfig) or C(mstconfig). A
    difference is C(pending) until O(may_set_firmware) is true. Then the boot that the new values need is C(pending).
  - Check mode may make and remove a directory in configfs, because the kernel shows RDMA-CM's defaults only there.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.view]
options:
  groups:
    description: Groups of RDMA devices with the same settings.
    type: list
    elements: dict
    suboptions:
      devices:
        description: RDMA devices.
        type: list
        elements: dict
        required: true
        suboptions:
          netdev:
            description: Network device.
            type: str
            required: true
          rdma:
            description: Name that its RDMA device must have.
            type: str
            required: true
          ports:
            description: Ports of a bond, or the network device itself.
            type: list
            elements: str
            required: true
      tos:
        description:
          - Type of service of RDMA-CM's connections, DSCP and ECN bits. With -1 it stays, and so does the RoCE mode.
        type: int
        required: true
      cnp_dscp:
        description: DSCP of congestion notifications. With -1 it stays.
        type: int
        default: -1
      cnp_priority:
        description: 802.1p priority of congestion notifications. With -1 it stays.
        type: int
        default: -1
      ecn_priorities:
        description: Priorities whose senders slow down after a notification.
        type: list
        elements: int
        required: true
      ecn_enabled:
        description: With false their senders do not slow down, where OFED has a switch for each priority.
        type: bool
        default: true
      needs_gid:
        description: Report a device without a RoCE v2 GID that has an IPv4 address, as C(pending).
        type: bool
        required: true
      gid_index:
        description: Index that this GID must have, because NCCL before 2.21 gets it. With -1 any will do.
        type: int
        default: -1
      rates:
        description: Parameters of DCQCN. All others stay.
        type: list
        elements: dict
        default: []
        suboptions:
          name:
            description: Name of the parameter in OFED.
            type: str
            required: true
            choices:
              - clamp_tgt_rate
              - clamp_tgt_rate_after_time_inc
              - dce_tcp_g
              - dce_tcp_rtt
              - initial_alpha_value
              - min_time_between_cnps
              - rate_reduce_monitor_period
              - rate_to_set_on_first_cnp
              - rpg_ai_rate
              - rpg_byte_reset
              - rpg_gd
              - rpg_hai_rate
              - rpg_max_rate
              - rpg_min_dec_fac
              - rpg_min_rate
              - rpg_threshold
              - rpg_time_reset
          value:
            description: Its number.
            type: int
            required: true
  firmware:
    description: Groups of ports with parameters of their firmware.
    type: list
    elements: dict
    default: []
    suboptions:
      ports:
        description: Ports of the NICs.
        type: list
        elements: str
        required: true
      parameters:
        description: Parameters and their numbers, such as C(ATS_ENABLED=0).
        type: list
        elements: str
        required: true
  may_set_firmware:
    description: Set parameters of firmware that differ. No node is booted.
    type: bool
    default: false
  gpu_direct:
    description: >-
      Report as C(pending) that NICs can't reach the memory of GPUs, because the closed GPU driver is loaded without
      C(nvidia_peermem). The open driver uses dma-buf.
    type: bool
    default: false
  topology_file:
    description: NCCL's topology file. Report as C(pending) that the host does not have it.
    type: str
    default: ''
  variables:
    description: Names of the variables that set these options, by option, for messages.
    type: dict
    default: {}
  timeout_s:
    description: Seconds after which one run of a tool is killed.
    type: int
    default: 30
attributes:
  check_mode:
    description: Predicts the steps of the next run, refusals included.
    support: full
  diff_mode:
    description: One line for each setting of each device.
    support: full
"""

EXAMPLES = r"""
- name: Mark as the fabric expects
  drawbridge.drawbridge.nic_roce:
    groups:
      - devices:
          - {netdev: ens3f0np0, rdma: mlx5_0, ports: [ens3f0np0]}
        tos: 106
        cnp_dscp: 48
        cnp_priority: 6
        ecn_priorities: [3]
        needs_gid: true
"""

RETURN = r"""
steps:
  description: Changes made, or predicted in check mode, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: What a person must do, such as giving a rail an address, or a boot.
  returned: always
  type: list
  elements: str
done:
  description: Steps that were done.
  returned: failure
  type: list
  elements: str
left:
  description: Steps that were not done.
  returned: failure
  type: list
  elements: str
"""

from ..module_utils.drawbridge.core.module import main_of
from ..module_utils.drawbridge.nic.roce.layer import NIC_ROCE


def main() -> None:
    """Run this layer."""
    main_of(NIC_ROCE)


if __name__ == "__main__":
    main()
