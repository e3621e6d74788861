#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Install packages without starting the services that they bring."""

DOCUMENTATION = r"""
module: slurm_packages
short_description: Install packages without starting the services that they bring
version_added: 0.1.0
description:
  - Installs what is missing in one transaction of apt, after reading the package lists anew. What is there is neither
    upgraded nor removed, and a host that has everything is only read.
  - Services of the packages stay off, because Slurm's daemons wait long for a configuration that is not there yet.
  - Works in check mode on a host that has never read its package lists.
author: Drawbridge contributors
options:
  names:
    description: Names of packages.
    type: list
    elements: str
    required: true
  timeout_s:
    description: How long one call of apt-get may take, in seconds.
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
  description: Always empty.
  returned: always
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.adapters.apt import Packages
from ..module_utils.drawbridge.adapters.command import Command
from ..module_utils.drawbridge.module import finish
from ..module_utils.drawbridge.plans.packages import PackageState, plan

ARGUMENT_SPEC = {
    "names": {"type": "list", "elements": "str", "required": True},
    "timeout_s": {"type": "float", "default": 900},
}


def main() -> None:
    """Wire the packages to the plan."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    names = module.params["names"]
    device = Packages(Command(module.params["timeout_s"]), names)
    finish(module, device, plan, PackageState(frozenset(names)))


if __name__ == "__main__":
    main()
