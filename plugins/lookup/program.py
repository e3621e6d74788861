# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Read the Python files of a program that a role installs."""

from __future__ import annotations

DOCUMENTATION = r"""
name: program
short_description: Read the Python files of a program that a role installs
version_added: 0.1.0
author: Drawbridge contributors (@drawbridge)
description:
  - Reads the files C(*.py) of folders in the role's folder C(files).
  - With O(imports), reads the modules of Drawbridge that one program imports, and their own imports.
options:
  _terms:
    description: Names of folders, or with O(imports) the name of one program in the role's folder C(files).
    required: true
    type: list
    elements: str
  imports:
    description: Whether to read what the program imports.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Install a program
  drawbridge.drawbridge.host_files:
    name: drawbridge-run
    directory: /usr/local/lib/drawbridge-run/drawbridge
    program: "{{ lookup('drawbridge.drawbridge.program', 'gate', 'run') }}"
"""

RETURN = r"""
_raw:
  description:
    - The texts by path, as one element. Paths begin with the name of the folder, unless there is one folder only.
    - With O(imports), paths are those below Drawbridge's C(module_utils/drawbridge).
  type: list
  elements: dict
"""

from typing import Any

from ansible.plugins.lookup import LookupBase

from ..module_utils.drawbridge.site.visit_source_io import source
from ..plugin_utils.program_imports import imported
from ..plugin_utils.role_texts import role_path, role_text


class LookupModule(LookupBase):
    """Finds files of the role that looks up."""

    def run(self, terms: list[Any], variables: Any = None, **kwargs: Any) -> Any:
        """The program's texts. Raises AnsibleError for a file that the role lacks."""
        self.set_options(var_options=variables, direct=kwargs)
        names = [str(term) for term in terms]
        if self.get_option("imports"):
            return [imported("".join(role_text(variables, name) for name in names), source)]
        folders = [role_path(variables, name) for name in names]
        files = [path for folder in folders for path in sorted(folder.glob("*.py"))]
        return [
            {path.name if len(folders) == 1 else f"{path.parent.name}/{path.name}": path.read_text() for path in files}
        ]
