#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Give slurmctld its configuration, disturbing it as little as possible."""

DOCUMENTATION = r"""
module: slurm_config
short_description: Give slurmctld its configuration, disturbing it as little as possible
version_added: 0.1.0
description:
  - Writes slurm.conf and the files beside it, each replaced atomically, then starts slurmctld, lets it reconfigure, or
    restarts it for what it reads only when it starts. Running jobs survive all of them, and the least is done.
  - New files are shown to Slurm before they replace anything. A slurmctld of its own, in a network namespace of its own
    and on a scratch directory, must say that it would serve with them; check mode asks it too.
  - Refuses values that no running cluster can follow, such as another C(ClusterName), and files that were written for
    another release than the one that is installed.
  - Whether the running daemon has read its files is asked of the daemon itself, by the hash that
    C(scontrol show config) compares; slurm.conf names the digests of the other files in comments, so the hash covers
    them too.
  - While the prolog of a job runs, nothing is changed after O(prolog_wait_s) seconds and the change is C(pending),
    since a reconfigure could lose that job's launch.
  - When slurmctld refuses the files the old ones are put back, because every client command parses them.
author: Drawbridge contributors
extends_documentation_fragment: [drawbridge.drawbridge.files.staged]
options:
  conf:
    description: Path of slurm.conf among O(files).
    type: path
    default: /etc/slurm/slurm.conf
  release:
    description: The release that the files are written for, such as C(24.11); empty means that it isn't compared.
    type: str
    default: ""
  trial_s:
    description: How long Slurm may take to judge new files, in seconds.
    type: float
    default: 60
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

from ..module_utils.drawbridge.core.check_mode import unknown
from ..module_utils.drawbridge.core.command import Command
from ..module_utils.drawbridge.core.converge import Settle
from ..module_utils.drawbridge.core.daemon.plan import DaemonState, plan
from ..module_utils.drawbridge.core.file_entry import STAGED_FILES_ARGUMENT, entries, paths
from ..module_utils.drawbridge.core.module import finish
from ..module_utils.drawbridge.core.units import Unit
from ..module_utils.drawbridge.slurm.config.io import Care, Slurmctld
from ..module_utils.drawbridge.slurm.config.trial_io import Trial

ARGUMENT_SPEC = {
    "files": STAGED_FILES_ARGUMENT,
    "conf": {"type": "path", "default": "/etc/slurm/slurm.conf"},
    "release": {"type": "str", "default": ""},
    "trial_s": {"type": "float", "default": 60},
    "prolog_wait_s": {"type": "float", "default": 60},
    "timeout_s": {"type": "float", "default": 120},
}
UNIT = "slurmctld.service"


def main() -> None:
    """Wire slurmctld and its files to the plan."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    params = module.params
    run = Command(params["timeout_s"])
    unit = Unit(UNIT, run)
    if not unit.read().installed:
        unknown(module, f"{UNIT} is not installed yet")
    files, passive = entries(params["files"])
    want = DaemonState(UNIT, files, passive=passive, at_start=paths(params["files"], "at_start"))
    wait_s = 0 if module.check_mode else params["prolog_wait_s"]
    care = Care(params["conf"], params["release"], Trial(params["trial_s"]).judge, wait_s)
    device = Slurmctld(unit, want, run, care)
    finish(module, device, partial(plan, refresh="reconfigure"), want, Settle(timeout_s=30), in_use=device.busy)


if __name__ == "__main__":
    main()
