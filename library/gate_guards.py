#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the gate_guards action; it runs in the controller's own process, where the kubeconfig is."""

DOCUMENTATION = r"""
module: gate_guards
short_description: Leave on a host which admission policies guard the gate
version_added: 0.1.0
description:
  - Writes a file with names, uids and generations of the gate's admission policies and of their bindings, as they are
    in the API server now. Before each job the opener compares them with what it finds, and opens nothing if one of
    them is missing, was changed, or was made anew.
  - Reads the API server in Ansible's own process. Run it right after the policies are written.
author: Drawbridge contributors
options:
  path:
    description: The file on the host.
    type: path
    required: true
  kubeconfig:
    description: Kubeconfig of a person who may list admission policies.
    type: path
    required: true
  written:
    description: The policies were changed just now; in check mode, would have been.
    type: bool
    default: false
attributes:
  check_mode:
    description: Predicts exactly, but for the uids and generations that policies will have.
    support: full
  diff_mode:
    description: Shows the file.
    support: full
"""

EXAMPLES = r"""
- name: Tell the opener which guards there have to be
  drawbridge.drawbridge.gate_guards:
    path: /etc/drawbridge/gate/guards.json
    kubeconfig: "{{ slurm_gate_kubeconfig }}"
"""

RETURN = r"""
steps:
  description: What was done, or would be.
  returned: always
  type: list
  elements: str
"""
