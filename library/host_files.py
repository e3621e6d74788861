#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of a program on a host."""

DOCUMENTATION = r"""
module: host_files
short_description: Install a program of several files, and blocks in files of the site
version_added: 0.1.0
description:
  - Writes a program and its other files in the given order. Each file is replaced atomically.
  - Restarts nothing, because no daemon reads these files. After a change below C(/etc/systemd/system) systemd reads its
    unit files again.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.files]
options:
  name:
    description: Name in the diff.
    type: str
    required: true
  program:
    description: Text of the program's files, by path below O(directory).
    type: dict
    default: {}
  directory:
    description: Folder of the program.
    type: path
    required: true
  makes:
    description: Files that the program makes. They are removed together with the program.
    type: list
    elements: str
    default: []
  blocks:
    description: Lines in files whose other lines are the site's, between C(# BEGIN drawbridge) and C(# END drawbridge).
    type: list
    elements: dict
    default: []
    suboptions:
      path:
        description: Absolute path of the file.
        type: path
        required: true
      content:
        description: The lines, each with its end.
        type: str
        required: true
      mode:
        description: Permissions of the file, four octal digits in quotes.
        type: str
        default: "0644"
attributes:
  check_mode:
    description: Predicts exactly.
    support: full
  diff_mode:
    description: Shows the files.
    support: full
"""

EXAMPLES = r"""
- name: Install a program
  drawbridge.drawbridge.host_files:
    name: drawbridge-run
    directory: /usr/local/lib/drawbridge-run
    program: {run/__main__.py: "{{ lookup('ansible.builtin.file', 'run/__main__.py', rstrip=false) }}"}
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

from ..module_utils.drawbridge.core.host_files.layer import HOST_FILES
from ..module_utils.drawbridge.core.module import main_of


def main() -> None:
    """Run this layer."""
    main_of(HOST_FILES)


if __name__ == "__main__":
    main()
