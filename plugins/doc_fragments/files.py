# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The option `files` of modules, which core/file_entry.py parses, and what goes with files of the site."""


class ModuleDocFragment:
    """FILES_ARGUMENT, DAEMON_FILES_ARGUMENT and STAGED_FILES_ARGUMENT, and the options of takeovers."""

    DOCUMENTATION: str = r"""
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
        description: A change of this file needs no refresh, because the daemon reads it at each use or never.
        type: bool
        default: false
"""

    DAEMON: str = (
        DOCUMENTATION
        + r"""
      once:
        description: A directory that exists keeps its owner and permissions.
        type: bool
        default: false
"""
    )

    STAGED: str = (
        DAEMON
        + r"""
      at_start:
        description: The daemon reads this file only when it starts, so a change restarts it.
        type: bool
        default: false
"""
    )

    TAKEN_OVER: str = r"""
options:
  may_drop:
    description:
      - Consent. Lines of files that Drawbridge has not written may vanish or lose their value. The error without it
        lists these lines, each with the key of the intent that keeps it.
    type: bool
    default: false
  variables:
    description: Variables that set this module's options, by option, for error messages.
    type: dict
    default: {}
"""
