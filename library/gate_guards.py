#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the gate_guards action, which runs where Ansible runs."""

DOCUMENTATION = r"""
module: gate_guards
short_description: Write the list of the gate's admission policies to a host
version_added: 0.1.0
description:
  - Writes a file with names, uids and generations of the gate's present admission policies and bindings. Before each
    job the opener compares them with the API server. It opens no node if one is missing, changed or created again.
  - Reads the API server in Ansible's own process. Run it after the policies were compared.
author: Drawbridge contributors (@drawbridge)
options:
  path:
    description: The file on the host.
    type: path
    required: true
  kubeconfig:
    description: Kubeconfig of a user who may act as the installer.
    type: path
    required: true
attributes:
  check_mode:
    description: Predicts exactly.
    support: full
  diff_mode:
    description: Shows the file.
    support: full
"""

EXAMPLES = r"""
- name: Write the list of the gate's admission policies
  drawbridge.drawbridge.gate_guards:
    path: /etc/drawbridge/gate/guards.json
    kubeconfig: "{{ slurm_gate_kubeconfig }}"
"""

RETURN = r"""
steps:
  description: Changes made, or predicted in check mode, as sentences.
  returned: always
  type: list
  elements: str
"""
