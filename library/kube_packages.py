#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Install pinned packages from the site's own sources."""

DOCUMENTATION = r"""
module: kube_packages
short_description: Install pinned packages from the site's own sources
version_added: 0.1.0
description:
  - Writes apt's sources, installs all packages with their pinned versions in one transaction, and holds them, so a
    system upgrade does not replace them. It starts no service.
  - A package that would replace another version waits while Slurm or a job's pods use the node; see RV(pending).
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.view]
options:
  packages:
    description: Versions by package name.
    type: dict
  sources:
    description: Content of the sources file, deb822. If empty, the file is removed.
    type: str
    default: ""
  path:
    description: The sources file.
    type: path
    default: /etc/apt/sources.list.d/drawbridge-kubernetes.sources
  slurm_node:
    description: This node's name in Slurm; used only where Slurm is installed.
    type: str
    required: true
  timeout_s:
    description: Time limit of one call of apt-get, in seconds.
    type: float
    default: 900
attributes:
  check_mode:
    description: Predicts the steps of the next run from what it reads.
    support: full
  diff_mode:
    description: Packages with their versions, and the sources.
    support: full
"""

EXAMPLES = r"""
- name: Install the kubelet
  drawbridge.drawbridge.kube_packages:
    packages: {kubelet: 1.36.3-1.1, containerd.io: 2.2.1-1~debian.13~trixie}
    slurm_node: "{{ inventory_hostname }}"
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
done:
  description: Steps that were done.
  returned: failure
  type: list
  elements: str
left:
  description: Steps that were not done.
  returned: failure
  type: list
  elements: str
"""

from ..module_utils.drawbridge.core.module import main_of
from ..module_utils.drawbridge.kube.packages_layer import KUBE_PACKAGES


def main() -> None:
    """Run this layer."""
    main_of(KUBE_PACKAGES)


if __name__ == "__main__":
    main()
