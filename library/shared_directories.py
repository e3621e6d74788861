#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Directories on shared file systems, with their owners and modes."""

DOCUMENTATION = r"""
module: shared_directories
short_description: Make directories on shared file systems, and keep their owner, group and mode
version_added: 0.2.0
description:
  - Makes missing directories, and sets owner, group and mode of the directory itself. It never changes its content,
    and never removes a directory.
  - Missing folders between the mount point and a directory become root's, with the mode C(0755). One that others may
    write is refused, because they could replace a directory in it.
  - A closed directory belongs to root with the mode C(0500). It opens again with its own owner and mode.
  - It fails if a file system is not mounted. A user or a group that the host does not know makes its directory wait.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.intent.shared_directories]
attributes:
  check_mode:
    description: Predicts the steps of the next run, refusals included.
    support: full
  diff_mode:
    description: One line for each directory, with owner, group and mode.
    support: full
"""

EXAMPLES = r"""
- name: Give a project its directory
  drawbridge.drawbridge.shared_directories:
    directories:
      - {path: /data/projects/vision, mount: /data, group: vision}

- name: Close the directory of a project that has ended
  drawbridge.drawbridge.shared_directories:
    directories:
      - {path: /data/projects/vision, mount: /data, group: vision, closed: true}
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
from ..module_utils.drawbridge.storage.directories.layer import SHARED_DIRECTORIES


def main() -> None:
    """Run this layer."""
    main_of(SHARED_DIRECTORIES)


if __name__ == "__main__":
    main()
