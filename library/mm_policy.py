#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Placement rules in the policy of a Storage Scale file system."""

DOCUMENTATION = r"""
module: mm_policy
short_description: Place new files of filesets in pools of IBM Storage Scale (GPFS)
version_added: 0.1.0
description:
  - Runs on one admin host of the cluster that owns the file system. It keeps one rule for each fileset, between the
    lines C(/* drawbridge begin */) and C(/* drawbridge end */) of the policy. All other text stays as it is.
  - A new block comes before the first rule of the site that places all files. It needs O(into_site_policy).
  - Without any placement rule, GPFS uses the first data pool. With rules of which none fits, it refuses a new file. So
    the block ends with a rule for all other files where the site has no placement rule.
  - Files that exist stay in their pools.
  - In check mode GPFS validates the new policy with C(mmchpolicy -I test), which installs nothing.
author: Drawbridge contributors (@drawbridge)
options:
  device:
    description: Device name of the file system.
    type: str
    required: true
  filesets:
    description: Filesets with the pools of their new files. Those of an earlier run lose their rules, unless this or
      O(keep) names them.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the fileset.
        type: str
        required: true
      pool:
        description: Name of the storage pool.
        type: str
        required: true
  keep:
    description: Filesets that this run is not about. Their rules stay as they are.
    type: list
    elements: str
    default: []
  default_pool:
    description: Pool of all other files, where no placement rule of the site exists. Empty for C(system), in a file
      system that has no other pool.
    type: str
    default: ""
  into_site_policy:
    description: Consent. Rules of projects are put into a policy that Drawbridge did not write.
    type: bool
    default: false
  variables:
    description: Variables that set this module's options, by option, for error messages.
    type: dict
    default: {}
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
    description: The policy.
    support: full
"""

EXAMPLES = r"""
- name: Keep the files of a project on flash
  drawbridge.drawbridge.mm_policy:
    device: fs1
    filesets: [{name: vision, pool: flash}]
    default_pool: data
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
from ..module_utils.drawbridge.storage.gpfs.policies.layer import MM_POLICY


def main() -> None:
    """Run this layer."""
    main_of(MM_POLICY)


if __name__ == "__main__":
    main()
