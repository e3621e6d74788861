#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings and counters of a node's RDMA NICs."""

DOCUMENTATION = r"""
module: nic_state
short_description: Read settings and counters of RDMA NICs
version_added: 0.1.0
description:
  - Reads all NICs of a host in one call and changes nothing. The sources are sysfs, C(mlnx_qos) or C(dcb),
    C(ethtool) and C(setpci).
  - Counters have the driver's own names. They count from the driver's start, so compare two readings. A counter that
    the driver lacks is absent.
  - A part that can't be read is absent too, and C(unknown) has the reason. It is no failure.
author: Drawbridge contributors (@drawbridge)
options:
  devices:
    description: NICs, such as C(fabric_nic_view.roce | map(attribute='devices') | flatten).
    type: list
    elements: dict
    required: true
    suboptions:
      netdev:
        description: Network device.
        type: str
        required: true
      ports:
        description: Ports of a bond, or the network device itself.
        type: list
        elements: str
        required: true
      rdma:
        description: Ignored. The RDMA device is found in sysfs.
        type: str
  timeout_s:
    description: Seconds after which one run of a tool is killed.
    type: int
    default: 30
attributes:
  check_mode:
    description: It reads in check mode too.
    support: full
  diff_mode:
    description: There are no changes.
    support: full
"""

EXAMPLES = r"""
- name: Read the rails before a test
  drawbridge.drawbridge.nic_state:
    devices:
      - {netdev: rail0, ports: [rail0]}
      - {netdev: rail1, ports: [rail1]}
  register: before

- name: Show how often priority 3 of the first rail was paused
  ansible.builtin.debug:
    msg: "{{ before.nics.rail0.ports.rail0.priorities['3'].rx_pause }}"
"""

RETURN = r"""
nics:
  description: >-
    NICs by network device. C(rdma), C(gid), C(state) and C(rate) are those of the RDMA device; C(gid) is the index
    of its RoCE v2 GID with an IPv4 address. C(counters) has CNPs, ECN marks, retransmits and link errors. C(roce)
    has the settings of RDMA-CM and of each port's congestion control. C(ports) has each port's link, QoS, global pause
    and temperature, and counters of the whole port and of each priority. It also has rings, PCIe settings, NUMA node,
    and the CPUs that may serve the port's interrupts. C(unknown) has the reason for each part that can't be read.
  returned: success
  type: dict
  sample:
    rail0:
      rdma: mlx5_0
      gid: 3
      state: "4: ACTIVE"
      rate: 400 Gb/sec (4X NDR)
      counters: {np_cnp_sent: 12, np_ecn_marked_roce_packets: 40, out_of_sequence: 0, rp_cnp_handled: 9}
      roce: {rdma_cm: {default_roce_tos: "106"}, rail0: {cnp_dscp: "48", cnp_priority: "6"}}
      ports:
        rail0:
          up: true
          mtu_bytes: 9000
          carrier_changes: 2
          qos:
            dcbx: os
            trust: dscp
            dscp_priority: {"26": 3, "48": 6}
            lossless: [3]
            queues: [{tc: 0, algorithm: ets, percent: 50}]
            cable_m: 7
            backend: mlnx_qos
          counters: {rx_discards_phy: 0, rx_global_pause: 0}
          priorities: {"3": {rx_pause: 7, tx_pause: 0}}
          global_pause: {rx: false, tx: false}
          rings: {rx: 8192, tx: 8192}
          pcie: {read_request_bytes: 4096, relaxed_ordering: enabled}
          numa_node: "0"
          interrupt_cpus: 0-55
          temperature_c: 61.0
      unknown: []
steps:
  description: Always empty.
  returned: always
  type: list
  elements: str
pending:
  description: Always empty.
  returned: always
  type: list
  elements: str
"""

from ..module_utils.drawbridge.core.module import main_of
from ..module_utils.drawbridge.nic.state.layer import NIC_STATE


def main() -> None:
    """Run this layer."""
    main_of(NIC_STATE)


if __name__ == "__main__":
    main()
