# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Lookups of simple templates, which find what Ansible's own plugins would. All others raise Unknown."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError

from .direct_filters import refuse

AS_IT_IS = {"rstrip": False}
Variables = Mapping[str, Any]


def lookup(loader: Any, variables: Variables, plugin: Any, *names: Any, **options: Any) -> str:
    """The text of a file, or of a variable of the environment that has a default."""
    name = names[0] if len(names) == 1 and isinstance(names[0], str) else refuse()
    default = options.get("default")
    if plugin == "ansible.builtin.env" and len(options) == 1 and isinstance(default, str):
        return os.environ.get(name, default)
    return _text(loader, variables, name) if plugin == "ansible.builtin.file" and options == AS_IT_IS else refuse()


def query(loader: Any, variables: Variables, plugin: Any, *names: Any, **options: Any) -> list[str]:
    """Texts of files, or the names for patterns with absolute paths."""
    if plugin == "ansible.builtin.file" and options == AS_IT_IS:
        return [_text(loader, variables, name) for name in names]
    if plugin != "ansible.builtin.fileglob" or options:
        refuse()
    return [found for name in names for found in _names(name)]


def _text(loader: Any, variables: Variables, name: Any) -> str:
    try:
        found = loader.path_dwim_relative_stack(variables["ansible_search_path"], "files", name)
        return str(loader.get_text_file_contents(found))
    except AnsibleError:
        return refuse()


def _names(pattern: Any) -> list[str]:
    """Ansible looks for other patterns in several folders. `*` stands for no hidden file."""
    place = Path(pattern) if isinstance(pattern, str) and "**" not in pattern else refuse()
    if not place.is_absolute() or not place.parent.is_dir() or place.name.startswith("."):
        refuse()
    return [str(found) for found in place.parent.glob(place.name) if found.is_file() and found.name[0] != "."]


LOOKUPS: Mapping[str, Callable[..., Any]] = {"lookup": lookup, "query": query}
