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
  - A file without Drawbridge's first line is the site's. It is compared line by line with the new one, before anything
    is written. The lines are shown in three groups, which are ours, kept and dropped. A copy of the file is kept in
    C(/var/lib/drawbridge/before).
  - If slurmctld refuses the files, the old ones are restored, because every client command parses them.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.files.staged, drawbridge.drawbridge.files.taken_over]
options:
  release:
    description: The release that the files are for, such as C(24.11); empty means that it isn't compared.
    type: str
    default: ""
  prolog_wait_s:
    description: How long to wait for running prologs before the change is C(pending), in seconds.
    type: float
    default: 60
  user:
    description: C(SlurmUser) of slurm.conf. The unit must run as this user, and so does the trial.
    type: str
    default: slurm
  scripts:
    description:
      - Programs of the site that run as parts of Drawbridge's scripts, as lists by key of slurm.conf, such as
        C(Prolog). A live slurm.conf that names one of them loses nothing.
    type: dict
    default: {}
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
from ..module_utils.drawbridge.slurm.config.layer import SLURM_CONFIG


def main() -> None:
    """Run this layer."""
    main_of(SLURM_CONFIG)


if __name__ == "__main__":
    main()
