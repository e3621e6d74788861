# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""All that Drawbridge uses of Ansible's objects and that Ansible does not offer as a public name.

Each function says why there is no public way. releases.py holds what releases name differently.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ansible import constants
from ansible.vars.plugins import get_vars_from_inventory_sources
from jinja2 import FileSystemBytecodeCache


def role_of(task: Any) -> Any:
    """The role that a task belongs to, or None. Tasks publish names and variables of their role, but not the role."""
    return task._role


def role_path(role: Any) -> Path:
    """The folder of a role. Only templates see it under a public name, role_path."""
    return Path(role._role_path)


def inventory_of(manager: Any) -> Any:
    """The inventory behind a variable manager, or None. Plugins get no other reference to it."""
    return getattr(manager, "_inventory", None)


def inventory_sources(inventory: Any) -> list[str]:
    """The paths and host lists that the inventory was read from. The public variable names the files alone."""
    return list(inventory._sources)


def inventory_files_vars(loader: Any, inventory: Any, entities: Iterable[Any]) -> dict[str, Any]:
    """Variables of files beside the inventory, for these hosts or groups. Hosts and groups do not hold them."""
    return get_vars_from_inventory_sources(loader, inventory._sources, list(entities), "task")


def playbook_file(playbook: Any) -> Path:
    """The path of a playbook. Ansible's own callbacks read it there too."""
    return Path(playbook._file_name)


def engine(templar: Any) -> Any:
    """What a task evaluates its keywords and arguments with. Since 2.19 that is not the public Templar itself."""
    return getattr(templar, "_engine", templar)


def compile_once(templar: Any) -> None:
    """Let a templar compile equal texts once. Most of what evaluation costs is Jinja's compiler.

    Jinja caches templates that a loader reads, but no texts. The cache holds a text's code, which runs for each value.
    Visits of other hosts find the code in the run's own temporary folder, beside the modules that Ansible keeps there.
    Before 2.19 Jinja's optimizer puts values into code, so there each visit compiles for itself.
    """
    environment = engine(templar).environment
    environment.__class__ = _compiling_once(type(environment))


@functools.cache
def _compiling_once(base: Any) -> Any:
    settings: Any = constants
    kept = FileSystemBytecodeCache(settings.DEFAULT_LOCAL_TMP, "drawbridge_template_%s")

    class Environment(base):
        def compile(self, source: Any, *given: Any, **named: Any) -> Any:
            # other delimiters make other code of the same text, and so do backslashes where Ansible escapes them
            if given or named or self.overlayed or not isinstance(source, str) or "\\" in source:
                return super().compile(source, *given, **named)
            known = self.__dict__.setdefault("_known_code", {})
            if str(source) not in known:
                known[str(source)] = super().compile(source) if self.optimized else self._compiled_in_this_run(source)
            return known[str(source)]

        def _compiled_in_this_run(self, source: str) -> Any:
            bucket = kept.get_bucket(self, str(source), None, source)
            if bucket.code is None:
                bucket.code = super().compile(source)
                kept.set_bucket(bucket)
            return bucket.code

        def compile_expression(self, source: str, *given: Any, **named: Any) -> Any:
            if given not in ((), (False,)) or named or self.overlayed or "\\" in source:
                return super().compile_expression(source, *given, **named)
            known = self.__dict__.setdefault("_known_expressions", {})
            if (str(source), given) not in known:
                known[str(source), given] = super().compile_expression(source, *given)
            return known[str(source), given]

    return Environment
