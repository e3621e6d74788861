#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""MTU, routes, ARP, global pause, rings, PCIe settings and interrupts of a node's RDMA network devices."""

DOCUMENTATION = r"""
module: nic_link
short_description: Give RDMA network devices their MTU, routes, and the settings of their ports
version_added: 0.1.0
description:
  - Sets the MTU of all devices with C(ip) and reads it back.
  - When systemd-networkd or NetworkManager configures a device, the module writes a file beside that program's own. The
    MTU is then the same after a boot. For netplan, this is the drop-in of the C(.network) file that netplan writes.
  - Switches global pause off on all O(groups[].ports), because it would stop all priorities where PFC stops one. Sets
    the size of rings, if there is one.
  - Sets the read request and the relaxed ordering of O(groups[].ports) with C(setpci), if they are given. It changes
    these bits of the register Device Control and no other.
  - With O(groups[].interrupts_numa) the CPUs of one NUMA node alone serve a port's interrupts. An interrupt that is on
    the right node already keeps its CPU, so that C(irqbalance) may run.
  - With O(groups[].own_addresses) a device answers ARP for its own addresses alone. Otherwise Linux answers for all
    rails of a subnet from one of them.
  - With O(groups[].route_table) packets from a device's IPv4 address leave through that device. Each device has a table
    with its subnet, and one rule for its address. Their numbers are fixed, so that no rule is added twice.
  - Another drop-in has the same rules and routes for systemd-networkd. NetworkManager has no file for rules beside its
    profiles, so it runs a dispatcher program of Drawbridge when a device is up.
  - A device that neither configures gets its MTU from the service of role C(fabric_nic).
  - The module fails when the driver can't do the MTU, or when a NetworkManager profile sets another one. It also fails
    when another device shares the C(.network) file.
  - While a Slurm job or a job's pod is on the node, a change is C(pending) unless it is one of ARP or interrupts.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.view]
options:
  groups:
    description: Groups of devices with the same MTU.
    type: list
    elements: dict
    suboptions:
      interfaces:
        description: Network devices. Ports of a bond follow their bond.
        type: list
        elements: str
        required: true
      mtu_bytes:
        description: MTU in bytes. With 0 it stays.
        type: int
        required: true
      own_addresses:
        description: Sets C(arp_ignore), C(arp_announce) and C(rp_filter) of the devices.
        type: bool
        default: false
      ports:
        description: Ports of bonds, or the devices themselves. Without any, pause and rings stay.
        type: list
        elements: str
        default: []
      pause_off:
        description: Whether global pause is off on O(groups[].ports). If false, it stays.
        type: bool
        default: true
      ring_size:
        description: Entries of the receive and send rings of O(groups[].ports). With 0 they stay.
        type: int
        default: 0
      read_request_bytes:
        description: Bytes that one PCIe read of O(groups[].ports) asks for. With 0 they stay.
        type: int
        choices: [0, 128, 256, 512, 1024, 2048, 4096]
        default: 0
      relaxed_ordering:
        description: Whether PCIe writes of O(groups[].ports) may pass each other. If it is empty, this stays.
        type: str
        choices: ['', disabled, enabled]
        default: ''
      interrupts_numa:
        description: NUMA node of each of O(groups[].interfaces), for its ports' interrupts. Without any they stay.
        type: list
        elements: int
        default: []
      route_table:
        description: Table and rule priority of the first device; the others have the next numbers. With 0 all stay.
        type: int
        default: 0
      gateway:
        description: Address of each device's subnet that is its gateway. Without one the table has the subnet alone.
        type: str
        choices: ['', first, last]
        default: ''
  slurm_node:
    description: The node's name in Slurm.
    type: str
  timeout_s:
    description: Seconds after which one run of a tool is killed.
    type: int
    default: 30
attributes:
  check_mode:
    description: Predicts the steps of the next run, refusals included.
    support: full
  diff_mode:
    description: The devices as commands of C(ip), and the files.
    support: full
"""

EXAMPLES = r"""
- name: Give both rails large frames
  drawbridge.drawbridge.nic_link:
    groups:
      - interfaces: [ens3f0np0, ens3f1np1]
        mtu_bytes: 9000
        own_addresses: true
        ports: [ens3f0np0, ens3f1np1]
    slurm_node: "{{ inventory_hostname }}"
"""

RETURN = r"""
steps:
  description: Changes made, or predicted in check mode, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Steps that wait until the node is not in use, each with its user.
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
from ..module_utils.drawbridge.nic.links.layer import NIC_LINK


def main() -> None:
    """Run this layer."""
    main_of(NIC_LINK)


if __name__ == "__main__":
    main()
