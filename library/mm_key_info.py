#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The public key of a Storage Scale cluster."""

DOCUMENTATION = r"""
module: mm_key_info
short_description: Read the public key of an IBM Storage Scale (GPFS) cluster
version_added: 0.1.0
description:
  - Runs on an admin host of the cluster and changes nothing. Other clusters get the key before a remote mount.
  - It never makes a key. C(mmauth genkey new) would invalidate what other clusters have.
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
  intent_key:
    description: Key of C(drawbridge_gpfs) that has O(fingerprint), for messages.
    type: str
    default: fingerprint
  mm_path:
    description: Directory of the mm commands.
    type: path
    default: /usr/lpp/mmfs/bin
  timeout_s:
    description: Seconds after which one mm command is killed.
    type: int
    default: 120
attributes:
  check_mode:
    description: Predicts the steps of the next run, refusals included.
    support: full
  diff_mode:
    description: There are no changes.
    support: full
"""

EXAMPLES = r"""
- name: Read the key that the owner needs
  drawbridge.drawbridge.mm_key_info:
    cluster: compute.example.org
    fingerprint: 120181a28e571aebef129fc3d6f0ab4808f7805b1bb1c702ad0900fd9dfcba05
  register: compute
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
public_key:
  description: Text of the public key.
  returned: success
  type: str
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
from ..module_utils.drawbridge.storage.gpfs.remote.layer import MM_KEY_INFO


def main() -> None:
    """Run this layer."""
    main_of(MM_KEY_INFO)


if __name__ == "__main__":
    main()
