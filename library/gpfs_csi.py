#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the gpfs_csi action, which runs where Ansible runs."""

DOCUMENTATION = r"""
module: gpfs_csi
short_description: Run IBM's driver of Storage Scale for Kubernetes
version_added: 0.1.0
description:
  - Applies IBM's manifest of the operator, whose SHA-256 it compares. Then it applies the certificate, the credentials,
    the resource CSIScaleOperator and storage classes.
  - Waits until the driver's pods run, because the operator's word is no proof.
  - New credentials go into a second Secret, which the resource then names. The operator tries them and restarts the
    driver.
  - Labels the nodes that may run the driver, and takes the labels off others.
  - Refuses to change objects that others have made, and parameters of a StorageClass, which Kubernetes lets no one
    change.
  - With O(state=absent), deletes what earlier runs made. It refuses while volumes of the driver exist.
  - Runs in Ansible's own process. A second run changes nothing.
author: Drawbridge contributors (@drawbridge)
options:
  state:
    description: Whether the driver runs.
    type: str
    choices: [present, absent]
    default: present
  source:
    description: IBM's manifest of the operator, as a URL, or a path on the machine that runs Ansible.
    type: str
    default: ""
  digest:
    description: SHA-256 of this manifest.
    type: str
    default: ""
  objects:
    description: Manifests of ConfigMaps and StorageClasses.
    type: list
    elements: dict
    default: []
  resource:
    description: Manifest of the CSIScaleOperator. Its clusters name Secrets without the slot at their ends.
    type: dict
    default: {}
  credentials:
    description: User and password of the GUI, C(username) and C(password), of C(cluster), and of C(owner) if it exists.
    type: dict
    default: {}
  mounted:
    description: Nodes that mount all file systems of storage classes.
    type: list
    elements: str
    default: []
  infra:
    description: Nodes that are never gated. Two of them must be in O(mounted), for the driver's sidecars.
    type: list
    elements: str
    default: []
  adopt:
    description: Whether objects that others have made may be changed.
    type: bool
    default: false
  kubeconfig:
    description: Kubeconfig of a user who may act as the installer.
    type: path
    required: true
  timeout_s:
    description: Time limit until the driver works, in seconds.
    type: float
    default: 180
  variables:
    description: Names of the variables that set these options, for messages.
    type: dict
    default: {}
attributes:
  check_mode:
    description: Predicts the steps of the next run, refusals included.
    support: full
  diff_mode:
    description: Shows the fields that differ. Secrets are not shown.
    support: full
"""

EXAMPLES = r"""
- name: Run the driver
  drawbridge.drawbridge.gpfs_csi:
    source: ibm-spectrum-scale-csi-operator.yaml
    digest: "{{ gpfs_csi_view.manifest.digest }}"
    objects: "{{ gpfs_csi_view.objects }}"
    resource: "{{ gpfs_csi_view.resource }}"
    credentials: "{{ gpfs_csi_credentials }}"
    mounted: [infra1, infra2, gpu01]
    infra: [infra1, infra2]
    kubeconfig: "{{ gpfs_csi_kubeconfig }}"
  no_log: true
"""

RETURN = r"""
steps:
  description: Changes made, or predicted in check mode, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Changes that can't be made now, each with the reason.
  returned: always
  type: list
  elements: str
"""
