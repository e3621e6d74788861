#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the switch_state action; it runs in the controller's own process, never on a host."""

DOCUMENTATION = r"""
module: switch_state
short_description: Read counters and LLDP neighbours of a switch's ports
version_added: 0.1.0
description:
  - Reads the ports of a profile over one SSH session and changes nothing.
  - Counters count from the switch's start, or since they were cleared. Compare two readings. A counter that the system
    lacks is absent.
  - A command that the switch refuses, or answers in an unknown form, costs its part alone. C(unknown) has the reason.
    It also names each counter of a lossless priority that an answer should have and lacks, and further LLDP neighbours.
  - Commands have the form of the switch's release. SONiC before 202505 has no command for ECN marks.
  - EOS has no queue depths here, and counts ECN marks of the lossless class alone. NVUE has counters of the lossless
    class and of congestion notifications. SONiC has the highest queue depth.
  - NX-OS has all but the highest depth. Junos and OS10 have neither depths nor storms. OS10 counts ECN marks of a port
    for all queues together, so it has them only while one class is lossless.
  - It runs in Ansible's own process, and logs in as M(drawbridge.drawbridge.switch_roce) does.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.intent.switch_profile]
options:
  answer_timeout_s:
    description: Seconds in which the switch must answer one line.
    type: int
    default: 60
attributes:
  check_mode:
    description: It reads in check mode too.
    support: full
  diff_mode:
    description: There are no changes.
    support: full
"""

EXAMPLES = r"""
- name: Read the switch before a test
  drawbridge.drawbridge.switch_state:
    profile: "{{ lookup('drawbridge.drawbridge.view', 'switch', chosen='') }}"
  register: before

- name: Show how often the first port was paused
  ansible.builtin.debug:
    msg: "{{ before.ports.Ethernet1.priorities['3'].rx_pause }}"
"""

RETURN = r"""
ports:
  description: >-
    The profile's ports. C(neighbour) is the device and port that LLDP sees, or empty. C(priorities) has counters by
    priority. C(rx_pause) and C(tx_pause) are received and sent pause frames. C(ecn_marked_packets) and
    C(dropped_packets) are those of its queue. C(watchdog_storms) counts how often the queue was stuck.
    C(queue_bytes) is the present depth of the queue, and C(queue_peak_bytes) the highest.
  returned: success
  type: dict
  sample:
    swp1:
      neighbour: [gpu01, rail0]
      priorities:
        "3":
          rx_pause: 7
          tx_pause: 0
          ecn_marked_packets: 40
          dropped_packets: 0
          watchdog_storms: 0
          queue_bytes: 0
          queue_peak_bytes: 8192
unknown:
  description: Parts that could not be read, each with the reason.
  returned: success
  type: list
  elements: str
steps:
  description: Always empty.
  returned: success
  type: list
  elements: str
pending:
  description: Always empty.
  returned: success
  type: list
  elements: str
"""
