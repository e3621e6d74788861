#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of a program on a host."""

DOCUMENTATION = r"""
module: host_files
short_description: Install a program of several files
version_added: 0.1.0
description:
  - Writes a program and its other files in the given order. Each file is replaced atomically.
  - Restarts nothing, because no daemon reads these files.
author: Drawbridge contributors
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
  description: Steps that were done, or would be done in check mode.
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
