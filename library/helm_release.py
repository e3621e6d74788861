#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the helm_release action; it runs in the controller's own process, where the kubeconfig is."""

DOCUMENTATION = r"""
module: helm_release
short_description: Bring a chart's release, and every object of it, to what it should be
version_added: 0.1.0
description:
  - Renders the chart for this very cluster and compares each object with a server-side dry run, so that a field which
    somebody has edited is seen. Fields and objects that are not the chart's stay as they are.
  - C(kubernetes.core.helm) compares the values with those that helm remembers. It calls a release unchanged whose
    objects were edited, and helm's upgrade leaves edited custom resources as they are.
  - CustomResourceDefinitions are brought up to date too, which helm never does.
  - Runs in Ansible's own process. A second run only reads.
author: Drawbridge contributors
options:
  name:
    description: Name of the release.
    type: str
    required: true
  namespace:
    description: Its namespace; made when it is not there.
    type: str
    required: true
  labels:
    description: Labels that the namespace must have.
    type: dict
    default: {}
  chart:
    description: Name of the chart.
    type: str
    required: true
  version:
    description: Its version. A chart of another version at O(source) is refused.
    type: str
    required: true
  source:
    description:
      - Where the chart is. A folder or packed chart, C(oci://) with the registry's folder, or the URL of a repository.
    type: str
    required: true
  values:
    description: Values, nested as the chart has them.
    type: dict
    default: {}
  kubeconfig:
    description: Kubeconfig of a person who may impersonate the group C(drawbridge:platform).
    type: path
    required: true
  helm:
    description: Helm's program, 3.14 or later.
    type: path
    default: helm
attributes:
  check_mode:
    description: Predicts the steps of the next run from what it reads and from server-side dry runs.
    support: full
  diff_mode:
    description: What helm remembers, and each field that differs; values of Secrets are not shown.
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
    values:
      driver: {enabled: false}
    kubeconfig: "{{ gpu_operator_kubeconfig }}"
"""

RETURN = r"""
steps:
  description: What was done, or in check mode would be done, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Nothing; a release is brought to its end or fails.
  returned: always
  type: list
  elements: str
"""
