#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Decide who may log in to a node."""

DOCUMENTATION = r"""
module: slurm_node_logins
short_description: Decide who may log in to a node
version_added: 0.1.0
description:
  - Writes a block of lines at the top of sshd's file for PAM. With V(adopt) users with a job on the node log in,
    and the login becomes a part of the job. With V(closed) root and the admins alone log in.
  - Programs that run a user's commands later (C(cron), C(atd)) run those of admins and of the system's own accounts.
  - Masks C(systemd-logind.service), which would take a login out of its job again. Sessions that are open stay open.
  - Refuses to lock out the user who connects. Fails if sshd does not ask PAM.
  - With V(site) it does nothing. The visit of a node removes blocks and mask that an earlier run wrote.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.view]
options:
  policy:
    description: Who may log in.
    type: str
    choices: [adopt, closed, site]
    default: site
  admins:
    description: Users who may always log in, beside root.
    type: list
    elements: str
    default: []
  admin_groups:
    description: Groups whose members may always log in.
    type: list
    elements: str
    default: []
  name:
    description: NodeName of this host.
    type: str
  folder:
    description: Folder of PAM's files.
    type: path
    default: /etc/pam.d
attributes:
  check_mode:
    description: Predicts exactly.
    support: full
  diff_mode:
    description: Drawbridge's lines of each file, and whether systemd-logind is masked.
    support: full
"""

EXAMPLES = r"""
- name: Let users log in where their jobs are
  drawbridge.drawbridge.slurm_node_logins:
    policy: adopt
    admin_groups: [wheel]
    name: gpu01
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
from ..module_utils.drawbridge.slurm.logins.layer import SLURM_NODE_LOGINS


def main() -> None:
    """Run this layer."""
    main_of(SLURM_NODE_LOGINS)


if __name__ == "__main__":
    main()
