#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A remote mount, at the cluster that mounts the file system."""

DOCUMENTATION = r"""
module: mm_remote
short_description: Define file systems of another IBM Storage Scale (GPFS) cluster in this one
version_added: 0.1.0
description:
  - Runs on one admin host of the cluster that mounts. It defines the owner with C(mmremotecluster) and the file
    systems with C(mmremotefs). M(drawbridge.drawbridge.mm_mount) mounts them.
  - The digests of both keys must be those of the intent.
  - It changes contact nodes and keys that the owner has changed. GPFS does not do that itself.
  - A file system that is mounted keeps its definition; the change is C(pending).
author: Drawbridge contributors (@drawbridge)
options:
  cluster:
    description: Name of this host's cluster. Another cluster is refused.
    type: str
    required: true
  fingerprint:
    description: SHA digest of its public key, as C(mmauth show .) prints it. Another key is refused.
    type: str
    required: true
  key:
    description: Text of the other cluster's public key. It is needed where that key is not known yet.
    type: str
    default: ""
  owner:
    description: Name of the cluster that owns the file systems.
    type: str
    required: true
  owner_fingerprint:
    description: SHA digest of its public key.
    type: str
    required: true
  contacts:
    description: Contact nodes of the owner.
    type: list
    elements: str
    required: true
  filesystems:
    description: The file systems.
    type: list
    elements: dict
    required: true
    suboptions:
      device:
        description: Device name in this cluster.
        type: str
        required: true
      mount:
        description: Its mount point.
        type: path
        required: true
      owner_device:
        description: Device name in the owner's cluster.
        type: str
        required: true
      access:
        description: Access with which nodes mount it.
        type: str
        choices: [rw, ro]
        default: rw
  uid_remapping:
    description: Whether this cluster remaps UIDs (C(enableUIDremap)). Another value is refused, because users would
      then be other users at the owner.
    type: bool
    default: false
  mm_path:
    description: Directory of the mm commands.
    type: path
    default: /usr/lpp/mmfs/bin
  lock_wait_s:
    description: Seconds for which the module retries while the configuration lock is busy.
    type: int
    default: 600
  timeout_s:
    description: Seconds after which one mm command is killed.
    type: int
    default: 120
attributes:
  check_mode:
    description: Predicts the steps of the next run, refusals included.
    support: full
  diff_mode:
    description: The owner and its file systems.
    support: full
"""

EXAMPLES = r"""
- name: Define the owner's file system
  drawbridge.drawbridge.mm_remote:
    cluster: compute.example.org
    fingerprint: 120181a28e571aebef129fc3d6f0ab4808f7805b1bb1c702ad0900fd9dfcba05
    owner: ess.example.org
    owner_fingerprint: 5d26357a46d0526b2ba985bd18f910c9111f3219d241c27141cca050c8500000
    key: "{{ ess.public_key }}"
    contacts: [ess1, ess2]
    filesystems: [{device: fs1, mount: /gpfs/fs1, owner_device: essfs1}]
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
from ..module_utils.drawbridge.storage.gpfs.remote.layer import MM_REMOTE


def main() -> None:
    """Run this layer."""
    main_of(MM_REMOTE)


if __name__ == "__main__":
    main()
