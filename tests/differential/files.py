# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The folder with inventory, roles and playbook that both runs read."""

from __future__ import annotations

import getpass
import grp
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.collection.installed import NAME
from tests.differential.table import HERE, dumped

LOOKED_UP: Mapping[str, str] = {
    "files/own.txt": "own text of a role\nits second line\n",
    "files/braces.txt": "{{ MTU }} of a file\n",
    "files/number.txt": "007\n",
    "templates/own.j2": "{% for rail in rails %}\n{{ rail }} {{ Speed }} \\1\n{% endfor %}\n{{ chain_first }}\n\n",
    "templates/undefined.j2": "{{ nowhere }}\n",
}
"""Files of each role, for lookups."""


@dataclass(frozen=True)
class Site:
    """The folder. Both runs write elsewhere, below the folder in the environment variable INTO."""

    folder: Path

    def write(self, name: str, content: Any) -> None:
        """Write a file; any value but a text becomes YAML."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else dumped(content))

    def role(self, name: str, tasks: Sequence[Mapping[str, Any]]) -> None:
        """Write a role with these tasks, some variables and the files that cases look up."""
        home = f"roles/{name}"
        self.write(f"{home}/tasks/main.yml", list(tasks))
        own = {"place_default": "{{ Speed }} by default", "Place_Of_Host": "{{ inventory_hostname }} by default"}
        self.write(f"{home}/defaults/main.yml", own)
        self.write(f"{home}/vars/main.yml", {"__place_variable": "{{ MTU }} of {{ role_name }}"})
        for path, text in LOOKED_UP.items():
            self.write(f"{home}/{path}", text)

    def begin(self) -> None:
        """Write the inventory with the variables of values/."""
        self.write("hosts.yml", {"all": {"children": {"nodes": {"hosts": {"one": None, "two": None}}}}})
        self.write("vault-password", "differential\n")
        self.write("more.yml", {"Speed": "of a file, {{ MTU }}"})
        own = {
            "into": "{{ lookup('env', 'INTO') }}",
            "me": getpass.getuser(),
            "my_group": grp.getgrgid(os.getgid()).gr_name,
        }
        self.write("group_vars/all/own.yml", own)
        for target, name in {"group_vars/all": "all", "host_vars/one": "one", "host_vars/two": "two"}.items():
            (self.folder / target).mkdir(parents=True, exist_ok=True)
            shutil.copy(HERE / f"values/{name}.yml", self.folder / target / "values.yml")


def visit_task() -> dict[str, Any]:
    """The visit that runs the layers of its play."""
    # each play's own, as if it were the only one of its host
    record = "{{ lookup('ansible.builtin.env', 'INTO') }}/.record/{{ inventory_hostname }}/{{ ansible_play_name }}"
    return {"name": "Visit", f"{NAME}.node_visit": {"record": record}, "tags": ["visit"]}


def layer_task(name: str, contents: Mapping[str, Any], **options: Any) -> dict[str, Any]:
    """A layer that writes these contents below the folder of its host."""
    files = [entry(f"{{{{ into }}}}/{{{{ inventory_hostname }}}}/{path}", text) for path, text in contents.items()]
    return {"name": name, f"{NAME}.host_files": {"name": "case", "directory": "{{ into }}", "files": files}, **options}


def entry(path: str, content: Any, **options: Any) -> dict[str, Any]:
    """An entry of the option `files`, for the user that runs the test."""
    return {"path": path, "content": content, "owner": "{{ me }}", "group": "{{ my_group }}", **options}
