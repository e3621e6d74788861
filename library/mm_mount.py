#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Storage Scale file systems on this host."""

DOCUMENTATION = r"""
module: mm_mount
short_description: Mount IBM Storage Scale (GPFS) file systems on this host
version_added: 0.1.0
description:
  - Mounts with C(mmmount), on this host alone, at the default mount point of each file system, which must be the one
    given here. The kernel's table of mounts is the proof.
  - The host must be an active member of the cluster (M(drawbridge.drawbridge.mm_node)). A host without the cluster's
    configuration, such as a reinstalled one, is refused; the error has the command that restores it.
  - It never unmounts a file system or writes C(/etc/fstab).
author: Drawbridge contributors
extends_documentation_fragment: [drawbridge.drawbridge.intent.gpfs_filesystems]
options:
  cluster:
    description: Name of the cluster that this host must belong to; empty for any.
    type: str
    default: ""
  mm_path:
    description: Directory of the mm commands.
    type: path
    default: /usr/lpp/mmfs/bin
  patience_s:
    description: Seconds for which the module waits for a host that has just joined to become active.
    type: int
    default: 60
  timeout_s:
    description: Seconds after which one mm command is killed.
    type: int
    default: 120
attributes:
  check_mode:
    description: Predicts the steps of the next run, refusals included.
    support: full
  diff_mode:
    description: Lines as in C(/proc/mounts).
    support: full
"""

EXAMPLES = r"""
- name: Mount the projects' file system
  drawbridge.drawbridge.mm_mount:
    filesystems:
      - {device: fs1, mount: /gpfs/fs1}
"""

RETURN = r"""
steps:
  description: File systems mounted, or predicted in check mode, as sentences.
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
