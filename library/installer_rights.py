#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the action installer_rights."""

DOCUMENTATION = r"""
module: installer_rights
short_description: Check that a run has its rights in Kubernetes
version_added: 0.1.0
description:
  - Acts as the installer with the kubeconfig, and reads its rights from the API server. Fails if one is missing.
  - Runs in Ansible's own process, and changes nothing.
  - It grants no rights. An administrator of the cluster applies O(objects).
  - An API server whose authorizer can't list rights, such as a cloud's, gives no answer, and nothing is missing then.
author: Drawbridge contributors (@drawbridge)
options:
  objects:
    description: Manifests with the roles of the installer, from P(drawbridge.drawbridge.kube_installer_view#filter).
    type: list
    elements: dict
    required: true
  kubeconfig:
    description: Kubeconfig of a user who may act as the installer. It never leaves Ansible's own process.
    type: path
    required: true
  repair:
    description: The repair that an error prints, such as the command that applies O(objects).
    type: str
    required: true
attributes:
  check_mode:
    description: Reads the same as in a run.
    support: full
  diff_mode:
    description: Changes nothing, so there is no difference to show.
    support: none
"""

EXAMPLES = r"""
- name: Check the rights of this run
  drawbridge.drawbridge.installer_rights:
    objects: "{{ drawbridge_slurm | drawbridge.drawbridge.kube_installer_view(drawbridge_kube) }}"
    kubeconfig: ~/.kube/config
    repair: let an administrator apply installer.yml
"""

RETURN = r"""
missing:
  description: Missing rights, those of one resource together.
  returned: when the API server answered
  type: list
  elements: str
"""
