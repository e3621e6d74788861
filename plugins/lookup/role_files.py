# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Read the texts of files that a role places."""

from __future__ import annotations

DOCUMENTATION = r"""
name: role_files
short_description: Put the texts of a role's files into a list of files for a host
version_added: 0.1.0
author: Drawbridge contributors (@drawbridge)
description:
  - Takes files as the option C(files) of M(drawbridge.drawbridge.host_files) has them. An entry may name a C(source) in
    place of C(content), which is a file in the role's folder C(files).
  - With C(run_by), the text begins with a line that starts this program, such as C(/usr/bin/python3 -I).
options:
  _terms:
    description: One list of files.
    required: true
    type: list
    elements: list
"""

EXAMPLES = r"""
- name: Install a unit and the program that it starts
  drawbridge.drawbridge.host_files:
    name: boot program
    directory: /usr/local/sbin
    files: "{{ lookup('drawbridge.drawbridge.role_files', __example_files) }}"
  vars:
    __example_files:
      - {path: /usr/local/sbin/at-boot, source: at-boot.py, run_by: /usr/bin/python3 -I, mode: "0755"}
      - {path: /etc/systemd/system/at-boot.service, source: at-boot.service}
"""

RETURN = r"""
_raw:
  description: The list, with C(content) in place of C(source) and C(run_by), as one element.
  type: list
  elements: list
"""

from typing import Any

from ansible.plugins.lookup import LookupBase

from ..plugin_utils.play_tasks import plain
from ..plugin_utils.role_texts import role_text


class LookupModule(LookupBase):
    """Reads each source once."""

    def run(self, terms: list[Any], variables: Any = None, **kwargs: Any) -> Any:
        """The list of files. Raises AnsibleError for a source that the role lacks."""
        [files] = terms
        return [[self._entry(plain(file), variables) for file in files]]

    def _entry(self, file: dict[str, Any], variables: Any) -> dict[str, Any]:
        if "source" not in file:
            return file
        line = f"#!{file['run_by']}\n" if "run_by" in file else ""
        kept = {key: value for key, value in file.items() if key not in ("source", "run_by")}
        return {**kept, "content": line + role_text(variables, file["source"])}
