# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of the role whose task looks them up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError


def role_path(variables: Any, name: str) -> Path:
    """The path of a file or folder in the folder `files` of the task's role. Raises AnsibleError."""
    role = variables.get("role_path")
    found = Path(role or ".", "files", name)
    if not role or not found.exists():
        raise AnsibleError(f"{role or 'this task, which belongs to no role,'} has no file files/{name}")
    return found


def role_text(variables: Any, name: str) -> str:
    """The text of such a file. Raises AnsibleError."""
    return role_path(variables, name).read_text()
