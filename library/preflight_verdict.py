#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the action preflight_verdict."""

DOCUMENTATION = r"""
module: preflight_verdict
short_description: Judge the answers of all hosts of a play, and fail if a finding is not accepted
version_added: 0.1.0
description:
  - Compares the answers of M(drawbridge.drawbridge.preflight_probe) with the intent and with each other.
  - Reports the verdict first, then findings by cause. The same finding of many hosts is one line with a hostlist.
  - Runs once for all hosts of the play, in Ansible's own process.
author: Drawbridge contributors (@drawbridge)
options:
  answers:
    description: Name of the variable in which each host has its answer.
    type: str
    required: true
  accepted:
    description: Names of findings that the site accepts.
    type: list
    elements: str
    default: []
  accept_with:
    description: Name of the variable with which the caller accepts findings, for the report.
    type: str
    default: accepted
  report:
    description: File for the report as JSON, on the machine that runs Ansible; empty for none.
    type: str
    default: ''
  kubeconfig:
    description: Kubeconfig of the run's user; empty to judge no rights.
    type: str
    default: ''
  rights:
    description: Objects with the rights of a run, from view C(kube_installer) of P(drawbridge.drawbridge.view#filter).
    type: list
    elements: dict
    default: []
attributes:
  check_mode:
    description: Writes no report in check mode.
    support: full
  diff_mode:
    description: There are no changes of hosts.
    support: full
"""

EXAMPLES = r"""
- name: Judge the hosts
  hosts: all
  gather_facts: false
  tasks:
    - name: Read the host's facts
      drawbridge.drawbridge.preflight_probe:
        want: "{{ preflight_view }}"
      register: preflight_answer
    - name: Report findings
      drawbridge.drawbridge.preflight_verdict:
        answers: preflight_answer
        accepted: [cgroup_v1]
"""

RETURN = r"""
report:
  description: The verdict, and all findings with hosts, text, consequence and repair.
  returned: always
  type: dict
  sample: {version: 1, sound: true, hosts: 8, findings: []}
"""
