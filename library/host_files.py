#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A program's files on a host."""

DOCUMENTATION = r"""
module: host_files
short_description: Install a program of several files
version_added: 0.1.0
description:
  - Writes a program and the files that belong to it, each of them at once or not at all, in the order given.
  - Nothing is restarted, since no daemon reads them.
author: Drawbridge contributors
extends_documentation_fragment: [drawbridge.drawbridge.files]
options:
  name:
    description: What the diff calls them.
    type: str
    required: true
  program:
    description: Text of the program's files, by path below O(directory).
    type: dict
    default: {}
  directory:
    description: Where the program goes.
    type: path
    required: true
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
  description: What was done, or would be.
  returned: always
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.core.file_entry import FILES_ARGUMENT, Entry, entries
from ..module_utils.drawbridge.core.host_files.io import HostFiles
from ..module_utils.drawbridge.core.host_files.plan import FilesState, plan
from ..module_utils.drawbridge.core.module import finish

ARGUMENT_SPEC = {
    "name": {"type": "str", "required": True},
    "program": {"type": "dict", "default": {}},
    "directory": {"type": "path", "required": True},
    "files": FILES_ARGUMENT,
}


def main() -> None:
    """Converge the files."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    params = module.params
    program = {f"{params['directory']}/{name}": Entry(text) for name, text in params["program"].items()}
    want = FilesState({**program, **entries(params["files"])[0]})
    finish(module, HostFiles(params["name"], want), plan, want)


if __name__ == "__main__":
    main()
