#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Filesets of projects in a Storage Scale file system."""

DOCUMENTATION = r"""
module: mm_fileset
short_description: Make filesets of an IBM Storage Scale (GPFS) file system, and link them
version_added: 0.1.0
description:
  - Runs on one admin host of the cluster that owns the file system. The file system must be mounted there.
  - It creates independent filesets, links them, raises their inodes, and sets owner, group and mode of each junction's
    directory. It changes nothing below that directory, and makes missing folders above it with mode 0755 for root.
  - A fileset that Drawbridge made has the comment C(drawbridge project NAME). One with another comment belongs to
    someone else, and is refused unless O(adopt) names it.
  - A fileset that is linked elsewhere is refused, because users may know that path. The error has the commands.
  - Inodes are never lowered. GPFS rounds them up, and a number that is only rounded up counts as equal.
  - A user or group that this host does not know is C(pending). Until then, only root reaches the directory of a new
    fileset.
  - A fileset that must be unlinked is closed first, so that no user opens anything below it.
  - A fileset that a process of this host uses is not unlinked, which is C(pending). So is one that GPFS refuses to
    unlink because other hosts use it. No fileset is unlinked by force.
  - The directory's mode is set as C(chmod) does. GPFS then drops an NFSv4 ACL that the directory has.
author: Drawbridge contributors (@drawbridge)
options:
  device:
    description: Device name of the file system.
    type: str
    required: true
  mount:
    description: Its mount point on this host.
    type: path
    required: true
  filesets:
    description: The filesets. Others are left alone.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the fileset.
        type: str
        required: true
      junction:
        description: Absolute path of its junction, below O(mount).
        type: path
        required: true
      state:
        description: Linked; or kept without a junction, so that no path leads to its data; or deleted with its data.
        type: str
        choices: [linked, unlinked, absent]
        default: linked
      comment:
        description: Text after the comment of Drawbridge.
        type: str
        default: ""
      inode_limit:
        description: Most inodes. With 0, GPFS chooses for a new fileset, and the number is not compared.
        type: int
        default: 0
      inode_prealloc:
        description: Inodes that GPFS allocates at once, at most its limit.
        type: int
        default: 0
      owner:
        description: Owner of the junction's directory, a name or a number.
        type: str
        default: root
      group:
        description: Group of that directory, a name or a number.
        type: str
        default: root
      mode:
        description: Mode of that directory, four octal digits in quotes.
        type: str
        default: "0700"
      closed:
        description: Give the directory to root with mode 0500, so that no user reaches anything below it. The next run
          without it restores owner, group and mode.
        type: bool
        default: false
  adopt:
    description: Consent. These filesets exist with another comment, and now belong to Drawbridge.
    type: list
    elements: str
    default: []
  delete:
    description: Consent. These filesets are deleted with their data, if their state is C(absent).
    type: list
    elements: str
    default: []
  part:
    description:
      - What this run does. C(filesets) does all but give directories to their owners, which C(owners) does. With
        M(drawbridge.drawbridge.mm_quota) and M(drawbridge.drawbridge.mm_policy) between the two, users write nothing
        before limits and pools are set.
    type: str
    choices: [all, filesets, owners]
    default: all
  quotas:
    description:
      - Whether filesets get limits (M(drawbridge.drawbridge.mm_quota)). Then no fileset is created in a file system
        that does not enforce quotas of filesets, or whose C(df) does not show them.
    type: bool
    default: true
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
  change_timeout_s:
    description: Seconds after which a command that changes a fileset is killed. Deleting one may take hours.
    type: int
    default: 3600
attributes:
  check_mode:
    description: Predicts the steps of the next run, refusals included.
    support: full
  diff_mode:
    description: Folders, and one line for each fileset.
    support: full
"""

EXAMPLES = r"""
- name: Make the filesets of projects
  drawbridge.drawbridge.mm_fileset:
    device: fs1
    mount: /gpfs/fs1
    filesets:
      - {name: vision, junction: /gpfs/fs1/projects/vision, inode_limit: 2000000, group: vision, mode: "2770"}
      - {name: speech, junction: /gpfs/fs1/projects/speech, closed: true}

- name: Delete the data of a project
  drawbridge.drawbridge.mm_fileset:
    device: fs1
    mount: /gpfs/fs1
    filesets:
      - {name: speech, junction: /gpfs/fs1/projects/speech, state: absent}
    delete: [speech]
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
from ..module_utils.drawbridge.storage.gpfs.filesets.layer import MM_FILESET


def main() -> None:
    """Run this layer."""
    main_of(MM_FILESET)


if __name__ == "__main__":
    main()
