#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Give slurmctld its configuration, disturbing it as little as possible."""

DOCUMENTATION = r"""
module: slurm_config
short_description: Give slurmctld its configuration, disturbing it as little as possible
version_added: 0.1.0
description:
  - Writes slurm.conf and the files beside it, each replaced atomically, then starts slurmctld or lets it reconfigure.
    Running jobs survive both.
  - Whether the running daemon has read its files is asked of the daemon itself, by the hash that
    C(scontrol show config) compares; slurm.conf names the digests of the other files in comments, so the hash covers
    them too.
  - While the prolog of a job runs, nothing is changed after O(prolog_wait_s) seconds and the change is C(pending),
    since a reconfigure could lose that job's launch.
  - When slurmctld refuses the files the old ones are put back, because every client command parses them.
author: Drawbridge contributors
options:
  files:
    description: Files and directories, in the order in which they are written.
    type: list
    elements: dict
    default: []
    suboptions:
      path:
        description: Absolute path.
        type: path
        required: true
      content:
        description: Text of the file. Without it, the path is a directory.
        type: str
      mode:
        description: Permissions, four octal digits in quotes.
        type: str
        default: "0644"
      owner:
        description: Name of the owner.
        type: str
        default: root
      group:
        description: Name of the group.
        type: str
        default: root
      passive:
        description: The daemon reads this file anew each time, so a change needs no restart.
        type: bool
        default: false
  prolog_wait_s:
    description: How long to wait for running prologs before the change is C(pending), in seconds.
    type: float
    default: 60
  timeout_s:
    description: How long one call of systemctl or scontrol may take, in seconds.
    type: float
    default: 120
attributes:
  check_mode:
    description: Predicts the steps of the next run from what it reads.
    support: full
  diff_mode:
    description: Files with their contents, and the unit's state.
    support: full
"""

EXAMPLES = r"""
- name: Give the controller its configuration
  drawbridge.drawbridge.slurm_config:
    files:
      - path: /etc/slurm/slurm.conf
        content: "{{ slurm_controller_files['slurm.conf'] }}"
"""

RETURN = r"""
steps:
  description: What was done, or in check mode would be done, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: What can't be done now, and why.
  returned: always
  type: list
  elements: str
"""

from functools import partial

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.adapters.command import Command
from ..module_utils.drawbridge.adapters.slurmctld import Slurmctld
from ..module_utils.drawbridge.adapters.unit import Unit
from ..module_utils.drawbridge.converge import Settle
from ..module_utils.drawbridge.dialects.entry import FILES_ARGUMENT, entries
from ..module_utils.drawbridge.module import finish
from ..module_utils.drawbridge.plans.daemon import DaemonState, plan
from ..module_utils.drawbridge.unready import unready

ARGUMENT_SPEC = {
    "files": FILES_ARGUMENT,
    "prolog_wait_s": {"type": "float", "default": 60},
    "timeout_s": {"type": "float", "default": 120},
}
UNIT = "slurmctld.service"


def main() -> None:
    """Wire slurmctld and its files to the plan."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    run = Command(module.params["timeout_s"])
    unit = Unit(UNIT, run)
    if not unit.read().installed:
        unready(module, f"{UNIT} is not installed yet")
    files, passive = entries(module.params["files"])
    want = DaemonState(UNIT, files, passive=passive)
    device = Slurmctld(unit, want, run, 0 if module.check_mode else module.params["prolog_wait_s"])
    finish(module, device, partial(plan, refresh="reconfigure"), want, Settle(timeout_s=30))


if __name__ == "__main__":
    main()
