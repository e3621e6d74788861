#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""QoS of a node's RDMA ports through mlnx_qos."""

DOCUMENTATION = r"""
module: mlnx_qos
short_description: Make RDMA ports trust DSCP and keep exactly the lossless priorities lossless
version_added: 0.1.0
description:
  - Brings all ports of a host to the same QoS in one call, through NVIDIA's C(mlnx_qos). Where that tool is missing, or
    the driver has no DCB buffers or is not NVIDIA's, the module uses C(dcb) of iproute2. RV(backends) names the tool.
  - Sets DCBX, trust, the DSCP map, cable length and shares first and PFC last, one port at a time. Then it reads every
    port again, because the tool's exit codes prove nothing. Other entries of the map stay.
  - B(A change of PFC bounces the link of its port) (mlx5 resets the port). Without O(may_flap_links) the module fails
    and changes nothing, in check mode too.
  - While a Slurm job or a job's pod is on the node, such a change is C(pending). All others but DCBX move live traffic
    and wait too. Links bounce one after the other, each when the last one is up again.
  - Intel's driver, ice, bounces the link at each change, and gives each priority a traffic class of its own. The module
    divides shares accordingly. It also stops the LLDP agent of the NIC's firmware with C(ethtool), which lasts.
  - Broadcom's driver, bnxt_en, bounces the link at a change of shares too. The cable's length has no effect there.
  - Settings last until the next boot or reset of the NIC. Role C(fabric_nic) installs a service that restores them.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.view]
options:
  groups:
    description: Groups of ports with the same settings, such as rails and storage ports.
    type: list
    elements: dict
    suboptions:
      interfaces:
        description: Network devices of the RDMA ports.
        type: list
        elements: str
        required: true
      lossless_priorities:
        description: Priorities that PFC keeps lossless, exactly these.
        type: list
        elements: int
        required: true
      dscp_priorities:
        description: DSCPs and the priority of each.
        type: list
        elements: dict
        required: true
        suboptions:
          dscp:
            description: DSCP, 0 to 63.
            type: int
            required: true
          priority:
            description: Priority, 0 to 7.
            type: int
            required: true
      bandwidth:
        description:
          - Priorities with a traffic class of their own. All others share one class, with the rest of the link.
          - Without any, the traffic classes stay.
        type: list
        elements: dict
        default: []
        suboptions:
          priority:
            description: Priority, 0 to 7.
            type: int
            required: true
          percent:
            description: Share of a full link. 0 is strict priority.
            type: int
            required: true
      cable_m:
        description: Length of the cable in metres, from which the driver sizes its buffers. With 0 it stays.
        type: int
        default: 0
      pci_vendor:
        description: PCI vendor of the ports, such as 15b3, for the commands of a plan. A run asks the drivers.
        type: str
        default: ""
  may_flap_links:
    description: Allow changes that take a link down for a moment. These are changes of PFC, with bnxt_en
      those of shares too, and with ice all changes.
    type: bool
    default: false
  variables:
    description: Names of the variables that set these options, by option, for error messages.
    type: dict
    default: {}
  slurm_node:
    description: The node's name in Slurm.
    type: str
  timeout_s:
    description: Seconds after which one run of the tool is killed.
    type: int
    default: 30
attributes:
  check_mode:
    description: Predicts the steps of the next run, refusals included.
    support: full
  diff_mode:
    description: The ports as options of C(mlnx_qos).
    support: full
"""

EXAMPLES = r"""
- name: Make priority 3 lossless on both rails
  drawbridge.drawbridge.mlnx_qos:
    groups:
      - interfaces: [ens3f0np0, ens3f1np1]
        lossless_priorities: [3]
        dscp_priorities:
          - {dscp: 26, priority: 3}
          - {dscp: 48, priority: 6}
        bandwidth:
          - {priority: 3, percent: 50}
          - {priority: 6, percent: 0}
    may_flap_links: true
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
backends:
  description: The tool that reads and sets each port, mlnx_qos or dcb.
  returned: success
  type: dict
link_flap:
  description: Ports whose link the change bounced, or would bounce.
  returned: success
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
from ..module_utils.drawbridge.nic.layer import MLNX_QOS


def main() -> None:
    """Run this layer."""
    main_of(MLNX_QOS)


if __name__ == "__main__":
    main()
