# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Modules as Ansible ships them: one archive each, with all that the module imports, run by a node's Python.

Each gets nothing but an option that no module has. The refusal comes from the module itself: after all its imports,
before it looks at the machine.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from tests.collection.installed import NAME, run
from tests.conformance.tree import ACTIONS, MODULES

UNKNOWN_OPTION = "no_such_option"


NODE_MODULES = sorted({path.stem for path in MODULES} - {path.stem for path in ACTIONS})
"""Modules that run on hosts; the others are pages of action plugins."""


def refusing_python(
    names: list[str], directory: Path, environment: dict[str, str], interpreter: Path
) -> tuple[int, int]:
    """Have modules refuse on this machine, run by `interpreter`; return the version of the Python that ran."""
    tasks: list[dict[str, Any]] = [{"ansible.builtin.setup": {"gather_subset": ["!all", "!min", "python"]}}]
    tasks += [{f"{NAME}.{name}": {UNKNOWN_OPTION: 1}, "ignore_errors": True} for name in names]
    play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": tasks}
    playbook = directory / "payloads.yml"
    playbook.write_text(yaml.safe_dump([play], sort_keys=False))
    argv = ["ansible-playbook", "-i", "localhost,", "-e", f"ansible_python_interpreter={interpreter}", str(playbook)]
    settings = {"ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json", "ANSIBLE_PIPELINING": "1"}
    done = run(argv, directory, environment | settings)
    assert done.code == 0, done.text
    results = [task["hosts"]["localhost"] for task in json.loads(done.out)["plays"][0]["tasks"]]
    facts, *refusals = results
    for name, refusal in zip(names, refusals, strict=True):
        told = refusal.get("msg", "")
        assert told.startswith(("missing required arguments: ", f"Unsupported parameters for ({NAME}.{name})")), refusal
    version = facts["ansible_facts"]["ansible_python"]["version"]
    return version["major"], version["minor"]
