#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Install packages without starting the services that they bring."""

DOCUMENTATION = r"""
module: slurm_packages
short_description: Install packages without starting the services that they bring
version_added: 0.1.0
description:
  - Installs what is missing in one transaction of apt, after reading the package lists anew, or of dnf. What is there
    is neither upgraded nor removed, and a host that has everything is only read.
  - Services of the packages stay off, because Slurm's daemons wait long for a configuration that is not there yet.
  - Works in check mode on a host that has never read its package lists.
author: Drawbridge contributors
options:
  names:
    description: Names of packages.
    type: list
    elements: str
    required: true
  manager:
    description: What installs packages on this host.
    type: str
    choices: [apt, dnf]
    default: apt
  user_id:
    description: Number of the user slurm, who is made with it where packages bring none; 0 means that they bring it.
    type: int
    default: 0
  timeout_s:
    description: How long one call of apt-get or dnf may take, in seconds.
    type: float
    default: 900
attributes:
  check_mode:
    description: Predicts the steps of the next run from what it reads.
    support: full
  diff_mode:
    description: The packages that are installed, one a line.
    support: full
"""

EXAMPLES = r"""
- name: Install what a node needs
  drawbridge.drawbridge.slurm_packages:
    names: [munge, slurmd]
"""

RETURN = r"""
steps:
  description: What was done, or in check mode would be done, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: A user slurm who has another number.
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
    "timeout_s": {"type": "float", "default": 900},
}
MANAGERS = {"apt": apt.Packages, "dnf": dnf.Packages}


def main() -> None:
    """Wire the packages to the plan."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    names, user_id, run = module.params["names"], module.params["user_id"], Command(module.params["timeout_s"])
    packages = MANAGERS[module.params["manager"]](run, names)
    device = WithUser(packages, run) if user_id else packages
    finish(module, device, plan, PackageState(frozenset(names), user_id=user_id))


if __name__ == "__main__":
    main()
