#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""NFS exports on this host: the client's package, mounts and their systemd units."""

DOCUMENTATION = r"""
module: nfs_mounts
short_description: Mount exports of NFS servers, with systemd units that mount them at boot
version_added: 0.1.0
description:
  - Installs the NFS client, writes one systemd C(.mount) unit for each export and starts it.
  - The kernel's table of mounts and C(nfsstat -m) are the proof, with version, transport, connections, C(hard), and
    read-only or not. Each mount must also answer.
  - A mount with another source or other options is unmounted and mounted again, and one that O(mounts) does not have
    is unmounted. Both wait until the node has no job. They are refused unless the node is drained in Slurm, or
    O(may_unmount) is true. The node is drained meanwhile. It stays drained if the mount could not be made again.
  - It never forces an unmount. If a process uses a mount, the module fails and names the process.
  - A server that hangs holds up neither the module nor the boot. The module then fails and names the server.
  - It leaves C(/etc/fstab) and units of the site alone.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.view, drawbridge.drawbridge.intent.nfs_mounts]
options:
  package:
    description: Package of the NFS client, C(nfs-common) or C(nfs-utils).
    type: str
    default: nfs-common
  manager:
    description: The package manager.
    type: str
    choices: [apt, dnf]
    default: apt
  wait_s:
    description: Seconds after which systemd ends a mount or an unmount that hangs.
    type: int
    default: 60
  probe_s:
    description: Seconds in which a mount must answer.
    type: float
    default: 10
  slurm_node:
    description: Name of this host in Slurm. What unmounts waits until the node has no job.
    type: str
    default: ""
  may_unmount:
    description: Whether an export may be unmounted on a node that is not drained in Slurm, if it has no job.
    type: bool
    default: false
  variables:
    description: Names of the role variables behind these options, for messages.
    type: dict
    default: {}
attributes:
  check_mode:
    description: Predicts the steps of the next run, refusals included.
    support: full
  diff_mode:
    description: Mounts as in C(/proc/mounts), and the units.
    support: full
"""

EXAMPLES = r"""
- name: Mount the projects' export
  drawbridge.drawbridge.nfs_mounts:
    mounts:
      - {server: filer, export: /export/data, mount: /data, nconnect: 8}
    slurm_node: gpu07

- name: Unmount all of Drawbridge's exports on a drained node
  drawbridge.drawbridge.nfs_mounts:
    mounts: []
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
from ..module_utils.drawbridge.storage.nfs.layer import NFS_MOUNTS


def main() -> None:
    """Run this layer."""
    main_of(NFS_MOUNTS)


if __name__ == "__main__":
    main()
