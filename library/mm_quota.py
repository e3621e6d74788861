#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Limits of filesets in a Storage Scale file system."""

DOCUMENTATION = r"""
module: mm_quota
short_description: Limit the size and the inodes of filesets in IBM Storage Scale (GPFS)
version_added: 0.1.0
description:
  - Runs on one admin host of the cluster that owns the file system. It reads all limits with one C(mmrepquota), and
    sets those that differ with C(mmsetquota). Soft and hard limit are the same.
  - GPFS rounds a size up to whole blocks of the file system. A limit less than one block above counts as equal.
  - A limit below the usage is set all the same, with a warning. Users of the fileset can then only delete.
  - A file system that does not enforce quotas of filesets is refused. Limits of other filesets, of users and of groups
    are left alone.
author: Drawbridge contributors (@drawbridge)
options:
  device:
    description: Device name of the file system.
    type: str
    required: true
  filesets:
    description: Filesets with their limits.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the fileset.
        type: str
        required: true
      block_kib:
        description: Limit of its size in KiB, replicas included; 0 is no limit.
        type: int
        default: 0
      inodes:
        description: Limit of its inodes; 0 is no limit.
        type: int
        default: 0
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
    description: One line for each fileset, with the arguments of C(mmsetquota).
    support: full
"""

EXAMPLES = r"""
- name: Limit projects to 10 TiB and two million inodes
  drawbridge.drawbridge.mm_quota:
    device: fs1
    filesets:
      - {name: vision, block_kib: "{{ 10 * 1024 ** 3 }}", inodes: 2000000}
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
from ..module_utils.drawbridge.storage.gpfs.quotas.layer import MM_QUOTA


def main() -> None:
    """Run this layer."""
    main_of(MM_QUOTA)


if __name__ == "__main__":
    main()
