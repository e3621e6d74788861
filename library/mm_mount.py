#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Storage Scale on this host: the daemon and its file systems."""

DOCUMENTATION = r"""
module: mm_mount
short_description: Start IBM Storage Scale (GPFS) on this host and mount its file systems, or stop it
version_added: 0.1.0
description:
  - Starts GPFS with C(mmstartup) and mounts with C(mmmount), on this host alone. The default mount point of each file
    system must be the one given here. The kernel's table of mounts is the proof.
  - The host must be a member of the cluster (M(drawbridge.drawbridge.mm_node)).
  - If the running daemon uses other values of O(settings), GPFS restarts once the node has no job. The node is
    drained meanwhile. A file system that a process uses is not unmounted. The module then fails and names the process.
  - With O(state=absent) it unmounts all file systems of GPFS and stops it. It refuses that unless the node is drained
    in Slurm, has no job and no pod of a job, and its kubelet is stopped.
  - It never writes C(/etc/fstab) and never forces an unmount.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.view, drawbridge.drawbridge.intent.gpfs_filesystems]
options:
  state:
    description: Whether GPFS runs with its file systems mounted, or is stopped for a host that leaves.
    type: str
    choices: [mounted, absent]
    default: mounted
  cluster:
    description: Name of the cluster that this host must belong to; empty for any.
    type: str
    default: ""
  settings:
    description: Attributes that the running daemon must use.
    type: dict
    default: {}
  node_class:
    description: The cluster's node class of this host, for which O(settings) are set.
    type: str
    default: ""
  slurm_node:
    description: Name of this host in Slurm. What disturbs jobs waits until the node has none.
    type: str
    default: ""
  mm_path:
    description: Directory of the mm commands.
    type: path
    default: /usr/lpp/mmfs/bin
  patience_s:
    description: Seconds for which the module waits until the configuration of a new join arrives.
    type: int
    default: 60
  settle_s:
    description: Seconds in which a started daemon must become active.
    type: int
    default: 300
  timeout_s:
    description: Seconds after which one mm command is killed.
    type: int
    default: 120
attributes:
  check_mode:
    description: Predicts the steps of the next run, refusals included.
    support: full
  diff_mode:
    description: The daemon, its settings, and mounts as in C(/proc/mounts).
    support: full
"""

EXAMPLES = r"""
- name: Mount the projects' file system
  drawbridge.drawbridge.mm_mount:
    filesystems:
      - {device: fs1, mount: /gpfs/fs1}

- name: Unmount everything and stop GPFS on a drained node
  drawbridge.drawbridge.mm_mount:
    filesystems: []
    state: absent
    slurm_node: gpu07
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
from ..module_utils.drawbridge.storage.gpfs.mounts.layer import MM_MOUNT


def main() -> None:
    """Run this layer."""
    main_of(MM_MOUNT)


if __name__ == "__main__":
    main()
