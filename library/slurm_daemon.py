#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Keep one of Slurm's daemons running with the files that it reads."""

DOCUMENTATION = r"""
module: slurm_daemon
short_description: Keep a daemon running with the files that it reads
version_added: 0.1.0
description:
  - Writes files and directories, enables and starts a systemd unit, and restarts it when it started before its files
    last changed. The comparison is made on every run, so a run that broke off between file and restart is mended by
    the next one.
  - In check mode on a host that does not have the unit yet, says so in C(pending) instead of failing.
author: Drawbridge contributors
extends_documentation_fragment: [drawbridge.drawbridge.files]
options:
  unit:
    description: The unit, with its suffix.
    type: str
    required: true
  busy_lock:
    description:
      - A lock file. While somebody holds it shared, changes that need a restart are C(pending).
    type: path
    default: ""
  timeout_s:
    description: How long one call of systemctl may take, in seconds.
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
- name: Keep the accounting database open
  drawbridge.drawbridge.slurm_daemon:
    unit: slurmdbd.service
    files:
      - path: /etc/slurm/slurmdbd.conf
        content: "{{ slurm_controller_slurmdbd_conf }}"
        owner: slurm
        group: slurm
        mode: "0600"
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

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.core.check_mode import unknown
from ..module_utils.drawbridge.core.command import Command
from ..module_utils.drawbridge.core.daemon.io import Daemon
from ..module_utils.drawbridge.core.daemon.plan import DaemonState, plan
from ..module_utils.drawbridge.core.file_entry import FILES_ARGUMENT, entries
from ..module_utils.drawbridge.core.module import finish
from ..module_utils.drawbridge.core.units import Unit

ARGUMENT_SPEC = {
    "unit": {"type": "str", "required": True},
    "files": FILES_ARGUMENT,
    "busy_lock": {"type": "path", "default": ""},
    "timeout_s": {"type": "float", "default": 120},
}


def main() -> None:
    """Wire the unit and its files to the plan."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    name = module.params["unit"]
    unit = Unit(name, Command(module.params["timeout_s"]))
    if not unit.read().installed:
        unknown(module, f"{name} is not installed yet")
    files, passive = entries(module.params["files"])
    want = DaemonState(name, files, passive=passive)
    daemon = Daemon(unit, want, module.params["busy_lock"])
    finish(module, daemon, plan, want, in_use=daemon.busy)


if __name__ == "__main__":
    main()
