#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the action preflight_probe."""

DOCUMENTATION = r"""
module: preflight_probe
short_description: Visit a host once for preflight
version_added: 0.1.0
description:
  - Runs M(drawbridge.drawbridge.preflight_probe_host) on the host. On a switch it only looks for an SSH server.
  - A host that can't be reached is a result and no failure, so that the other hosts are judged with it.
  - Bounds the difference between the host's clock and that of this process, which runs in Ansible's own process.
author: Drawbridge contributors (@drawbridge)
options:
  want:
    description: The host's view of the intent, from view C(preflight) of P(drawbridge.drawbridge.view#filter).
    type: dict
    required: true
  switch:
    description: Whether the host is a switch.
    type: bool
    default: false
attributes:
  check_mode:
    description: It reads in check mode too.
    support: full
  diff_mode:
    description: There are no changes.
    support: full
"""

EXAMPLES = r"""
- name: Visit every host
  hosts: all
  gather_facts: false
  tasks:
    - name: Read the host's facts
      drawbridge.drawbridge.preflight_probe:
        want: "{{ preflight_view }}"
      register: preflight_answer
"""

RETURN = r"""
facts:
  description: Answers of the probes.
  returned: when the host was reached
  type: dict
clock_s:
  description: Least and greatest possible difference between the host's clock and the controller's, in seconds.
  returned: when the host was reached
  type: list
  elements: float
lost:
  description: Why the host gave no answer; empty if it did.
  returned: always
  type: str
"""
