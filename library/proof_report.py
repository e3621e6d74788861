#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the action proof_report."""

DOCUMENTATION = r"""
module: proof_report
short_description: Write the report of a proof, and fail if a node is not proved
version_added: 0.1.0
description:
  - Reads the result that C(drawbridge-prove) printed, compares it with the proof before, and shows a summary.
  - Writes C(proof.json), C(proof.xml) (JUnit), C(proof.txt) and C(proof.html) into a folder.
  - Runs in Ansible's own process and contacts no host.
author: Drawbridge contributors (@drawbridge)
options:
  result:
    description: Standard output of C(drawbridge-prove run).
    type: str
    required: true
  folder:
    description: Folder for the files, on the machine that runs Ansible; empty for none.
    type: str
    default: ''
  before:
    description: Name of the variable in which a switch has the result of M(drawbridge.drawbridge.switch_state) before.
    type: str
    default: ''
  after:
    description: Name of the variable with the result after the proof.
    type: str
    default: ''
  priority:
    description: The lossless priority, whose counters of the group C(switches) are judged; -1 to judge none.
    type: int
    default: -1
attributes:
  check_mode:
    description: Writes no files in check mode.
    support: full
  diff_mode:
    description: There are no changes of hosts.
    support: full
"""

EXAMPLES = r"""
- name: Measure the nodes
  ansible.builtin.command:
    argv: [/usr/local/sbin/drawbridge-prove, run]
  register: proof
  changed_when: true
  failed_when: proof.rc not in [0, 1]

- name: Report the results
  drawbridge.drawbridge.proof_report:
    result: "{{ proof.stdout }}"
    folder: ~/proof
"""

RETURN = r"""
files:
  description: Paths of the files.
  returned: always
  type: list
  elements: str
  sample: [/home/ada/proof/proof.html]
"""
