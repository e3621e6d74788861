#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the project_objects action, which runs where Ansible runs."""

DOCUMENTATION = r"""
module: project_objects
short_description: Make volumes, claims, quotas and bindings of projects in Kubernetes
version_added: 0.1.0
description:
  - Makes and changes the objects of projects as the intent has them.
  - Deletes volumes and claims with the label C(drawbridge.io/project) that no open project has. The data stays, because
    a volume is a directory and its policy is Retain. A claim that pods still mount ends with them, which is pending.
  - Frees a volume whose claim was deleted by others, so that it takes the new one. Refuses a change that Kubernetes
    does not allow, such as another directory of a volume.
  - Closes the namespaces of projects that have ended; pods there get no directory any more. A run deletes no namespace.
    That of a removed project is C(pending), with the command for an administrator once it has no pod and no claim.
  - Runs in Ansible's own process. A second run changes nothing.
author: Drawbridge contributors (@drawbridge)
options:
  objects:
    description: Manifests of PersistentVolumes, PersistentVolumeClaims, ResourceQuotas and RoleBindings.
    type: list
    elements: dict
    required: true
  ended:
    description: Namespaces of projects that have ended. One that does not exist is left out.
    type: list
    elements: dict
    default: []
    suboptions:
      namespace:
        description: Its name.
        type: str
        required: true
      project:
        description: Its project, as its label C(drawbridge.io/project) must say.
        type: str
        required: true
      removed:
        description: Whether the project is removed, so that nothing keeps the namespace.
        type: bool
        default: false
  kubeconfig:
    description: Kubeconfig of a user who may act as the installer.
    type: path
    required: true
  timeout_s:
    description: Time limit until changes are in effect, in seconds.
    type: float
    default: 30
attributes:
  check_mode:
    description: Predicts the steps of the next run, also for namespaces that do not exist yet.
    support: full
  diff_mode:
    description: Shows what objects say where the intent says something.
    support: full
"""

EXAMPLES = r"""
- name: Make volumes and claims of projects
  drawbridge.drawbridge.project_objects:
    objects: "{{ slurm_gate_objects_view.projects }}"
    kubeconfig: "{{ slurm_gate_kubeconfig }}"
"""

RETURN = r"""
steps:
  description: Changes made, or predicted in check mode, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Claims and volumes that end once no pod mounts them, and namespaces that an administrator may delete.
  returned: always
  type: list
  elements: str
"""
