#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the cluster_intent action; it runs in the controller's own process, never on a host."""

DOCUMENTATION = r"""
module: cluster_intent
short_description: Refuse an intent that contradicts itself or the inventory
version_added: 0.1.0
description:
  - Reads C(drawbridge_fabric), C(drawbridge_nodes), C(drawbridge_slurm), C(drawbridge_gpfs) and C(drawbridge_kube)
    of the inventory and refuses them, all faults together, before any host is contacted.
  - Also refuses inventory groups that name other hosts than the intent, and C(drawbridge_) variables that are set
    anywhere but in C(group_vars/all).
  - Also refuses variables of the collection's roles that no role takes, by name or value. It looks at the inventory, at
    files beside it and the playbooks, at variables of the play and at C(--extra-vars); a value is checked once, however
    many hosts have it.
  - Runs in Ansible's own process.
author: Drawbridge contributors
options:
  whole_site:
    description:
      - The play that follows needs the controllers, so C(--limit) must not leave them out.
    type: bool
    default: false
  nodes:
    description:
      - Hostlist of the nodes that the plays that follow are about; refused if it names one twice, or one that the
        intent does not have, or if C(--limit) leaves out a host that these nodes need. Without it none are chosen.
    type: raw
attributes:
  check_mode:
    description: Changes nothing, in check mode and out of it.
    support: full
  diff_mode:
    description: There is nothing to differ.
    support: none
"""

EXAMPLES = r"""
- name: Refuse an intent that contradicts itself
  drawbridge.drawbridge.cluster_intent:
    whole_site: true
"""

RETURN = r"""
faults:
  description: What is wrong, each as one sentence with key, value, reason and repair.
  returned: when the intent is refused
  type: list
  elements: str
"""
