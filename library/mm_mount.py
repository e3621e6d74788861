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

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.core.command import Command
from ..module_utils.drawbridge.core.module import finish
from ..module_utils.drawbridge.core.spec import bare, elements
from ..module_utils.drawbridge.storage.gpfs.io import MM_PATH, Mm
from ..module_utils.drawbridge.storage.gpfs.model import Filesystem
from ..module_utils.drawbridge.storage.gpfs.mounts.io import LocalMounts
from ..module_utils.drawbridge.storage.gpfs.mounts.plan import Mounts, plan

ARGUMENT_SPEC = {
    "filesystems": bare({**elements(Filesystem), "required": True}),
    "cluster": {"type": "str", "default": ""},
    "mm_path": {"type": "path", "default": MM_PATH},
    "patience_s": {"type": "int", "default": 60},
    "timeout_s": {"type": "int", "default": 120},
}


def main() -> None:
    """Converge the mounts of this host."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    params = module.params
    want = Mounts({filesystem["device"]: filesystem["mount"] for filesystem in params["filesystems"]})
    mm = Mm(Command(params["timeout_s"]), params["mm_path"])
    device = LocalMounts(
        mm, want, Path("/proc/self/mountinfo").read_text, params["cluster"], patience_s=params["patience_s"]
    )
    finish(module, device, plan, want)


if __name__ == "__main__":
    main()
