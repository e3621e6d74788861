#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Keep a daemon running with its current files."""

DOCUMENTATION = r"""
module: slurm_daemon
short_description: Keep a daemon running with its current files
version_added: 0.1.0
description:
  - Writes files and directories, and enables and starts a systemd unit. The unit is restarted if it started before its
    files last changed. Every run compares this, so the next run completes an interrupted one.
  - Environment files of the site are compared line by line with the new ones, like the files of
    M(drawbridge.drawbridge.slurm_config). Slurm's own files, such as slurm.conf, are refused; that module and
    M(drawbridge.drawbridge.slurmdbd_config) write them.
  - In check mode, a unit that is not installed yet is C(pending), not a failure.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.files.daemon, drawbridge.drawbridge.files.taken_over]
options:
  unit:
    description: The unit, with its suffix.
    type: str
    required: true
  busy_lock:
    description:
      - A lock file. While a process holds it shared, changes that need a restart are C(pending).
    type: path
    default: ""
  stale:
    description:
      - Files that the daemon fetches from the controller. A copy of the site's is moved to
        C(/var/lib/drawbridge/before), because commands on this host would read it. A file that Drawbridge has written
        stays.
    type: list
    elements: path
    default: []
attributes:
  check_mode:
    description: Predicts the steps of the next run.
    support: full
  diff_mode:
    description: Contents of the files, and the unit's state.
    support: full
"""

EXAMPLES = r"""
- name: Keep slurmd running
  drawbridge.drawbridge.slurm_daemon:
    unit: slurmd.service
    files:
      - path: /etc/default/slurmd
        content: |
          # Managed by Drawbridge: change the inventory, not this file.
          SLURMD_OPTIONS="--conf-server ctl"
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
from ..module_utils.drawbridge.slurm.daemon_layer import SLURM_DAEMON


def main() -> None:
    """Run this layer."""
    main_of(SLURM_DAEMON)


if __name__ == "__main__":
    main()
