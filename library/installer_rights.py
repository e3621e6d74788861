#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the action installer_rights."""

DOCUMENTATION = r"""
module: installer_rights
short_description: Compare what an administrator of Kubernetes gives a run
version_added: 0.1.0
description:
  - Acts as the installer with the kubeconfig, reads its rights from the API server, and compares the other objects with
    those that exist. Fails if a right is missing, or if an object is missing or says something else.
  - Runs in Ansible's own process, and changes nothing. An administrator of the cluster applies O(objects).
  - Warns of rights of the installer that O(objects) do not have.
  - An API server whose authorizer can't list rights, such as a cloud's, gives no answer, and nothing is missing then.
author: Drawbridge contributors (@drawbridge)
options:
  objects:
    description:
      - Manifests, from view C(kube_installer) of P(drawbridge.drawbridge.view#filter) and the role kube_installer.
      - Of a namespace only these labels and annotations are compared, of a ServiceAccount and a ResourceQuota nothing.
    type: list
    elements: dict
    required: true
  manifest:
    description: File of a plan with O(objects), which C(playbooks/plan.yml) writes into its folder C(kubernetes).
    type: str
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
    objects: "{{ kube_installer_view.rights }}"
    manifest: kube_installer.yml
    kubeconfig: ~/.kube/config
    repair: let an administrator apply installer.yml
"""

RETURN = r"""
missing:
  description: Missing rights, those of one resource together, or objects that are not as they should be.
  returned: when the API server answered
  type: list
  elements: str
"""
