#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A remote mount, at the cluster that owns the file system."""

DOCUMENTATION = r"""
module: mm_auth
short_description: Let another IBM Storage Scale (GPFS) cluster mount file systems of this one
version_added: 0.1.0
description:
  - Runs on one admin host of the owner. It authorizes the other cluster by its public key with C(mmauth), and grants
    each file system. A grant takes effect at the next mount.
  - The digests of both keys must be those of the intent. A key with another digest is deleted again.
  - It never makes a key of this cluster. Other grants stay as they are.
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
  client:
    description: Name of the cluster that mounts the file systems.
    type: str
    required: true
  client_fingerprint:
    description: SHA digest of its public key.
    type: str
    required: true
  grants:
    description: File systems that it may mount.
    type: list
    elements: dict
    required: true
    suboptions:
      device:
        description: Device name in this cluster.
        type: str
        required: true
      access:
        description: Access to it.
        type: str
        choices: [rw, ro]
        default: rw
  root_becomes:
    description: The UID:GID that root of the other cluster has here; C(root) for no root squash.
    type: str
    default: root
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
    description: The authorized cluster with its grants.
    support: full
"""

EXAMPLES = r"""
- name: Let the compute cluster mount
  drawbridge.drawbridge.mm_auth:
    cluster: ess.example.org
    fingerprint: 5d26357a46d0526b2ba985bd18f910c9111f3219d241c27141cca050c8500000
    client: compute.example.org
    client_fingerprint: 120181a28e571aebef129fc3d6f0ab4808f7805b1bb1c702ad0900fd9dfcba05
    key: "{{ compute.public_key }}"
    grants: [{device: essfs1}]
    root_becomes: "65534:65534"
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
from ..module_utils.drawbridge.storage.gpfs.remote.layer import MM_AUTH


def main() -> None:
    """Run this layer."""
    main_of(MM_AUTH)


if __name__ == "__main__":
    main()
