#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Install slurmctld's configuration with the least disruption."""

DOCUMENTATION = r"""
module: slurm_config
short_description: Install slurmctld's configuration with the least disruption
version_added: 0.1.0
description:
  - Writes slurm.conf and the files beside it, each atomically. Then it starts slurmctld, reconfigures it, or restarts
    it if files changed that it reads only when it starts. Running jobs survive all three.
  - Before a file is replaced, a trial slurmctld reads the new files, in its own network namespace and on a scratch
    directory. Files that it refuses are not installed. Check mode runs the trial too.
  - Refuses values that can't change in a running cluster, such as C(ClusterName), and files for another release than
    the installed one.
  - The hash in C(scontrol show config) shows whether the daemon has read its files. It covers the other files too,
    because slurm.conf has their digests in comments.
  - If a job's prolog still runs after O(prolog_wait_s) seconds, the change is C(pending). A reconfigure could lose that
    job's launch.
  - If slurmctld refuses the files, the old ones are restored, because every client command parses them.
author: Drawbridge contributors
extends_documentation_fragment: [drawbridge.drawbridge.files.staged]
options:
  release:
    description: The release that the files are for, such as C(24.11); empty means that it isn't compared.
    type: str
    default: ""
  prolog_wait_s:
    description: How long to wait for running prologs before the change is C(pending), in seconds.
    type: float
    default: 60
attributes:
  check_mode:
    description: Predicts the steps of the next run.
    support: full
  diff_mode:
    description: Contents of the files, and the unit's state.
    support: full
"""

EXAMPLES = r"""
- name: Install the controller's configuration
  drawbridge.drawbridge.slurm_config:
    files:
      - path: /etc/slurm/slurm.conf
        content: "{{ slurm_controller_files['slurm.conf'] }}"
"""

RETURN = r"""
steps:
  description: The changes, in check mode the predicted ones, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Changes that are not possible now, and why.
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
from ..module_utils.drawbridge.slurm.config.io import Safeguards, Slurmctld
from ..module_utils.drawbridge.slurm.config.trial_io import Trial

ARGUMENT_SPEC = {
    "files": STAGED_FILES_ARGUMENT,
    "release": {"type": "str", "default": ""},
    "prolog_wait_s": {"type": "float", "default": 60},
}
UNIT, CONF = "slurmctld.service", "/etc/slurm/slurm.conf"


def main() -> None:
    """Wire slurmctld and its files to the plan."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    params = module.params
    run = Command(timeout_s=120)
    unit = Unit(UNIT, run)
    if not unit.read().installed:
        unknown(module, f"{UNIT} is not installed yet")
    files, passive = entries(params["files"])
    want = DaemonState(UNIT, files, passive=passive, at_start=paths(params["files"], "at_start"))
    wait_s = 0 if module.check_mode else params["prolog_wait_s"]
    safe = Safeguards(CONF, params["release"], Trial(timeout_s=60).check, wait_s)
    device = Slurmctld(unit, want, run, safe)
    finish(module, device, partial(plan, refresh="reconfigure"), want, Settle(timeout_s=30), in_use=device.busy)


if __name__ == "__main__":
    main()
