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
author: Drawbridge contributors
options:
  names:
    description: Names of packages.
    type: list
    elements: str
    required: true
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
  description: The changes, in check mode the predicted ones, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: A user slurm with another number.
  returned: always
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.core.command import Command
from ..module_utils.drawbridge.core.module import finish
from ..module_utils.drawbridge.core.packages import apt, dnf
from ..module_utils.drawbridge.core.packages.plan import PackageState, plan
from ..module_utils.drawbridge.slurm.user_io import WithUser

ARGUMENT_SPEC = {
    "names": {"type": "list", "elements": "str", "required": True},
    "manager": {"type": "str", "choices": ["apt", "dnf"], "default": "apt"},
    "user_id": {"type": "int", "default": 0},
}
MANAGERS = {"apt": apt.Packages, "dnf": dnf.Packages}


def main() -> None:
    """Wire the packages to the plan."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    names, user_id, run = module.params["names"], module.params["user_id"], Command(timeout_s=900)
    packages = MANAGERS[module.params["manager"]](run, names)
    device = WithUser(packages, run) if user_id else packages
    finish(module, device, plan, PackageState(frozenset(names), user_id=user_id))


if __name__ == "__main__":
    main()
