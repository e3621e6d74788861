#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the action node_visit."""

DOCUMENTATION = r"""
module: node_visit
short_description: Bring many layers of a node to their intended state in one module run
version_added: 0.1.0
description:
  - Runs other tasks of the same play on the node, all in one process. These are the tasks with the tag O(tag), which
    also have the tag C(never), so that Ansible itself does not run them.
  - Each of these tasks is a layer. It does and returns what it would do and return as a task, in their order.
  - Evaluates the arguments of all layers on the controller first, by Ansible's own means and with the variables that
    each task sees. Wrong arguments are refused before the host is contacted.
  - When a layer fails, the layers that need it are not run. The others go on.
  - A layer that needs the controller (a token, the approval of a certificate) only predicts at first. If it has
    something to do, the controller acts, and the node is visited again for this layer and those that need it.
  - Its last layer, M(drawbridge.drawbridge.placed_files), removes files that earlier runs placed and these roles place
    no more. Tasks with the tag C(leaves) come before it. They take away what runs, on a node where their role has been.
  - A layer can have the modules of a node that this collection has. Its keywords are C(name), C(when), C(loop) with
    C(loop_var) and C(label), C(vars), C(tags) and C(register). Any other keyword is refused, unless the visit has the
    same one, for example from the play.
author: Drawbridge contributors (@drawbridge)
options:
  tag:
    description: Tag of the tasks that are layers of this visit.
    type: str
    default: apart
  needs:
    description:
      - For each role, the roles whose layers must be in effect first, if they come before it in the play. A pattern,
        such as C(*_client), stands for all roles that it matches.
      - A role without an entry needs all layers before it. Inside a role, each layer needs those before it.
    type: dict
    default: {}
  layers:
    description: Names of the roles whose layers are run, or patterns of names; empty for all.
    type: list
    elements: str
    default: []
  given:
    description:
      - Variables that all layers see with these values. Ansible evaluates an argument of this task once, but a variable
        of the play anew for each layer that reads it.
    type: dict
    default: {}
  postponed:
    description:
      - For roles whose steps must wait for a later run, the reason. Such a layer only predicts. Its steps are pending
        with this reason, and layers that need it go on. An empty reason postpones nothing.
    type: dict
    default: {}
  record:
    description: File on the node that says what each role placed there.
    type: path
    default: /var/lib/drawbridge/placed.json
attributes:
  check_mode:
    description: Every layer predicts. The node is visited once.
    support: full
  diff_mode:
    description: The diff of each layer.
    support: full
"""

EXAMPLES = r"""
- name: Build the nodes
  hosts: nodes
  gather_facts: false
  tasks:
    - name: Bring all layers to their intended state
      drawbridge.drawbridge.node_visit:
        needs: {fabric_nic: []}

    - name: Make the NICs lossless
      ansible.builtin.import_role: {name: drawbridge.drawbridge.fabric_nic, rolespec_validate: false}
      tags: [never, apart]
    - name: Mount the shared file systems
      ansible.builtin.import_role: {name: drawbridge.drawbridge.gpfs_client, rolespec_validate: false}
      tags: [never, apart]
"""

RETURN = r"""
layers:
  description: The layers that did more than read, in their order.
  returned: always
  type: list
  elements: dict
  contains:
    role:
      description: Role of the layer.
      type: str
    task:
      description: Name of its task.
      type: str
    state:
      description:
        - C(done), in check mode predicted; C(failed); or C(stopped), because a layer failed that it needs.
      type: str
    steps:
      description: Steps that were done, or would be done in check mode, as sentences.
      type: list
      elements: str
    pending:
      description: Steps that wait for a later run, each with the reason.
      type: list
      elements: str
proved:
  description: The node was proved ready for jobs. In check mode, the next run is expected to prove it.
  returned: if its layer M(drawbridge.drawbridge.slurm_node_ready) ended without a pending step
  type: bool
"""
