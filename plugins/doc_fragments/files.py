# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The option by which modules take files that they keep on a host: core/file_entry.py parses it."""


class ModuleDocFragment:
    """FILES_ARGUMENT, and in `STAGED` the one whose daemon tells a start from a reconfiguration."""

    DOCUMENTATION = r"""
options:
  files:
    description: Files and directories, written in this order.
    type: list
    elements: dict
    default: []
    suboptions:
      path:
        description: Absolute path.
        type: path
        required: true
      content:
        description: Text of the file. Without it, the path is a directory.
        type: str
      mode:
        description: Permissions, four octal digits in quotes.
        type: str
        default: "0644"
      owner:
        description: Name of the owner.
        type: str
        default: root
      group:
        description: Name of the group.
        type: str
        default: root
      passive:
        description: A change of this file asks nothing of a daemon, which reads it anew each time or not at all.
        type: bool
        default: false
"""

    STAGED = (
        DOCUMENTATION
        + r"""
      at_start:
        description: The daemon reads this file only when it starts, so a change restarts it.
        type: bool
        default: false
"""
    )
