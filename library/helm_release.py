#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the action helm_release."""

DOCUMENTATION = r"""
module: helm_release
short_description: Install or upgrade a chart's release, and repair its edited objects
version_added: 0.1.0
description:
  - Renders the chart for this cluster and compares each object with a server-side dry run, so edited fields are found.
    Fields and objects that are not the chart's do not change.
  - C(kubernetes.core.helm) compares only values with helm's record. It misses edited objects, and helm's upgrade does
    not repair edited custom resources.
  - Updates CustomResourceDefinitions too, which helm never does.
  - Runs in Ansible's own process, because the kubeconfig is there. A second run only reads.
author: Drawbridge contributors (@drawbridge)
options:
  name:
    description: Name of the release.
    type: str
    required: true
  namespace:
    description: Its namespace, which must exist.
    type: str
    required: true
  chart:
    description: Name of the chart.
    type: str
    required: true
  version:
    description: Its version. A chart of another version at O(source) is an error.
    type: str
    required: true
  source:
    description: A folder or packed chart, C(oci://) with the registry's folder, or the URL of a chart repository.
    type: str
    required: true
  digest:
    description:
      - SHA-256 of the packed chart, as C(sha256sum) prints it; C(sha256:) may stand before it. Another file at
        O(source) is an error, and so is a folder.
      - Without it, whoever writes to O(source) chooses what runs in the cluster.
    type: str
    default: ''
  values:
    description: Values, nested as in the chart.
    type: dict
    default: {}
  kubeconfig:
    description: Kubeconfig of a user who may impersonate the group C(drawbridge:platform).
    type: path
    required: true
  helm:
    description: The helm program, 3.14 or later.
    type: path
    default: helm
attributes:
  check_mode:
    description: Predicts the steps of the next run from what it reads and from server-side dry runs.
    support: full
  diff_mode:
    description: Helm's record, and each field that differs; values of Secrets are hidden.
    support: full
"""

EXAMPLES = r"""
- name: Install the GPU operator from the site's mirror
  drawbridge.drawbridge.helm_release:
    name: gpu-operator
    namespace: gpu-operator
    chart: gpu-operator
    version: v26.7.0
    source: /srv/mirror/charts/gpu-operator-v26.7.0.tgz
    digest: bf6b04c16ff7cbc05720ea4b94187217316f9d869d445cfbde4fe0dffabe2557
    values:
      driver: {enabled: false}
    kubeconfig: "{{ gpu_operator_kubeconfig }}"
"""

RETURN = r"""
steps:
  description: Changes made, or predicted in check mode, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Always empty; a release is completed or fails.
  returned: always
  type: list
  elements: str
"""
