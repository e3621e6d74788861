#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Install packages without starting their services."""

DOCUMENTATION = r"""
module: slurm_packages
short_description: Install packages without starting their services
version_added: 0.1.0
description:
  - Installs missing packages in one transaction of dnf, or of apt after an update of its package lists. Installed
    packages are neither upgraded nor removed.
  - Services of the packages stay off, because Slurm's daemons wait long for a missing configuration.
  - Check mode works on a host without package lists.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.view]
options:
  names:
    description: Names of packages.
    type: list
    elements: str
  manager:
    description: The package manager of this host.
    type: str
    choices: [apt, dnf]
    default: apt
  user_id:
    description: Number of the user slurm, which is created before the packages; 0 means that they create it.
    type: int
    default: 0
attributes:
  check_mode:
    description: Predicts the steps of the next run.
    support: full
  diff_mode:
    description: The installed packages, one a line.
    support: full
"""

EXAMPLES = r"""
- name: Install a node's packages
  drawbridge.drawbridge.slurm_packages:
    names: [munge, slurmd]
"""

RETURN = r"""
steps:
  description: Changes made, or predicted in check mode, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: A user slurm with another number.
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
from ..module_utils.drawbridge.slurm.packages_layer import SLURM_PACKAGES


def main() -> None:
    """Run this layer."""
    main_of(SLURM_PACKAGES)


if __name__ == "__main__":
    main()
